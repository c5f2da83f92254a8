"""Readers against bytes and texts that hypothesis makes: an answer, or an error of one line; never anything else.

`HYPOTHESIS_PROFILE=explore` looks further, and `RECASSAY_FUZZ=20000` sets how many examples each reader meets.
"""

from __future__ import annotations

import gzip
import os
import re
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recassay
from recassay.core.errors import RecAssayError
from recassay.data.classification.table import read_class_table
from recassay.data.lists.judgements import read_judgements
from recassay.data.lists.read import read_lists
from recassay.data.readers import read_interactions
from recassay.data.tables.characteristics import read_characteristics
from recassay.data.tables.responses import read_items, read_properties, read_responses
from recassay.recommenders.study_file import load_study
from support.fault_files import FILES

EXAMPLES = int(os.environ.get("RECASSAY_FUZZ", "25"))
READERS = {
    "results": (recassay.load_results, (".csv", ".tsv", ".json", ".txt", ".md", ".tex", ".log", ".xlsx", ".parquet")),
    "interactions": (read_interactions, (".csv", ".tsv", ".dat", ".inter", ".txt", ".parquet")),
    "lists": (read_lists, (".csv", ".json", ".trec", ".txt", ".parquet", ".lz4")),
    "judgements": (read_judgements, (".csv", ".json", ".qrels", ".txt", ".lz4", ".parquet")),
    "classes": (read_class_table, (".csv", ".arff", ".parquet")),
    "answers": (read_responses, (".csv", ".parquet")),
    "items": (read_items, (".csv",)),
    "properties": (read_properties, (".csv",)),
    "characteristics": (read_characteristics, (".csv",)),
    "study": (load_study, (".toml", ".yaml")),
}
SEEDS = sorted(name for name, content in FILES.items() if len(content) < 3000)
PIECES = [
    ",",
    "\t",
    ";",
    "|",
    "::",
    "\n",
    "\r",
    "\r\n",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    "=",
    ":",
    "@",
    "%",
    "&",
    "\\\\",
    "$",
    "nan",
    "inf",
    "-1",
    "1e400",
    "0x10",
    "1_000",
    "1,5",
    "\x00",
    "\x0c",
    "\x1b",
    "\u2028",
    "\ufeff",
    "\uffff",
    "é",
    "💥",
    "user",
    "item",
    "rating",
    "algorithm",
    "dataset",
    "metric",
    "value",
    "ndcg@10",
    "@attribute",
    "@data",
    "{1 2}",
    "true",
    "null",
    "---",
    "| - |",
    "\\begin{tabular}{ll}",
    "9" * 400,
    "a" * 300,
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A known file with pieces put in, cut out and swapped; or bytes of no kind at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=300))
    seed = FILES[draw(st.sampled_from(SEEDS))]
    content = bytearray(seed if isinstance(seed, bytes) else seed.encode())
    for _ in range(draw(st.integers(1, 6))):
        at, to = (draw(st.integers(0, len(content))) for _ in range(2))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            content[at:at] = draw(st.sampled_from(PIECES)).encode()
        elif kind == 1:
            del content[min(at, to) : max(at, to)]
        elif kind == 2:
            content[at:at] = content[min(at, to) : max(at, to)]
        elif kind == 3 and content:
            content[at % len(content)] = draw(st.integers(0, 255))
        else:
            content[at:at] = draw(st.text(max_size=8)).encode("utf-8", "surrogatepass")
    return bytes(content[:20_000])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", READERS)
def test_a_reader_answers_or_says_one_line(kind):
    reader, suffixes = READERS[kind]

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(content=mutated(), suffix=st.sampled_from(suffixes), packed=st.integers(0, 9))
    def check(content, suffix, packed):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"input{suffix}{'.gz' if packed == 0 else ''}"
            path.write_bytes(gzip.compress(content) if packed == 0 else content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                said = ""
                try:
                    reader(path)
                except RecAssayError as error:
                    said = str(error)
            assert "\n" not in said
            assert len(said) < 4000
            assert not re.search("[\ud800-\udfff]", said)

    check()
