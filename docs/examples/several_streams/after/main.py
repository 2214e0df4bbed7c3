import cupy as cp

cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)


def main():
    stream = cp.cuda.Stream(non_blocking=True)
    for _ in range(3):
        with stream:
            x = cp.arange(1 << 20)
            y = x * x
        cp.cuda.Stream.null.wait_event(stream.record())
        print((y - x).sum())
        stream.wait_event(cp.cuda.Stream.null.record())
        del x, y


main()
