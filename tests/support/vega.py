"""Whether pictures are what the renderer expects: once here, so that nothing is checked while a report is made."""

from __future__ import annotations

from altair.vegalite.schema import core


def validate(spec):
    """Raise where a specification breaks the schema of Vega-Lite."""
    core.Root.validate(spec)


def assert_valid(figures):
    """Every picture is valid Vega-Lite, and there are some."""
    assert figures
    for figure in figures:
        validate(figure.spec)
