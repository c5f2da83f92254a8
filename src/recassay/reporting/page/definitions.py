"""The pages of the documentation that define what a report shows, carried inside it: no link leads off the page."""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from recassay.reporting.markup import Markup, tag

_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\s*$", re.M)
_LINK = re.compile(r'<a href="([^"#]*)(#[^"]*)?">(.*?)</a>', re.S)
_HEADING = re.compile(r"<(/?)h([1-4])>")


def documentation(page: str) -> Traversable | None:
    """The page's file: in the installed package, or in the source tree that the package runs from."""
    source = Path(__file__).resolve().parents[4] / "docs"
    folder: Traversable = source if (source / "index.md").is_file() else resources.files("recassay") / "docs"
    file = folder / f"{page}.md"
    return file if re.fullmatch(r"[a-z0-9-]+", page) and file.is_file() else None


def anchor(page: str) -> str:
    """Where the page stands inside the report."""
    return f"definition-{page}"


def definitions(pages: list[str]) -> Markup:
    """The pages as foldable HTML; pictures are left out, links between these pages stay inside the report."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    parts = []
    for page in pages:
        file = documentation(page)
        if file is None:
            continue
        text = _PICTURE.sub("", file.read_text(encoding="utf-8"))
        title = text.lstrip("# ").splitlines()[0]
        body = reader.render(text.split("\n", 1)[1])
        body = _LINK.sub(lambda found: _inside(found, pages), body)
        body = _HEADING.sub(lambda found: f"<{found[1]}h{min(int(found[2]) + 2, 6)}>", body)
        body = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
        parts.append(tag("details", tag("summary", title), Markup(body), id=anchor(page), class_="definition"))
    return Markup("".join(parts))


def _inside(found: re.Match[str], pages: list[str]) -> str:
    target, text = found[1], found[3]
    page = target.removesuffix(".md")
    return f'<a href="#{anchor(page)}">{text}</a>' if target.endswith(".md") and page in pages else text
