"""ir_measures: `measure value` lines, `query measure value` with `-q`, or JSON lines. A file is one system."""

from __future__ import annotations

import json
import re

from recassay.core import columns as c
from recassay.core.system.lines import lines_of
from recassay.data.importers.contract import Imported, Importer, Kind
from recassay.data.importers.conventions import ANY, BY_RELEVANT, LINEAR, Known, accuracy
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.trec import query_results, system_of

METRICS = accuracy(ndcg=LINEAR, map=BY_RELEVANT, success=Known("hitrate", ANY))
_MEASURE = r"(?:AP|nDCG|P|R|RR|Rprec|Bpref|Success|ERR|RBP|SetP|SetR|SetF|Judged|IPrec|NumRet|NumRel|INST|SDCG|BPM)"
_NAME = re.compile(rf"^{_MEASURE}(?:\([^)]*\))?(?:@\d+(?:\.\d+)?)?$")


def recognise(file: OpenedFile) -> Kind | None:
    """By the names of its measures, in lines of two or three columns or in JSON lines."""
    first = file.lines[:20]
    if first and all(line.startswith('{"query_id"') and '"measure"' in line for line in first):
        return "user results"
    lines = [line.split("\t") for line in first]
    if not lines:
        return None
    if all(len(parts) == 2 and _NAME.match(parts[0]) for parts in lines):
        return "results"
    return "user results" if all(len(parts) == 3 and _NAME.match(parts[1]) for parts in lines) else None


def read(file: OpenedFile) -> Imported:
    """Means over queries with their deviation, or the printed means."""
    rows = []
    for line in lines_of(file.text):
        if line.startswith("{"):
            record = json.loads(line)
            parts = [str(record.get("query_id", "all")), str(record["measure"]), str(record["value"])]
        else:
            parts = line.split("\t")
            parts = ["all", *parts] if len(parts) == 2 else parts
        if len(parts) == 3:
            rows.append({c.USER: parts[0], c.METRIC: _label(parts[1]), c.VALUE: float(parts[2])})
    return query_results(rows, file, system_of(file), METRICS, "ir_measures")


def _label(measure: str) -> str:
    """`nDCG(dcg='exp-log2')@10` keeps its setting in its name."""
    name, _, rest = measure.partition("(")
    setting, _, cut = rest.partition(")")
    return f"{name}[{setting}]{cut}" if setting else measure


IMPORTER = Importer("ir_measures", "ir_measures", "its output as lines or JSON lines", recognise, read)
