"""The site: every page is in its navigation, the reference comes from the code, search works without a network."""

from __future__ import annotations

import importlib
import importlib.util
import re

import pytest

import recassay
from recassay.core import registry
from support.browser import needs_browser
from support.places import ROOT

WRITTEN = {path.name for path in (ROOT / "docs").glob("*.md")}
BESIDE = {
    f"{path.parent.name}/{path.name}"
    for part in ("changes", "evidence")
    for path in (ROOT / "docs" / part).glob("*.md")
}
"""Pages that others link to, outside the navigation."""
NOTEBOOKS = {f"notebooks/{path.stem}.md" for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")}


@pytest.fixture(scope="module")
def builder():
    """The script that builds the site, as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("build")


def test_every_page_is_in_the_navigation_once(builder):
    index, *parts = builder.navigation((ROOT / "docs" / "index.md").read_text())
    assert index == {"RecAssay": "index.md"}
    listed = [page for part in parts for pages in part.values() for entry in pages for page in entry.values()]
    assert sorted(listed) == sorted((WRITTEN | NOTEBOOKS | {f"{name}.md" for name in builder.GENERATED}) - {"index.md"})


def test_the_front_page_links_to_files_of_the_repository_alone(builder):
    links = re.findall(r"\]\((docs/[^)#]+)", (ROOT / "README.md").read_text())
    assert links
    assert not {f"docs/{name}.md" for name in builder.GENERATED} & set(links)


def test_commands_and_functions_are_made_from_the_code(builder, cli):
    commands = cli("--help").out.partition("Commands:")[2].split("\n  ")
    shown = builder.command_line_page()
    assert all(f"## recassay {line.split()[0]}\n" in shown for line in commands if line.strip())
    functions = builder.python_page()
    assert all(f"## {name}\n" in functions for name in recassay.__all__ if callable(getattr(recassay, name)))
    assert "missing: MissingPolicy = 'error'," in functions
    assert "- `replicates`: bootstrap replicates.\n" in functions
    assert "Args:" not in functions


def test_every_algorithm_has_definition_parameters_space_source_memory_and_advice(builder):
    text = builder.algorithms_page()
    entries = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", text, re.S | re.M))
    assert set(entries) == set(registry.algorithms.names())
    for name, kind in registry.algorithms:
        entry = entries[name]
        assert kind.__doc__.splitlines()[0] in entry
        assert kind.source in entry
        assert re.search(r"\*\*When to use\.\*\* \w", entry)
        assert "**Memory.** " in entry
        assert all(re.search(rf"^\| `{parameter}` \| `.+` \| (?!fixed)", entry, re.M) for parameter in kind.space)
        assert f"| [{name}](#{name.lower()}) |" in text
    assert "| `reg` | `100.0` | 10 to 1000, log scale |" in entries["EASE"]
    assert "| `keep` | `target` | fixed |" in entries["ItemKNN"]


def test_every_metric_has_formula_conventions_direction_and_source(builder):
    text = builder.metrics_page()
    entries = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.S | re.M))
    assert set(entries) == set(registry.metrics.names())
    for name, kind in registry.metrics:
        assert f"```text\n{kind.formula}\n```" in entries[name]
        assert ("Higher" if kind.higher_is_better else "Lower") + " is better" in entries[name]
        assert all(f"`{variant}`" in entries[name] for variant in kind.variants)
        assert kind.source in entries[name]


@pytest.fixture(scope="module")
def site(builder, tmp_path_factory):
    """The site, built; a link that leads nowhere or a page that is not listed ends the build."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed (pip install 'recassay[docs]')")
    folder = tmp_path_factory.mktemp("site")
    builder.build(folder)
    return folder


@pytest.mark.slow
def test_the_site_builds_and_asks_nothing_of_the_network(site, builder):
    names = WRITTEN | NOTEBOOKS | BESIDE | {f"{name}.md" for name in builder.GENERATED}
    pages = {str(path.relative_to(site)): path for path in site.rglob("*.html")}
    assert set(pages) == {f"{name.removesuffix('.md')}.html" for name in names} | {"404.html", "boards.html"}
    for page in pages.values():
        loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"?([^\s\">]+)", page.read_text())
        assert loaded or page.name == "boards.html", "the board holds all that it shows"
        assert [address for address in loaded if re.match(r"(?:https?:)?//", address)] == [], page.name
    assert 'data-md-component="toc"' in (site / "rank.html").read_text()


@pytest.mark.slow
@needs_browser
def test_search_works_in_a_page_opened_as_a_file(site, chromium):
    asked: list[str] = []
    page = chromium.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("jaccard")
    page.wait_for_selector(".md-search-result__item", timeout=60_000)
    assert "algorithms.html" in page.get_attribute(".md-search-result__link", "href")
    page.close()
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
