"""TensorRT's execution contexts, which no test machine has: what moves, and which rewrites the proof rejects."""

from __future__ import annotations

import textwrap

import pytest

from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config
from tests.fixtures import rewritten

PROGRAM = """\
import numpy as np
import tensorrt as trt
from cuda.bindings import driver, runtime as cudart

def main(data):
    host = np.empty(16, dtype=np.float32)
    stream = cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking)[1]
    context = trt.Runtime(trt.Logger()).deserialize_cuda_engine(data).create_execution_context()
    for _ in range(3):
        block = cudart.cudaMalloc(64)[1]
{body}
        cudart.cudaFree(block)

if __name__ == "__main__":
    main(open("engine", "rb").read())
"""
READ = "cudart.cudaMemcpyAsync(host.ctypes.data, block, 64, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost, stream)\n"
WAIT = "cudart.cudaStreamSynchronize(stream)"
BLOCKING = "cudart.cudaMemcpy(host.ctypes.data, block, 64, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost)"


def program(body: str) -> dict[str, bytes]:
    text = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    return {"main.py": PROGRAM.format(body=text).encode()}


def moved(before: dict[str, bytes]) -> str:
    report = analyze(before, Config())
    assert [refusal.message for refusal in report.refusals] == []
    return rewritten(before, report)["main.py"].decode()


@pytest.mark.parametrize(
    "call",
    [
        "context.set_tensor_address('x', block)\ncontext.execute_async_v3(stream)",
        "context.set_tensor_address(memory=int(block), name='x')\ncontext.execute_async_v3(stream_handle=stream)",
        "context.execute_async_v2([int(block)], stream)",
        "context.execute_async_v2(stream_handle=stream, bindings=[int(block)])",
        "context.execute_async(1, bindings=[int(block)], stream_handle=stream)",
    ],
)
def test_work_is_on_the_stream_that_it_is_given(call: str) -> None:
    before = program(f"{call}\n{READ}{WAIT}")
    after = moved(before)
    assert "cudaMallocAsync(64, stream)" in after
    assert "cudaFreeAsync(block, stream)" in after
    assert after.count("Synchronize") == 1
    for good, bad in (
        ("cudaMallocAsync(64, stream)", "cudaMallocAsync(64, 0)"),  # the context's stream does not wait for it
        ("Malloc(64)[1]", "MallocAsync(64, stream)[1]\n        cudart.cudaFreeAsync(block, stream)"),
    ):
        text = after if good in after else before["main.py"].decode()
        assert good in text
        assert prove(before, {"main.py": text.replace(good, bad).encode()})


@pytest.mark.parametrize("call", ["context.execute_v2([int(block)])", "context.execute(1, [int(block)])"])
def test_work_that_is_waited_for_may_be_on_any_stream(call: str) -> None:
    before = program(f"{call}\n{BLOCKING}")
    after = moved(before)
    waits = "        cudart.cudaStreamSynchronize(0)\n"
    assert after.count(waits) == 1
    assert after.index(waits) < after.index("context.execute")
    assert prove(before, {"main.py": after.encode()}) == []
    assert prove(before, {"main.py": after.replace(waits, "").encode()})  # its stream does not wait for the allocation
    early = after.replace("        cudart.cudaFreeAsync(block, 0)\n", "").replace(
        "        context.execute", "        cudart.cudaFreeAsync(block, 0)\n        context.execute"
    )
    assert prove(before, {"main.py": early.encode()})


def test_the_wait_is_only_for_its_own_work() -> None:
    """What another stream does with the block is not over when `execute_v2` returns."""
    before = program(f"context.execute_v2([int(block)])\n{READ}")
    after = moved(before)
    assert "cudaFreeAsync(block, stream)" in after
    bad = after.replace("cudaFreeAsync(block, stream)", "cudaFreeAsync(block, 0)")
    assert prove(before, {"main.py": bad.encode()})


@pytest.mark.parametrize(
    "call", ["context.set_device_memory(block, 64)", "context.execute_async_v2(*[[int(block)], stream])"]
)
def test_what_is_not_described_keeps_the_buffer(call: str) -> None:
    assert [refusal.name for refusal in analyze(program(f"{call}\n{WAIT}"), Config()).refusals]


BUILD = """\
import numpy as np
import tensorrt as trt
from cuda.bindings import runtime as cudart

def main(data):
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network(1)
    config = builder.create_builder_config()
{more}
    x = network.add_input("x", trt.float32, (16,))
    network.mark_output(network.add_identity(x).get_output(0))
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    context = engine.create_execution_context()
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    buffer = {{}}
    for name in names:
        host = np.empty(engine.get_tensor_shape(name), dtype=trt.nptype(engine.get_tensor_dtype(name)))
        device = cudart.cudaMalloc(host.nbytes)[1]
        buffer[name] = [host, device, host.nbytes]
    for name in names:
        context.set_tensor_address(name, buffer[name][1])
    context.execute_async_v3(0)
    cudart.cudaMemcpy(buffer["y"][0].ctypes.data, buffer["y"][1], 64, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost)
    for _, device, _ in buffer.values():
        cudart.cudaFree(device)

if __name__ == "__main__":
    main(open("engine", "rb").read())
"""


def test_what_the_headers_of_tensorrt_say_needs_no_assumption() -> None:
    report = analyze({"main.py": BUILD.format(more="").encode()}, Config())
    assert [refusal.message for refusal in report.refusals] == []
    assert [finding.assumptions for finding in report.findings if finding.codemod == "python_stream_ordered_pairs"] == [
        ()
    ]


@pytest.mark.parametrize(
    "more",
    [
        "    config.int8_calibrator = make(x)",
        "    class Log(trt.ILogger):\n        def log(self, severity, text): cudart.cudaDeviceSynchronize()",
        "    builder.gpu_allocator = make(x)",
    ],
)
def test_code_that_tensorrt_calls_back_is_not_seen(more: str) -> None:
    report = analyze({"main.py": BUILD.format(more=more).encode()}, Config())
    assert [refusal.name for refusal in report.refusals] == ["unknown_call"]


LISTS = """\
import ctypes
from typing import List
import numpy as np
import tensorrt as trt
from cuda.bindings import driver, runtime as cudart

LOGGER = trt.Logger()

def check(result):
    status, rest = result[0], result[1:]
    if status != cudart.cudaError_t.cudaSuccess:
        raise RuntimeError(str(status))
    return rest[0] if len(rest) == 1 else rest

class Both:
    def __init__(self, size):
        raw = check(cudart.cudaMallocHost(size))
        self._host = np.ctypeslib.as_array(ctypes.cast(raw, ctypes.POINTER(ctypes.c_uint8)), (size,))
        self._device = check(cudart.cudaMalloc(size))
        self.size = size

    @property
    def host(self):
        return self._host

    @host.setter
    def host(self, data):
        np.copyto(self.host[: data.size], data.flat)

    @property
    def device(self):
        return self._device

    def free(self):
        check(cudart.cudaFree(self.device))
        check(cudart.cudaFreeHost(self.host.ctypes.data))

def engine_of(path):
    def build():
        with trt.Builder(LOGGER) as builder, builder.create_network(0) as network, trt.Runtime(LOGGER) as runtime:
            network.get_input(0).shape = [1, 16]
            return runtime.deserialize_cuda_engine(builder.build_serialized_network(network, None))
    if path:
        with open(path, "rb") as file, trt.Runtime(LOGGER) as runtime:
            return runtime.deserialize_cuda_engine(file.read())
    return build()

def allocate(engine):
    inputs, outputs, addresses = [], [], []
    stream = check(cudart.CREATE)
    for i in range(engine.num_io_tensors):
        name = engine.get_tensor_name(i)
        both = Both(trt.volume(engine.get_tensor_shape(name)))
        addresses.append(int(both.device))
        if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
            inputs.append(both)
        else:
            outputs.append(both)
    return inputs, outputs, addresses, stream

def run(context, engine, addresses, inputs, outputs, stream):
    def work():
        context.execute_async_v3(stream_handle=stream)
    for i in range(engine.num_io_tensors):
        context.set_tensor_address(engine.get_tensor_name(i), addresses[i])
    kind = cudart.cudaMemcpyKind.cudaMemcpyHostToDevice
    [check(cudart.cudaMemcpyAsync(one.device, one.host, one.size, kind, stream)) for one in inputs]
    work()
    kind = cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
    [check(cudart.cudaMemcpyAsync(one.host, one.device, one.size, kind, stream)) for one in outputs]
    WAIT
    return [one.host for one in outputs]

def release(inputs: List[Both], outputs: List[Both], stream):
    for one in inputs + outputs:
        one.free()
    check(cudart.cudaStreamDestroy(stream))

def main(data):
    with engine_of("x.engine") as engine, engine.create_execution_context() as context:
        inputs, outputs, addresses, stream = allocate(engine)
        inputs[0].host = data
        found = run(context, engine, addresses, inputs, outputs, stream)
        print(found[0])
    release(inputs, outputs, stream)

if __name__ == "__main__":
    main(np.zeros(16, dtype=np.uint8))
"""
CREATES = ("cudaStreamCreate()", "cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking)")


def lists(create: str, wait: str) -> dict[str, bytes]:
    return {"main.py": LISTS.replace("CREATE", create).replace("WAIT", wait).encode()}


def test_buffers_in_lists_of_objects_move() -> None:
    before = lists(CREATES[0], "check(cudart.cudaStreamSynchronize(stream))")
    after = moved(before)
    assert after.count("cudaMallocAsync(size, 0)") == after.count("cudaFreeAsync(self.device, 0)") == 1
    early = after.replace("check(cudart.cudaFreeAsync(self.device, 0))", "pass").replace(
        "    work()\n", "    [check(cudart.cudaFreeAsync(one.device, 0)) for one in inputs]\n    work()\n"
    )
    assert prove(before, {"main.py": early.encode()})


@pytest.mark.parametrize(
    ("create", "wait"), [(CREATES[1], "check(cudart.cudaStreamSynchronize(stream))"), *((c, "pass") for c in CREATES)]
)
def test_work_in_lists_that_nothing_waits_for_stays_or_is_waited_for(create: str, wait: str) -> None:
    """A stream that does not wait for the default one uses the memory, or the free is the wait for the copies."""
    report = analyze(before := lists(create, wait), Config())
    text = before["main.py"].decode()
    assert report.refusals or rewritten(before, report)["main.py"].decode().count("Synch") > text.count("Synch")
