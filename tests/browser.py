"""A real browser for the tests, where the system has one."""

from __future__ import annotations

import shutil

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
