"""One version number, wherever it stands."""

from __future__ import annotations

import re

from recassay.core.version import __version__
from support.places import ROOT


def test_citation_and_changelog_have_the_version():
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == __version__
    first = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert first is not None
    assert first[1] == __version__


def test_each_release_has_at_most_ten_lines_in_groups_and_a_link_to_the_details():
    entries = re.split(r"^## (\S+).*\n", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    assert len(entries) >= 8
    for name, text in zip(entries[::2], entries[1::2], strict=True):
        groups = re.findall(r"^### (.+)$", text, re.M)
        assert groups == [group for group in ("Added", "Changed", "Fixed") if group in groups], name
        details = re.findall(r"\]\((docs/changes/[^)]+)\)", text)
        assert len(details) == 1, name
        assert len((ROOT / details[0]).read_text().splitlines()) > 20
        assert name == "Unreleased" or len(re.findall(r"^- ", text, re.M)) <= 10, name
