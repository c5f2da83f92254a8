"""The report of the KDD'24 table: seconds of each stage, for the page alone and with all figure files.

Seconds of the processor (the drawing processes included) and of the clock; on a busy machine read the former. The whole
is timed as a command in a process of its own, imports included.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TABLE = "published:kdd24"
FORMATS = ("svg", "pdf", "png", "json")


def cpu() -> float:
    """Seconds of the processor of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(name: str, stage: Callable[[], Any]) -> Any:
    """Run a stage and print its seconds."""
    before, start = cpu(), time.perf_counter()
    made = stage()
    print(f"  {name:34s} {cpu() - before:7.2f} {time.perf_counter() - start:7.2f}")
    return made


def stages() -> None:
    """Each stage of the page by itself, and the formats of its figures."""
    print(f"  {'stage':34s} {'CPU s':>7s} {'clock s':>7s}")

    def load() -> Any:
        import recassay
        from recassay.api.publish.content import report_content
        from recassay.reporting.drawing import Drawers, draw_spec
        from recassay.reporting.figures import build_sections, fill_sections
        from recassay.reporting.page.build import build_page

        return recassay, report_content, Drawers, draw_spec, build_sections, fill_sections, build_page

    recassay, report_content, drawers, draw_spec, build_sections, fill_sections, build_page = timed("import", load)
    table = timed("read", lambda: recassay.load_results(TABLE))
    found = timed("analyse", lambda: recassay.analyze(table))
    built = timed("build", lambda: [f.spec for one in build_sections(found.analyses) for f in one.figures])

    def draw(processes: int) -> Any:
        with drawers(processes) as pool:
            return fill_sections(found.analyses, ("svg",), pool)

    timed(f"draw {len(built)} figures as SVG, here", lambda: draw(0))
    filled = timed("draw them in two processes", lambda: draw(2))
    content = report_content(found, None, alpha=0.05, missing="error", higher_is_better=None)
    page = timed("write the page", lambda: build_page(content, filled).encode())
    for form in FORMATS[1:]:
        timed(f"all of them as {form}, SVG included", lambda form=form: [draw_spec(spec, (form,)) for spec in built])
    print(f"  the page has {len(page) / 1e6:.2f} MB")


def command(*arguments: str) -> None:
    """A whole command in a process of its own."""
    shown = " ".join(part for part in (arguments[0], *arguments[4:]))
    timed(shown, lambda: subprocess.run(
        [sys.executable, "-m", "recassay", *arguments], check=True, capture_output=True, env=os.environ
    ))  # fmt: skip


def main() -> None:
    """Print the table."""
    stages()
    print("  as commands, imports included")
    with tempfile.TemporaryDirectory() as folder:
        command("analyze", TABLE, "--out", str(Path(folder) / "report.html"))
        command("analyze", TABLE, "--out", str(Path(folder) / "usual"))
        command("analyze", TABLE, "--out", str(Path(folder) / "all"), "--formats", ",".join(FORMATS))


if __name__ == "__main__":
    main()
