import os

os.environ["PYTORCH_ALLOC_CONF"] = "backend:cudaMallocAsync"

import torch


def main():
    for n in range(1, 100):
        x = torch.ones(1024 * n, device="cuda")
        print(x.sum())


main()
