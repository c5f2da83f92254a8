"""Run every benchmark of this folder, or those named: python3 dev.py bench [aggregate ...]"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(names: list[str]) -> int:
    """Run the scripts one after the other; the exit code is the worst of theirs."""
    known = sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run" and not path.stem.endswith("_peers"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    codes = []
    for name in names or known:
        print(f"== {name}", flush=True)
        codes.append(subprocess.run([sys.executable, str(HERE / f"{name}.py")]).returncode)
    return max(codes, default=0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
