import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.tools import DeviceMemoryPool


def main():
    pool = DeviceMemoryPool()
    for n in range(1, 100):
        host = np.arange(1024 * n)
        block = pool.allocate(host.nbytes)
        cuda.memcpy_htod(block, host)
        block.free()


main()
