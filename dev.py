#!/usr/bin/env python3
"""Set up RecAssay beside this file and run one thing: needs Python 3.11 or newer and pip, nothing else.

python3 dev.py demo|test|lint|bench|docs [arguments passed on]

Makes `.venv` on first use, installs the project with what the command needs (again only when `pyproject.toml`
or the interpreter changed), and runs the command. pip reads its own settings (PIP_* variables, pip.conf) as usual.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

# command -> (extras it needs, command lines it runs)
COMMANDS: dict[str, tuple[str, list[list[str]]]] = {
    "demo": ("", [["-m", "recassay", "demo"]]),
    "test": ("dev", [["-m", "pytest"]]),
    "lint": (
        "dev",
        [
            ["-m", "ruff", "check", "."],
            ["-m", "ruff", "format", "--check", "."],
            ["-m", "mypy"],
            ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
        ],
    ),
    "bench": ("dev", [["benchmarks/run.py"]]),
    "docs": ("dev", [["docs/build.py"]]),
}


def fail(message: str) -> None:
    """End with one line on stderr and exit code 2."""
    print(f"dev.py: {message}", file=sys.stderr)
    raise SystemExit(2)


def make_venv() -> None:
    """Create `.venv`; without ensurepip (some Linux packages split it off) fall back on the pip of this Python."""
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True)
    if made.returncode == 0:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    bare = subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(VENV)], capture_output=True, text=True)
    if bare.returncode != 0:
        fail("this Python has no working venv module: install it (on Debian: python3-venv), then try again")


def pip_command() -> list[str]:
    """pip inside `.venv`, or the outer pip aimed at it."""
    if subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return [str(PYTHON), "-m", "pip"]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return [sys.executable, "-m", "pip", "--python", str(PYTHON)]
    fail("pip is missing: install it (python3 -m ensurepip, or your system's python3-pip), then try again")
    raise AssertionError


def wanted_stamp() -> str:
    """What the installation depends on: the interpreter and the project's declaration."""
    declared = hashlib.sha256((HERE / "pyproject.toml").read_bytes()).hexdigest()
    return f"{sys.version_info[:3]} {HERE} {declared}"


def install(extras: str) -> None:
    """Bring `.venv` up to date for these extras; a no-op of a few milliseconds when nothing changed."""
    stamp = VENV / f"recassay-{extras or 'plain'}.stamp"
    covered = [stamp] if extras else [stamp, VENV / "recassay-dev.stamp"]
    wanted = wanted_stamp()
    if PYTHON.exists() and any(s.exists() and s.read_text() == wanted for s in covered):
        return
    ours = "import sys; print(sys.version_info[:3])"
    same = PYTHON.exists() and subprocess.run(
        [str(PYTHON), "-c", ours], capture_output=True, text=True
    ).stdout.strip() == str(sys.version_info[:3])
    if not same:
        make_venv()
    for old in VENV.glob("recassay-*.stamp"):
        old.unlink()
    target = f"{HERE}[{extras}]" if extras else str(HERE)
    print("dev.py: installing RecAssay into .venv (once, or after pyproject.toml changed) ...", file=sys.stderr)
    done = subprocess.run(
        [*pip_command(), "install", "--quiet", "--disable-pip-version-check", "--editable", target],
        cwd=HERE,
    )
    if done.returncode != 0:
        fail("pip could not install the project; its message above says why")
    stamp.write_text(wanted)


def main(arguments: list[str]) -> int:
    """Install for, and run, the command named first; the rest goes to it."""
    if sys.version_info < (3, 11):
        fail(f"needs Python 3.11 or newer, and this is {sys.version.split()[0]}")
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(__doc__)
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        fail(f"there is no command {name!r}; there are: {', '.join(COMMANDS)}")
    extras, lines = COMMANDS[name]
    install(extras)
    for line in lines:
        code = subprocess.run([str(PYTHON), *line, *(rest if len(lines) == 1 else [])], cwd=HERE).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
