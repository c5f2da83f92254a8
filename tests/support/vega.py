"""Whether pictures are what the renderer expects: once here, so that nothing is checked while a report is made."""

from __future__ import annotations

from functools import cache

import jsonschema
from altair.vegalite.schema import core


def validate(spec):
    """Raise where a specification breaks the schema of Vega-Lite."""
    _validator(_kind(spec)).validate(_without_rows(spec))


def assert_valid(figures):
    """Every picture is valid Vega-Lite, and there are some."""
    assert figures
    for figure in figures:
        validate(figure.spec)


@cache
def _validator(kind):
    schema = core.load_schema()
    return jsonschema.Draft7Validator({**schema, "$ref": f"#/definitions/{kind}"})


def _kind(spec):
    """The definition that a whole chart falls under: to try them all takes the validator most of its time."""
    joined = {"layer": "Layer", "hconcat": "HConcat", "vconcat": "VConcat", "concat": "Concat"}
    return f"TopLevel{next((name for how, name in joined.items() if how in spec), 'Unit')}Spec"


def _without_rows(spec):
    """The specification with one row of data: the schema says nothing of what is in a row."""
    if isinstance(spec, dict):
        return {
            key: value[:1] if key == "values" and value and isinstance(value[0], dict) else _without_rows(value)
            for key, value in spec.items()
        }
    return [_without_rows(value) for value in spec] if isinstance(spec, list) else spec
