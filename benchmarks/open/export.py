"""Ship the open benchmark: from the folders of its studies to `src/recassay/data/published/open/`.

python3 benchmarks/open/export.py STUDY... [--to FOLDER] [--data FOLDER]

Where the splits of a study were not copied, `--data` names the folder of the files that it read.

`datasets.toml` beside this file says what each dataset is, which were left out and why, and why algorithms were not
run.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from shipping import export_benchmark

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parents[1] / "src" / "recassay" / "data" / "published" / "open"
MOST_BYTES = 3_000_000


def main() -> None:
    """Export, and say how large the files are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", metavar="STUDY")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--to", type=Path, default=SHIPPED)
    options = parser.parse_args()
    known = tomllib.loads((HERE / "datasets.toml").read_text())
    sizes = export_benchmark(
        options.studies,
        options.to,
        about=known["datasets"],
        left_out=known.get("left_out", {}),
        reasons=known.get("not_run", {}),
        excluded=known.get("excluded", {}),
        notes=known.get("notes", ()),
        data=options.data,
    )
    for file, size in sizes.items():
        print(f"{file}: {size:,} bytes")
    if sum(sizes.values()) > MOST_BYTES:
        raise SystemExit(f"together {sum(sizes.values()):,} bytes, more than {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
