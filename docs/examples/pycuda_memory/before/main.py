import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda


def main():
    for n in range(1, 100):
        host = np.arange(1024 * n)
        block = cuda.mem_alloc(host.nbytes)
        cuda.memcpy_htod(block, host)
        block.free()


main()
