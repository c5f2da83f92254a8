"""How time and memory grow with the size of the data, section by section; every size in a process of its own.

python benchmarks/scale.py [SECTION] [options of the section], for example
python benchmarks/scale.py preparation --events 2e6 20e6 200e6

Without a section all run at their small sizes. What is written lies in a temporary folder and is removed.
"""

from __future__ import annotations

import argparse
import importlib
import sys

SECTIONS = ("preparation", "catalogue", "grid", "order")
"""Modules of `benchmarks/scaling`, each with `add_options(parser)` and `main(chosen)`, an exit code."""


def main(arguments: list[str]) -> int:
    """Run the sections named first, or all of them; the exit code is the worst of theirs."""
    if arguments and arguments[0] in SECTIONS:
        return run(arguments[0], arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        print(f"no section {arguments[0]!r}; there are: {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    if arguments:
        print(__doc__)
        return 0
    codes = []
    for name in SECTIONS:
        print(f"-- {name}", flush=True)
        codes.append(run(name, []))
    return max(codes)


def run(name: str, options: list[str]) -> int:
    """One section with its options."""
    section = importlib.import_module(f"scaling.{name}")
    parser = argparse.ArgumentParser(prog=f"scale.py {name}", description=section.__doc__.splitlines()[0])
    section.add_options(parser)
    code: int = section.main(parser.parse_args(options))
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
