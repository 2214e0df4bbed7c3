import torch


def main():
    for n in range(1, 100):
        x = torch.ones(1024 * n, device="cuda")
        print(x.sum())
        torch.cuda.empty_cache()


main()
