from cuda.bindings import runtime as cudart


def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) > 1 else None


class Block:
    def __str__(self):
        self.memory = check(cudart.cudaMalloc(4096))
        check(cudart.cudaMemset(self.memory, 0, 4096))
        check(cudart.cudaFree(self.memory))
        return "cleared"


def main():
    print(Block())


main()
