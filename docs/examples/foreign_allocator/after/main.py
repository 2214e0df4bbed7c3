import cupy as cp


def main():
    cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)
    print(cp.ones(1024).sum())


main()
