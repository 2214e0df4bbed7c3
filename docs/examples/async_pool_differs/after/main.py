import cupy as cp

cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)


def main():
    try:
        grid = cp.zeros(1 << 34)
    except cp.cuda.memory.OutOfMemoryError:
        grid = cp.zeros(1 << 20)
    print(grid.size)


main()
