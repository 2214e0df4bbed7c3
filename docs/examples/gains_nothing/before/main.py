import numpy as np
from numba import cuda


@cuda.jit
def square(v):
    i = cuda.grid(1)
    if i < v.size:
        v[i] = v[i] * v[i]


def main():
    v = cuda.to_device(np.arange(1024))
    square[4, 256](v)
    print(v.copy_to_host().sum())


main()
