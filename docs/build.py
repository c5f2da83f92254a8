"""Build the documentation site: pages of docs/ as HTML in site/, with pictures and a report made by the demo, and the
reference of commands and functions generated from the code.

`python3 dev.py docs` builds all of it; `python3 dev.py docs --quick` leaves the demo out and takes the pictures as they
are.
"""

from __future__ import annotations

import html
import inspect
import re
import shutil
import sys
from pathlib import Path

from markdown_it import MarkdownIt

HERE = Path(__file__).resolve().parent
SITE = HERE.parent / "site"
STYLE = (HERE / "site.css").read_text()


def refresh_pictures() -> None:
    """Run the demo, renew the pictures that the pages show, and put its report beside the pages."""
    import recassay

    out = SITE / "demo"
    recassay.demo(out)
    for shown in (HERE / "pictures").glob("*.png"):
        shutil.copy(out / "figures" / shown.name, shown)


def command_line_page() -> str:
    """The help of every command, in the order in which `recassay --help` lists them."""
    import typer
    from typer.testing import CliRunner

    from recassay.cli.main import app

    def paths(group: typer.Typer, before: tuple[str, ...]) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = [before]
        for command in group.registered_commands:
            found.append((*before, str(command.name)))
        for inner in group.registered_groups:
            assert inner.typer_instance is not None
            found += paths(inner.typer_instance, (*before, str(inner.name)))
        return found

    parts = ["# Command line\n"]
    for path in paths(app, ()):
        shown = CliRunner().invoke(app, [*path, "--help"], prog_name="recassay", terminal_width=100)
        if shown.exit_code != 0:
            raise SystemExit(f"recassay {' '.join(path)} --help failed: {shown.output}")
        parts.append(f"## recassay {' '.join(path)}\n\n```\n{shown.stdout.strip()}\n```\n")
    return "\n".join(parts)


def python_page() -> str:
    """Every public function and class of `recassay`: signature and docstring."""
    import recassay

    parts = ["# Python\n\nEvery command is a function of `recassay`; results have `to_frame()` and `to_dict()`.\n"]
    for name in recassay.__all__:
        thing = getattr(recassay, name)
        if not callable(thing):
            continue
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(thing)))
        text = inspect.getdoc(thing) or ""
        parts.append(f"## {name}\n\n```python\n{_wrapped(name, signature)}\n```\n\n{text}\n")
    return "\n".join(parts)


def _wrapped(name: str, signature: str) -> str:
    if len(name + signature) <= 90:
        return name + signature
    inside, arrow, returned = signature.rpartition(") -> ")
    pieces, depth, start = [], 0, 0
    for i, letter in enumerate(inside):
        depth += letter in "[(" and i > 0
        depth -= letter in "])"
        if letter == "," and depth == 0:
            pieces.append(inside[start : i + 1].strip("( "))
            start = i + 1
    pieces.append(inside[start:].strip("( ") + ",")
    return f"{name}(\n" + "".join(f"    {piece}\n" for piece in pieces) + arrow + returned


def slug(text: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"<[^>]+>", "", text).lower()).strip("-")


def body_of(markdown: str) -> str:
    """A page's HTML; headings get anchors, links between pages follow."""
    body = MarkdownIt().enable("table").render(markdown).replace('.md"', '.html"').replace(".md#", ".html#")
    return re.sub(r"<h([23])>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{slug(m[2])}">{m[2]}</h{m[1]}>', body)


def navigation(index: str, here: str) -> str:
    """The headings and links of the index page as a side bar."""
    lines = []
    for line in index.splitlines():
        if line.startswith("## "):
            lines.append(f"<h2>{html.escape(line[3:])}</h2>")
        for title, target in re.findall(r"^- \[([^\]]+)\]\(([\w-]+)\.md\)", line):
            current = ' aria-current="page"' if target == here else ""
            lines.append(f'<a href="{target}.html"{current}>{html.escape(title)}</a>')
    return "\n".join(lines)


def page(markdown: str, title: str, aside: str) -> str:
    """One page of HTML."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)} · RecAssay</title><style>{STYLE}</style>"
        f'<nav aria-label="Pages"><a class="home" href="index.html">RecAssay</a>{aside}</nav>'
        f"<main>{body_of(markdown)}</main></html>"
    )


def main(arguments: list[str]) -> None:
    """Write site/."""
    SITE.mkdir(exist_ok=True)
    if "--quick" not in arguments:
        refresh_pictures()
    sources = {path.stem: path.read_text() for path in sorted(HERE.glob("*.md"))}
    sources |= {"cli": command_line_page(), "python": python_page()}
    for name, text in sources.items():
        title = text.lstrip("# ").splitlines()[0]
        (SITE / f"{name}.html").write_text(page(text, title, navigation(sources["index"], name)))
    shutil.copytree(HERE / "pictures", SITE / "pictures", dirs_exist_ok=True)
    print(f"wrote {len(sources)} pages to {SITE}")


if __name__ == "__main__":
    main(sys.argv[1:])
