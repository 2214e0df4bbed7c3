import smoothing  # an extension module: built from the same library
from cuda.bindings import runtime as cudart


def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) > 1 else None


def main():
    block = check(cudart.cudaMalloc(4096))
    smoothing.smooth(block, 1024, 0)
    check(cudart.cudaFree(block))


main()
