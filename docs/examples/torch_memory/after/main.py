import torch


def main():
    for n in range(1, 100):
        scratch = torch.empty(1024 * n, dtype=torch.uint8, device="cuda")
        del scratch


main()
