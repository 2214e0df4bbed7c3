import cupy as cp

cp.cuda.set_allocator(None)


def main():
    try:
        grid = cp.zeros(1 << 34)
    except cp.cuda.runtime.CUDARuntimeError:
        grid = cp.zeros(1 << 20)
    print(grid.size)


main()
