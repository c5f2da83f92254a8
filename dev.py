#!/usr/bin/env python3
"""Set up RecAssay beside this file and run one thing: needs Python 3.11 or newer and pip, nothing else.

python3 dev.py demo|check|test|lint|bench|docs|bounds|wheel|sbom|soak|consistency [arguments passed on]

  demo    the main job on embedded data, offline
  check   while you work: lint, then the quick tests, those that failed last time first
  test    the whole suite; arguments go to pytest; --rotate DATE: the quick tests, and long ones drawn by the date
  lint    ruff, mypy --strict, plain English, the import contracts
  bench   one of benchmarks/, or their list; benchmarks/README.md says which page each is for
  docs    the documentation as a site in site/; --pictures: run the demo and renew its pictures
  bounds  the quick tests with the lowest declared version of every dependency, in .venv-bounds
  wheel   the wheel of this version, in dist/
  sbom    the software bill of materials of this version (CycloneDX JSON); --out FILE
  soak    kills, chance, damage, full disks and clocks for --hours N, with one table at the end
  consistency  whether any two statements about one table contradict each other, on --tables N made by chance

Makes `.venv` on first use, installs the project with what the command needs (again only when `pyproject.toml`, the
version or the interpreter changed), and runs the command. On the Python that `constraints.txt` was made with, the
versions in it are installed, so that an installation can be repeated. pip reads its own settings (PIP_* variables,
pip.conf) as usual.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINT = [
    ["-m", "ruff", "check", "."],
    ["-m", "ruff", "format", "--check", "."],
    ["-m", "mypy"],
    ["-m", "pytest", "-q", "-n", "0", "tests/project/test_english.py"],
    ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
]
QUICK = ["-m", "pytest", "-m", "not slow", "--failed-first"]


@dataclass(frozen=True)
class Command:
    """Command lines for Python, run one after the other until one fails; the user's arguments go to the last."""

    lines: list[list[str]]
    extras: str = "dev"
    lowest: bool = False
    """Whether it runs in an environment of its own with the lowest declared versions."""


COMMANDS = {
    "demo": Command([["-m", "recassay", "demo"]], extras=""),
    "check": Command([*LINT, QUICK]),
    "test": Command([["-m", "pytest"]]),
    "lint": Command(LINT),
    "bench": Command([["benchmarks/run.py"]]),
    "docs": Command([["docs/build.py"]]),
    "bounds": Command([QUICK], extras="test", lowest=True),
    "wheel": Command([["-m", "hatchling", "build", "--target", "wheel"]]),
    "sbom": Command([["release/sbom.py"]], extras=""),
    "soak": Command([["benchmarks/soak.py"]]),
    "consistency": Command([["benchmarks/consistency.py"]]),
}


def fail(message: str) -> None:
    """End with one line on stderr and exit code 2."""
    print(f"dev.py: {message}", file=sys.stderr)
    raise SystemExit(2)


def lowest_versions(declared: str) -> list[str]:
    """From the text of pyproject.toml: every dependency, also of the extras, at its lower bound (`numpy==2.0`)."""
    import tomllib

    project = tomllib.loads(declared)["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    wanted = [one for one in wanted if not one.startswith(f"{project['name']}[")]
    lowest = {}
    pinned = [one for one in wanted if "==" in one.partition(";")[0]]
    fixed = {one.partition("==")[0].strip() for one in pinned}
    for requirement in wanted:
        if requirement in pinned or re.split(r"[<>=\[; ]", requirement.strip())[0] in fixed:
            continue  # tested in the version that is named
        bound = re.match(r"\s*([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\w.]+)", requirement)
        if bound is None:
            fail(f"pyproject.toml: {requirement!r} has no lower bound; write it as name>=version")
            raise AssertionError
        if lowest.setdefault(bound[1], bound[2]) != bound[2]:
            fail(f"pyproject.toml: {bound[1]} has two lower bounds, {lowest[bound[1]]} and {bound[2]}")
    return [f"{name}=={version}" for name, version in lowest.items()]


@dataclass(frozen=True)
class Environment:
    """A virtual environment beside this file."""

    folder: Path
    lowest: bool = False

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def install(self, extras: str) -> None:
        """Bring it up to date for these extras; a no-op of a few milliseconds when nothing changed."""
        stamp = self.folder / f"recassay-{extras or 'plain'}.stamp"
        covered = [stamp] if extras else [stamp, self.folder / "recassay-dev.stamp"]
        wanted = wanted_stamp()
        if self.python.exists() and any(s.exists() and s.read_text() == wanted for s in covered):
            return
        if not self._is_ours():
            self._make()
        for old in self.folder.glob("recassay-*.stamp"):
            old.unlink()
        target = f"{HERE}[{extras}]" if extras else str(HERE)
        print(f"dev.py: installing RecAssay into {self.folder.name} (once, or after a change of what it needs) ...",
              file=sys.stderr)  # fmt: skip
        # Python compiles what it imports; compiling all that was installed takes as long as installing it.
        command = [*self._pip(), "install", "--disable-pip-version-check", "--no-compile", "--editable", target]
        if not self.lowest:
            command.append("--quiet")
            tested = tested_versions()
            if tested and subprocess.run([*command, *tested], cwd=HERE).returncode == 0:
                stamp.write_text(wanted)
                return
            if tested:
                print("dev.py: the versions of constraints.txt cannot be had here; trying others", file=sys.stderr)
        else:
            constraints = self.folder / "lowest.txt"
            constraints.write_text("\n".join(lowest_versions((HERE / "pyproject.toml").read_text())) + "\n")
            command += ["--constraint", str(constraints)]
        if subprocess.run(command, cwd=HERE).returncode != 0:
            fail("pip could not install the project; its message above says why")
        stamp.write_text(wanted)

    def _is_ours(self) -> bool:
        """Whether it exists and has the interpreter that runs this script."""
        if not self.python.exists():
            return False
        asked = [str(self.python), "-c", "import sys; print(sys.version_info[:3])"]
        return subprocess.run(asked, capture_output=True, text=True).stdout.strip() == str(sys.version_info[:3])

    def _make(self) -> None:
        """Create it; without ensurepip (some Linux packages split it off) fall back on the pip of this Python."""
        for more in ([], ["--without-pip"]):
            shutil.rmtree(self.folder, ignore_errors=True)
            command = [sys.executable, "-m", "venv", *more, str(self.folder)]
            if subprocess.run(command, capture_output=True).returncode == 0:
                return
        fail("this Python has no working venv module: install it (on Debian: python3-venv), then try again")

    def _pip(self) -> list[str]:
        """Its pip, or the outer pip aimed at it."""
        if subprocess.run([str(self.python), "-m", "pip", "--version"], capture_output=True).returncode == 0:
            return [str(self.python), "-m", "pip"]
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0:
            return [sys.executable, "-m", "pip", "--python", str(self.python)]
        fail("pip is missing: install it (python3 -m ensurepip, or your system's python3-pip), then try again")
        raise AssertionError


def tested_versions() -> list[str]:
    """What pip is told to install the tested versions: constraints.txt, on the Python that it was made with."""
    constraints = HERE / "constraints.txt"
    made_with = re.search(r"Python (\d+)\.(\d+)", constraints.read_text()) if constraints.exists() else None
    fits = made_with is not None and sys.version_info[:2] == (int(made_with[1]), int(made_with[2]))
    return ["--constraint", str(constraints)] if fits else []


def wanted_stamp() -> str:
    """What the installation depends on: the interpreter, the place, the project's declaration and its version."""
    declared = hashlib.sha256((HERE / "pyproject.toml").read_bytes())
    declared.update((HERE / "src" / "recassay" / "core" / "version.py").read_bytes())
    declared.update(b"".join(path.read_bytes() for path in [HERE / "constraints.txt"] if path.exists()))
    return f"{sys.version_info[:3]} {HERE} {declared.hexdigest()}"


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
    command = COMMANDS[name]
    # Containers often forbid that compiled modules are kept; then every process that a test starts compiles them all.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    environment = Environment(HERE / (".venv-bounds" if command.lowest else ".venv"), command.lowest)
    environment.install(command.extras)
    for line in command.lines:
        passed_on = rest if line is command.lines[-1] else []
        code = subprocess.run([str(environment.python), *line, *passed_on], cwd=HERE).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
