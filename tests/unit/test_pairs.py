"""Which pairs live in one function, whether they move or not."""

from __future__ import annotations

import pytest

from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config

KERNEL = "__global__ void k(float *p) { *p = 1; }\n"


def lines(code: str) -> list[int]:
    """The lines of the `cudaMalloc` calls whose pair lives in one function."""
    data = (KERNEL + code).encode()
    report = analyze({"a.cu": data}, Config())
    return sorted(data.count(b"\n", 0, offset) for _, offset in report.in_one_function)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("int main() { float *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaFree(p); }", [1], id="rewritten"),
        pytest.param("int main() { float *p; cudaMalloc(&p, 4); h(p); cudaFree(p); }", [1], id="refused"),
        pytest.param("int main() { float *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); }", [], id="never freed"),
        pytest.param(
            "void drop(float *p) { cudaFree(p); }\n"
            "int main() { float *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); drop(p); }",
            [],
            id="freed by a callee",
        ),
        pytest.param(
            "void drop(float *p) { cudaFree(p); }\n"
            "int main(int n, char **) {\n"
            "  float *p, *q; cudaMalloc(&p, 4);\n"
            "  cudaMalloc(&q, 4); cudaFree(q);\n"
            "  if (n) { drop(p); return 1; }\n"
            "  cudaFree(p); }",
            [4],
            id="freed by a callee too",
        ),
        pytest.param(
            "int main() { float *p; cudaMalloc(&p, 4); auto drop = [&] { cudaFree(p); }; k<<<1, 1>>>(p); drop(); }",
            [1],
            id="freed by a lambda",
        ),
        pytest.param(
            "float *make() { float *p; cudaMalloc(&p, 4); return p; }\nint main() { float *p = make(); cudaFree(p); }",
            [],
            id="freed by the caller",
        ),
        pytest.param(
            "struct S { float *p; };\nvoid f(S *s) { cudaMalloc(&s->p, 4); k<<<1, 1>>>(s->p); cudaFree(s->p); }",
            [2],
            id="stored out of sight",
        ),
        pytest.param(
            "static void f() { float *p[2];\n"
            "  for (int i = 0; i < 2; i++) cudaMalloc(&p[i], 4);\n"
            "  for (int j = 0; j < 2; j++) cudaFree(p[j]); }\n"
            "int main() {}",
            [2],
            id="reached by nothing",
        ),
    ],
)
def test_pairs_in_one_function(code: str, expected: list[int]) -> None:
    assert lines(code) == expected
