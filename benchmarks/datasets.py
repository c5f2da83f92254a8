"""Import, describe, split and audit every dataset of a folder of real interactions, and print one table.

The folder is RECASSAY_DATA, else ../shared/data; its `interactions/manifest.json` says what each file holds. Data whose
times are positions get a leave-last-out split, data without times a random one, the others the global temporal split of
KDD'24.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import recassay
from recassay import describe_data, import_data


def threshold(values: list[float] | None) -> float | None:
    """70 % of the highest rating, as 3.5 is of 5."""
    return None if not values or values[1] <= 1 else 0.7 * values[1]


def row(folder: Path, entry: dict[str, object]) -> str:
    """One line of the table."""
    start = time.perf_counter()
    name, kind = str(entry["name"]), str(entry["timestamp_kind"])
    clock = bool(entry["has_timestamp"]) and "unix" in kind
    read = {"time": "auto" if clock else "position" if entry["has_timestamp"] else "ignore"}
    import_data(folder / str(entry["file"]), name, read)
    explicit = str(entry["kind"]).startswith("explicit")
    protocol = {
        "split": "global_time" if clock else "leave_last_out" if entry["has_timestamp"] else "random_per_user",
        "positive_threshold": threshold(entry["rating_values"]) if explicit else None,  # type: ignore[arg-type]
    }
    try:
        found = describe_data(name, protocol=protocol)
    except recassay.RecAssayError as error:
        return f"{name:22} {str(error)[:150]}"
    c, parts, audit = found.characteristics, found.parts or {}, found.audit or {}
    counts = [f"{parts[part]['interactions']:>9,}" for part in ("train", "valid", "test")]
    notes = ", ".join(f["name"] for f in audit["findings"]) or "clean"
    return (
        f"{name:22} {protocol['split']:15} {protocol['positive_threshold'] or '':>5} {c['Nu']:>7,} {c['Ni']:>7,} "
        f"{c['Nr']:>9,} {c['Density']:8.5f} {c['Ginii']:6.3f} {c['APB']:6.3f} {c['LTavg']:6.3f} {' '.join(counts)} "
        f"{audit['share_of_users_evaluated']:6.1%} {time.perf_counter() - start:6.1f} s {notes}"
    )


def main() -> int:
    """Print the table."""
    folder = Path(os.environ.get("RECASSAY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    folder = folder / "interactions"
    if not folder.is_dir():
        print(f"no data at {folder}: set RECASSAY_DATA", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as home:
        os.environ["RECASSAY_HOME"] = home
        heads = ("Nu", 7), ("Ni", 7), ("Nr", 9), ("Density", 8), ("Ginii", 6), ("APB", 6), ("LTavg", 6), ("train", 9)
        heads = *heads, ("valid", 9), ("test", 9), ("judged", 6), ("time", 8)
        print(f"{'dataset':22} {'split':15} {'tau':>5}", *(f"{name:>{width}}" for name, width in heads), "audit")
        for entry in json.loads((folder / "manifest.json").read_text()):
            print(row(folder, entry), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
