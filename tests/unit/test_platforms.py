"""What Windows lacks of Python is asked for only where it is needed: everything can be imported, and `check` works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cudafix.cli import commands
from cudafix.cli import main as cli

ROOT = Path(__file__).parents[2]
CASE = ROOT / "fixtures" / "stream_ordered_pairs" / "pinned_result_is_read_after_the_free" / "before"

# https://docs.python.org/3/library/: "Availability: Unix" or "not Windows"
WITHOUT = '''
import builtins, importlib, os, pkgutil, signal, sys, types

MODULES = {"curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
NAMES = {
    "os": """chown fchmod fchown fork forkpty getegid geteuid getgid getpgid getuid killpg lchown mkfifo nice
        sched_getaffinity setpgid setsid sysconf uname wait waitid wait4 EX_OK O_CLOEXEC O_DIRECTORY O_NOFOLLOW
        O_NONBLOCK P_PID WEXITED WIFEXITED WNOHANG WNOWAIT WTERMSIG""".split(),
    "signal": """SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 alarm pause
        pthread_kill pthread_sigmask setitimer sigpending sigwait""".split(),
}
less = {}
for name, missing in NAMES.items():
    module = sys.modules[name]
    less[name] = types.ModuleType(name)
    less[name].__dict__.update({k: v for k, v in vars(module).items() if k not in missing})
real = builtins.__import__

def lacking(name, globals=None, locals=None, fromlist=(), level=0):
    """Only cudafix lacks them: the libraries are those of this system."""
    if (globals or {}).get("__name__", "").partition(".")[0] == "cudafix" and not level:
        if name.partition(".")[0] in MODULES:
            raise ImportError(f"no module {name} on this system")
        if name in less:
            return less[name]
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = lacking
import cudafix
for module in pkgutil.walk_packages(cudafix.__path__, "cudafix."):
    importlib.import_module(module.name)
from cudafix.cli.main import main
main(["check", "--jobs", "1", "--no-cache"])
'''


def test_every_module_can_be_imported_without_what_windows_lacks_and_check_works() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], cwd=CASE, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "1 allocation site: 1 can be rewritten" in run.stdout


def test_verify_says_where_it_works(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(commands, "sys", SimpleNamespace(**vars(sys) | {"platform": "win32"}))
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", str(CASE)])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "cudafix: `verify` works on Linux and macOS; on Windows, use it in WSL\n"
