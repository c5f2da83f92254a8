"""Every reference was checked against a source; `bibliography.tsv` says which, and what was corrected."""

import re
from pathlib import Path

import pytest

from recassay.reporting.paper.setup import citations, entries

CHECKED = dict(
    line.split("\t") for line in Path(__file__).with_name("bibliography.tsv").read_text("utf-8").splitlines()[1:]
)


def test_every_reference_was_confirmed():
    assert set(CHECKED) == set(entries())


def test_every_citation_has_its_reference():
    cited = {key for kind in citations().values() for keys in kind.values() for key in keys}
    assert cited <= set(entries())


@pytest.mark.parametrize("key", sorted(entries()))
def test_a_reference_has_what_a_reader_needs(key):
    fields = dict(re.findall(r"^  (\w+) = \{(.+)\},?$", entries()[key], flags=re.MULTILINE))
    assert {"author", "title", "year"} <= set(fields)
    assert re.fullmatch(r"(1[89]|20)\d\d", fields["year"])
    assert fields["year"] in key
    assert {"booktitle", "journal", "publisher", "howpublished"} & set(fields)
