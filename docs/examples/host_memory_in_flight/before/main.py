import cupy as cp
import cupyx

cp.cuda.set_allocator(None)


def main():
    result = cupyx.empty_pinned(1024)
    x = cp.arange(1024.0)
    x.get(out=result, blocking=False)
    del x
    print(result.sum())


main()
