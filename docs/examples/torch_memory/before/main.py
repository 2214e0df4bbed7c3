import torch


def main():
    for n in range(1, 100):
        scratch = torch.cuda.caching_allocator_alloc(1024 * n)
        torch.cuda.caching_allocator_delete(scratch)


main()
