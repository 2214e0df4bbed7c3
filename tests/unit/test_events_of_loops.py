"""An event that a wait in a loop needs is made once, in front of the loop."""

from __future__ import annotations

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply

PROGRAM = """
#include <cuda_runtime.h>
{top}
__global__ void k(float *p) {{ p[0] = 1; }}
void run(int n, cudaStream_t s, cudaStream_t t) {{
    float *d, *e;
    {body}
    end:
    cudaDeviceSynchronize();
}}
int main(int n, char **argv) {{
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    run(n, s, t);
    return 0;
}}
"""
PARTS = {
    "@R": "@U @E cudaFree(d);",
    "@U": "cudaMalloc(&d, 4); k<<<1, 1, 0, s>>>(d); cudaStreamSynchronize(s); "
    "k<<<1, 1, 0, t>>>(d); k<<<1, 1, 0, s>>>(d);",
}
WORDS = {
    "@M": "cudaEvent_t done; cudaEventCreateWithFlags(&done, cudaEventDisableTiming);",
    "@E": "cudaEventRecord(done, t); cudaStreamWaitEvent(s, done, 0);",
    "@D": "cudaEventDestroy(done);",
}

# @R stands for a round, @U for one without its free; an event is made at `@M`, waited for at `@E`, destroyed at `@D`
CASES = {
    "a for": "@M for (int i = 0; i < n; i++) { @R } @D",
    "a while": "@M while (n--) { @R } @D",
    "a do": "@M do { @R } while (n--); @D",
    "in front of both": "@M for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { @R } } @D",
    "loops without braces": "@M for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) { @R }\n    @D",
    "with a break": "@M for (int i = 0; i < n; i++) { @R if (i == 7) break; } @D",
    "with a continue": "@M for (int i = 0; i < n; i++) { if (i == 7) continue; @R } @D",
    # something leaves the loop without passing the place behind it
    "a return": "for (int i = 0; i < n; i++) { @U { @M @E @D } cudaFree(d); if (i == 7) return; }",
    "a goto": "for (int i = 0; i < n; i++) { @U { @M @E @D } cudaFree(d); if (i == 7) goto end; }",
    # there is no place in front of it
    "a branch without braces": "if (n > 1) for (int i = 0; i < n; i++) { @U { @M @E @D } cudaFree(d); }",
}  # fmt: skip


def migrated(text: str) -> str:
    report = driver.analyze({"main.cu": text.encode()}, Config(default_stream="legacy"))
    assert not report.refusals
    return apply(text.encode(), [edit for finding in report.findings for edit in finding.edits]).decode()


def in_run(text: str) -> str:
    return "".join(text[text.index("void run(") : text.index("int main")].replace("keep_pool_memory();", "").split())


def program(body: str, words: dict[str, str], top: str = "") -> str:
    for word, text in (PARTS | words).items():
        body = body.replace(word, text)
    return PROGRAM.format(top=top, body=body)


def before(body: str) -> str:
    return program(body.replace("{ @M @E @D }", ""), dict.fromkeys(WORDS, ""))


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
def test_it_is_made_where_it_can_be_destroyed_too(body: str) -> None:
    wanted = program(body, WORDS).replace("cudaMalloc(&d, 4)", "cudaMallocAsync(&d, 4, s)")
    assert in_run(migrated(before(body))) == in_run(wanted.replace("cudaFree(d)", "cudaFreeAsync(d, s)"))


@pytest.mark.parametrize(
    ("top", "name"),
    [("", "done"), ("int done;", "done_"), ("#define END() (done = 1)", "done_"), ('#include "no.h"', "work_is_done")],
    ids=["nothing has it", "a variable", "in a macro", "a header that is not there"],
)
def test_its_name_means_nothing_else_there(top: str, name: str) -> None:
    body = CASES["a for"]
    after = migrated(program(body, dict.fromkeys(WORDS, ""), top))
    assert f"cudaEvent_t {name};" in after
    assert f"cudaEventDestroy({name});" in after


def test_two_loops_have_two() -> None:
    after = migrated(before(CASES["a for"] + CASES["a while"]))
    assert [name for name in ("done", "done_", "done__") if f"cudaEvent_t {name};" in after] == ["done", "done_"]


def test_waits_of_one_loop_share_it() -> None:
    body = """for (int i = 0; i < n; i++) {
        @R
        cudaMalloc(&e, 4); k<<<1, 1, 0, s>>>(e); cudaStreamSynchronize(s);
        k<<<1, 1, 0, t>>>(e); k<<<1, 1, 0, s>>>(e); cudaFree(e); }"""
    after = in_run(migrated(before(body)))
    assert after.count("cudaStreamWaitEvent(") == 2
    assert after.count("cudaEventCreateWithFlags(&done,") == after.count("cudaEventDestroy(done)") == 1


def test_a_wait_behind_the_loop_shares_it() -> None:
    body = """cudaMalloc(&e, 4);
    for (int i = 0; i < n; i++) { @U k<<<1, 1, 0, t>>>(e); cudaFree(d); }
    cudaMemset(e, 0, 4); cudaFree(e);"""
    rounds, behind = in_run(migrated(before(body))).split("cudaFreeAsync(d,s);}")
    assert "cudaStreamWaitEvent(s,done,0);" in rounds
    assert behind.startswith("cudaEventRecord(done,t);cudaStreamWaitEvent(0,done,0);cudaEventDestroy(done);")


def test_it_is_not_made_on_another_device() -> None:
    """An event is of the device that is current where it is made (CUDA runtime API, `cudaEventRecord`)."""
    body = "for (int i = 0; i < n; i++) { cudaSetDevice(1); @U { @M @E @D } cudaFree(d); cudaSetDevice(0); }"
    there = "cudaSetDevice(1);\n    cudaStreamCreate", "cudaSetDevice(0);\n    run("
    text = before(body).replace("cudaStreamCreate", there[0], 1).replace("    run(", f"    {there[1]}", 1)
    front, _, rounds = in_run(migrated(text)).partition("for(")
    assert "cudaEventCreate" not in front
    assert "cudaEventCreate" in rounds


ENDS = "~Event() { cudaEventDestroy(e); } };"
MAKES = "struct Event { cudaEvent_t e; Event() { cudaEventCreate(&e); } " + ENDS
ROUNDS = "for (int i = 0; i < n; i++) { @U @E cudaFree(d); if (i == 7) return; }"


@pytest.mark.parametrize(
    ("top", "declared", "event"),
    [
        (MAKES, "Event done;", "done.e"),
        (
            "class Event { cudaEvent_t e; public: explicit Event(unsigned f = cudaEventDefault) {"
            " if (cudaEventCreateWithFlags(&e, f) != cudaSuccess) throw 1; } cudaEvent_t get() const { return e; } "
            + ENDS
            + " void mark(cudaStream_t s) { Event now; cudaEventRecord(now.get(), s); }",
            "Event done(cudaEventDisableTiming);",
            "done.get()",
        ),
    ],
    ids=["a member is public", "it takes flags, and has a getter"],
)
def test_it_is_an_object_where_the_file_has_a_class_for_that(top: str, declared: str, event: str) -> None:
    wanted = program(declared + ROUNDS, {"@E": WORDS["@E"].replace("done", event)}, top)
    wanted = wanted.replace("cudaMalloc(&d, 4)", "cudaMallocAsync(&d, 4, s)")
    after = migrated(program(ROUNDS, dict.fromkeys(WORDS, ""), top).replace("    end:\n", ""))
    assert in_run(after) == in_run(wanted.replace("cudaFree(d)", "cudaFreeAsync(d, s)").replace("    end:\n", ""))


@pytest.mark.parametrize(
    ("top", "label"),
    [
        (MAKES.replace("~Event() {", "~Event() { cudaEventSynchronize(e);"), ""),
        (MAKES.replace("cudaEvent_t e;", "Event(int); private: cudaEvent_t e; public:"), ""),
        (MAKES.replace("{ cudaEvent_t", "{ virtual void f() = 0; cudaEvent_t"), ""),
        (MAKES.replace("{ cudaEvent_t e;", "{ cudaEvent_t e; private:"), ""),
        (MAKES + " static int Event;", ""),
        (f"class Outer {{ {MAKES} }};", ""),
        (MAKES, "    end:\n"),
    ],
    ids=[
        "it waits at its end",
        "nobody may name its event",
        "it is abstract",
        "its constructor is private",
        "a variable hides it",
        "it is a private member of another class",
        "a jump may pass it",
    ],
)
def test_it_is_no_object_of_another_class(top: str, label: str) -> None:
    text = program(CASES["a for"], dict.fromkeys(WORDS, ""), top).replace("    end:\n", label)
    assert "cudaEvent_t done;" in migrated(text)
