import cupy as cp


def start():
    cp.cuda.set_allocator(None)


def work():
    print(cp.arange(1024).sum())
