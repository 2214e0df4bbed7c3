import asyncio

from cuda.bindings import runtime as cudart


def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) > 1 else None


async def work():
    block = check(cudart.cudaMalloc(4096))
    check(cudart.cudaMemset(block, 0, 4096))
    check(cudart.cudaFree(block))


asyncio.run(work())
