"""The machine that a plan is carried out on: its GPU, driver and CUDA tools."""

from __future__ import annotations

import datetime
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from cudafix import nvcc
from cudafix.verify.process import Commands, Limits

_QUICK = Limits(seconds=120, output=2**20)


@dataclass(frozen=True)
class Machine:
    """`gpu` is empty where none was found, `detector` where `compute-sanitizer` is missing.

    `environment` lets builds find `nvcc`, and tells them the architecture of the GPU as `CUDAFIX_ARCH`.
    """

    gpu: str
    driver: str
    architecture: str
    cuda: str
    detector: str
    environment: dict[str, str]

    def described(self) -> dict[str, str]:
        """For a record: what it ran on, and the date."""
        return {
            **{key: value for key, value in asdict(self).items() if key in ("gpu", "driver", "cuda")},
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
    return Machine(gpu, driver, architecture, cuda, _tool("compute-sanitizer"), environment)


def _tool(name: str) -> str:
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [f"{home}/{folder}" for home in homes if home for folder in ("bin", "compute-sanitizer")]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places)) or ""
