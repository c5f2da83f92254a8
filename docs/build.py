"""Build the documentation: pictures from the demo, the command-line page from the code, pages as HTML in site/."""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

HERE = Path(__file__).resolve().parent
SITE = HERE.parent / "site"
COMMANDS = (
    *("", "demo", "run", "status", "analyze", "report", "rank", "compare", "irt", "glicko", "evaluate", "list", "doctor"),
    *("data", "data import", "data list", "data describe", "data fetch", "data remove"),
)
STYLE = (
    "body{font:16px/1.6 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}"
    "pre{background:#f4f5f7;padding:1rem;overflow:auto}img{max-width:100%}"
    "table{border-collapse:collapse}td,th{border:1px solid #d6dae0;padding:.3rem .6rem;text-align:left}"
)


def refresh_pictures() -> None:
    """Run the demo and renew the pictures that the pages show."""
    import recassay

    out = SITE / "demo"
    recassay.demo(out)
    for shown in (HERE / "pictures").glob("*.png"):
        shutil.copy(out / "figures" / shown.name, shown)


def command_line_page() -> str:
    """The help of every command."""
    parts = ["# Command line\n"]
    for name in COMMANDS:
        shown = subprocess.run(
            [sys.executable, "-m", "recassay", *name.split(), "--help"], capture_output=True, text=True, check=True
        ).stdout
        parts.append(f"## recassay {name}\n\n```\n{shown.strip()}\n```\n")
    return "\n".join(parts)


def page(markdown: str, title: str) -> str:
    """One page of HTML; links between pages follow."""
    body = MarkdownIt().enable("table").render(markdown).replace('.md"', '.html"')
    return f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><style>{STYLE}</style>{body}"


def main() -> None:
    """Write site/."""
    SITE.mkdir(exist_ok=True)
    refresh_pictures()
    sources = {path.stem: path.read_text() for path in HERE.glob("*.md")}
    sources["cli"] = command_line_page()
    for name, text in sources.items():
        (SITE / f"{name}.html").write_text(page(text, text.lstrip("# ").splitlines()[0]))
    shutil.copytree(HERE / "pictures", SITE / "pictures", dirs_exist_ok=True)
    print(f"wrote {len(sources)} pages to {SITE}")


if __name__ == "__main__":
    main()
