"""A real browser for the tests, where the system has one, and a report opened in it."""

from __future__ import annotations

import shutil

import pytest

from support.shared import HOSTILE, written_once

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


def why_not() -> str | None:
    """Why no browser test can run here; None where they can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed (pip install 'recassay[dev]')"
    if find() is None:
        return f"no browser was found ({', '.join(NAMES)}); on Debian: apt-get install chromium"
    return None


def find() -> str | None:
    """The path of the system's browser."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


needs_browser = pytest.mark.skipif(why_not() is not None, reason=f"browser tests: {why_not()}")
ALGORITHMS = ("Alpha", '"><img src=x onerror=alert(2)>', "Gamma", "Delta", "Epsilon", "Zeta")
DATASETS = (HOSTILE, *(f"d{i:02d}" for i in range(14)))
METRICS = ("ndcg@10", "hitrate@10", "novelty@10", "seconds_fit")


def table():
    """Continuous values, values full of ties and zeros, one with gaps, and one where lower is better."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(7)
    strength = np.linspace(0.2, 0.8, len(ALGORITHMS))
    rows = []
    for a, algorithm in enumerate(ALGORITHMS):
        for d, dataset in enumerate(DATASETS):
            smooth = strength[a] * rng.uniform(0.3, 1.0)
            gap = metric_gap(a, d)
            rows += [
                (algorithm, dataset, "ndcg@10", smooth),
                (algorithm, dataset, "hitrate@10", round(4 * smooth) / 4),
                (algorithm, dataset, "novelty@10", None if gap else 5 + rng.normal()),
                (algorithm, dataset, "seconds_fit", float(np.exp(rng.normal(a / 3)))),
            ]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")


def metric_gap(a: int, d: int) -> bool:
    return (a, d) in {(0, 3), (2, 5), (2, 6)}


@pytest.fixture(scope="session")
def page_results():
    from recassay.core.tables.results import Results

    return Results.from_frame(table())


@pytest.fixture(scope="session")
def page_report(tmp_path_factory):
    """The page that `recassay analyze --out page.html` wrote of the table, into a folder that was not there."""
    return written_once(tmp_path_factory, "analyze", table, "deep/page.html")


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=find(), args=list(ARGUMENTS))
        yield launched
        launched.close()


class Watched:
    """A page and everything it said, asked for or popped up."""

    def __init__(self, page) -> None:
        self.page, self.said, self.asked = page, [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))


@pytest.fixture(scope="session")
def opened(chromium, page_report):
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    watched = Watched(page)
    page.goto(page_report.out.as_uri())
    yield watched
    page.close()


@pytest.fixture
def page(opened):
    opened.page.click("#board-reset")
    return opened.page
