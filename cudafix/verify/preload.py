"""The library that makes hidden races show (`preload.cpp`), and the schedules that it is asked for."""

from __future__ import annotations

from pathlib import Path

from cudafix.verify.machine import Machine
from cudafix.verify.process import Commands, Limits

SOURCE = Path(__file__).with_name("preload.cpp")
SCHEDULES = ("0=0", "0=1", "1=0", "1=1")
"""Bit and value of the numbers of the streams that are late: each two of four streams are told apart by one of them."""
_LIMITS = Limits(seconds=300, output=2**20)


def build(folder: Path, machine: Machine, commands: Commands) -> tuple[Path | None, str]:
    """Compile the library into `folder` with the compiler that the programs are built with: where it is, or why not."""
    library = folder / "libcudafix_schedule.so"
    command = ["nvcc", "-shared", "-O2", "-std=c++17", "-Xcompiler", "-fPIC,-fvisibility=hidden", "-cudart", "none"]
    command = ["/usr/bin/env", f"PATH={machine.environment.get('PATH', '')}", *command]
    try:
        ran = commands.run([*command, "-o", str(library), str(SOURCE)], folder, _LIMITS)
    except OSError as error:
        return None, str(error)
    if ran.exit == 0:
        return library, ""
    return None, (ran.stderr + ran.stdout).decode(errors="replace").strip()[-500:] or "nvcc fails"


def late(library: Path, schedule: str, reached: Path) -> dict[str, str]:
    """The environment in which the streams of this schedule are late. `reached` is there afterwards if any could be."""
    return {"LD_PRELOAD": str(library), "CUDAFIX_DELAY": schedule, "CUDAFIX_REACHED": str(reached)}


def counting(library: Path, peak: Path) -> dict[str, str]:
    """The environment in which each process notes the most device memory that it had; `peak_at` sums that up."""
    return {"LD_PRELOAD": str(library), "CUDAFIX_PEAK": str(peak)}


def peak_at(peak: Path) -> int | None:
    """The bytes that the processes of a run had, each at its peak; None where none was seen to allocate."""
    noted = [file.read_text() for file in peak.parent.glob(f"{peak.name}.*")]
    return sum(map(int, noted)) if noted else None


def early(library: Path) -> dict[str, str]:
    """The environment in which blocking streams are created early, for the race detector."""
    return {"LD_PRELOAD": str(library), "CUDAFIX_EARLY": "1"}
