from cuda.bindings import runtime as cudart
from cuda.bindings.runtime import cudaFree, cudaMalloc


def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) > 1 else None


def main():
    block = check(cudaMalloc(4096))
    check(cudart.cudaMemset(block, 0, 4096))
    check(cudaFree(block))


main()
