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
