"""The machine that a plan is carried out on: its GPU, driver and CUDA tools."""

from __future__ import annotations

import datetime
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from cudafix.verify import nvcc
from cudafix.verify.process import Commands, Limits

_QUICK = Limits(seconds=120, output=2**20)
_PACKAGES = """
import platform, re
from importlib.metadata import distributions
wanted = re.compile("(cuda|cupy|numba|numpy|pycuda|rmm)([-_].*)?$")
found = {d.metadata["Name"]: d.version for d in distributions() if wanted.match(d.metadata["Name"] or "")}
print(", ".join([platform.python_version(), *(f"{name} {found[name]}" for name in sorted(found))]))
"""


@dataclass(frozen=True)
class Machine:
    """`gpu` is empty where none was found, `detector` where `compute-sanitizer` is missing, `python` where there is no
    `python3`: its version, and those of its packages for the GPU.

    `environment` lets builds find `nvcc`, and tells them the architecture of the GPU as `CUDAFIX_ARCH`.
    """

    gpu: str
    driver: str
    architecture: str
    cuda: str
    python: str
    detector: str
    environment: dict[str, str]

    def described(self) -> dict[str, str]:
        """For a record: what it ran on, and the date."""
        return {
            **{key: value for key, value in asdict(self).items() if key in ("gpu", "driver", "cuda", "python")},
            "date": datetime.date.today().isoformat(),
        }


def look(commands: Commands) -> Machine:
    """Ask `nvidia-smi` (through the launcher: the GPU may be on another host) and `nvcc`."""
    gpu = driver = architecture = ""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    try:
        seen = commands.run(query, Path.cwd(), _QUICK, launch=True)
    except OSError:
        seen = None
    if seen and seen.exit == 0:
        fields = [field.strip() for field in seen.stdout.decode(errors="replace").partition("\n")[0].split(",")]
        if len(fields) == 3 and re.fullmatch(r"\d+\.\d+", fields[2]):
            gpu, driver, architecture = fields[0], fields[1], "sm_" + fields[2].replace(".", "")
    compiler = nvcc.find()
    cuda, environment = "", {}
    if compiler:
        version = commands.run([str(compiler.path), "--version"], Path.cwd(), _QUICK).stdout.decode(errors="replace")
        release = re.search(r"release [\d.]+, V([\d.]+)", version)
        cuda = release.group(1) if release else "unknown"
        environment["PATH"] = os.pathsep.join((str(compiler.path.parent), os.environ.get("PATH", os.defpath)))
        if compiler.flags:  # nvcc reads more flags from here, behind those of the command line
            flags = (os.environ.get("NVCC_APPEND_FLAGS", ""), *compiler.flags)
            environment["NVCC_APPEND_FLAGS"] = " ".join(flags).strip()
    if architecture:
        environment["CUDAFIX_ARCH"] = architecture
    return Machine(gpu, driver, architecture, cuda, _python(commands), _tool("compute-sanitizer"), environment)


def _python(commands: Commands) -> str:
    """What `python3` is where programs run: they may be Python programs."""
    try:
        seen = commands.run(["python3", "-c", _PACKAGES], Path.cwd(), _QUICK, launch=True)
    except OSError:
        return ""
    return seen.stdout.decode(errors="replace").strip() if seen.exit == 0 else ""


def _tool(name: str) -> str:
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [f"{home}/{folder}" for home in homes if home for folder in ("bin", "compute-sanitizer")]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places)) or ""
