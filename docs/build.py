"""Build the documentation: the pages of docs/ and those made from the code, as a searchable site in site/.

`python3 dev.py docs` builds with the pictures as they are; `python3 dev.py docs --pictures` runs the demo first and
renews them, and `--board` only renews the tables of docs/benchmark.md from the shipped benchmark. The list of pages
and their order stand in docs/index.md, the looks in mkdocs.yml. The site needs no network and no server: open
site/index.html.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from reference.algorithms import algorithms_page
from reference.board import board_page, write_board
from reference.commands import command_line_page
from reference.functions import python_page
from reference.metrics import metrics_page
from reference.notebooks import notebook_page
from reference.results import results_page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GENERATED = {
    "algorithms": algorithms_page,
    "metrics-list": metrics_page,
    "cli": command_line_page,
    "python": python_page,
    "results": results_page,
    "changelog": lambda: (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "]("),
}
"""Pages that exist after a build alone."""

COPIED = ("pictures", "theme", "external", "notebooks", "changes", "evidence")
"""What pages show or link to."""


def refresh_pictures() -> None:
    """Run the demo and renew the pictures that the pages show, with the numbers behind them."""
    from reference.pictures import renew

    import recassay

    with tempfile.TemporaryDirectory() as folder:
        report = recassay.demo(Path(folder) / "demo")
        renew(report, {"multiverse": recassay.multiverse("published:time-to-split")})


def navigation(index: str) -> list[dict[str, object]]:
    """The headings of the index page with the pages and notebooks that each lists."""
    parts: list[dict[str, object]] = [{"RecAssay": "index.md"}]
    pages: list[dict[str, str]] = []
    for line in index.splitlines():
        if line.startswith("## "):
            pages = []
            parts.append({line[3:]: pages})
        listed = re.findall(r"^- \[([^\]]+)\]\(([\w/-]+)\.(?:md|ipynb)\)", line)
        pages += [{title: f"{page}.md"} for title, page in listed]
    return parts


def write_sources(folder: Path) -> None:
    """Every page of the site as Markdown: the written ones, and those made from the code."""
    folder.mkdir(parents=True)
    for page in HERE.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        (folder / page.name).write_text(re.sub(r"\((notebooks/[\w-]+)\.ipynb\)", r"(\1.md)", text), encoding="utf-8")
    for part in COPIED:
        shutil.copytree(HERE / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for notebook in (HERE / "notebooks").glob("*.ipynb"):
        (folder / "notebooks" / f"{notebook.stem}.md").write_text(notebook_page(notebook), encoding="utf-8")
    (folder / "boards.html").write_text(board_page(), encoding="utf-8")
    for page in (folder / "changes").glob("*.md"):
        page.write_text(
            page.read_text(encoding="utf-8").replace("../../CHANGELOG.md", "../changelog.md"), encoding="utf-8"
        )
    for name, make in GENERATED.items():
        (folder / f"{name}.md").write_text(make(), encoding="utf-8")


def build(site: Path) -> None:
    """Make the site; a link that leads nowhere, or a page that is not in the index, ends it with a message."""
    from mkdocs.__main__ import cli

    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder) / "pages")
        settings = {
            "INHERIT": str(ROOT / "mkdocs.yml"),
            "docs_dir": str(Path(folder) / "pages"),
            "site_dir": str(site),
            "nav": navigation((HERE / "index.md").read_text(encoding="utf-8")),
        }
        (Path(folder) / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
        cli(["build", "--strict", "--quiet", "--config-file", str(Path(folder) / "mkdocs.yml")], standalone_mode=False)


def main(arguments: list[str]) -> None:
    """Write site/."""
    unknown = set(arguments) - {"--pictures", "--board"}
    if unknown:
        raise SystemExit(f"docs/build.py: unknown option {sorted(unknown)[0]}; there are --pictures and --board")
    if "--board" in arguments:
        write_board()
        return
    if "--pictures" in arguments:
        refresh_pictures()
    build(ROOT / "site")
    print(f"open {ROOT / 'site' / 'index.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
