import ctypes

from cuda.bindings import runtime as cudart


def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) > 1 else None


def main():
    library = ctypes.CDLL("libsmooth.so")
    block = check(cudart.cudaMalloc(4096))
    library.smooth(ctypes.c_void_p(block), 1024, None)
    check(cudart.cudaFree(block))


main()
