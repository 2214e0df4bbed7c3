from cuda.bindings import runtime as cudart


def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) > 1 else None


class Block:
    def __init__(self):
        self.memory = check(cudart.cudaMalloc(4096))

    def clear(self):
        check(cudart.cudaMemset(self.memory, 0, 4096))

    def __del__(self):
        check(cudart.cudaFree(self.memory))


def main():
    block = Block()
    block.clear()


main()
