"""Run one benchmark with its options, or list all: python3 dev.py bench [peers ...]; README.md names their pages."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    """Run the script of the first argument with the others; without arguments print what each script measures."""
    known = {path.stem: path for path in sorted(HERE.glob("*.py")) if path.stem != "run"}
    if not arguments:
        for name, path in known.items():
            print(f"{name:20} {ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))).splitlines()[0]}")
        return 0
    name, *options = arguments
    if name not in known:
        print(f"no benchmark {name!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    return subprocess.run([sys.executable, str(known[name]), *options]).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
