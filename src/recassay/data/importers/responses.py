"""Tables of right and wrong answers (decodIRT): one row per classifier, one column of 0 and 1 per test instance.

One file is one dataset, named by the file. `accuracy` of an instance is 1 where the answer is right. decodIRT fits its
items on such tables.
"""

from __future__ import annotations

import numpy as np

from recassay.core.tables.responses import MISSING
from recassay.data.importers.contract import Imported, Importer, Kind
from recassay.data.importers.instances import Answer, instance_results
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.responses import read_responses

_RESPONDENT = {"respondent", "respondents", "classifier", "classifiers"}
FEWEST_ITEMS = 3


def recognise(file: OpenedFile) -> Kind | None:
    """A first column of respondents or classifiers, and 0 or 1 in all others."""
    if len(file.header) <= FEWEST_ITEMS or file.header[0].lower() not in _RESPONDENT:
        return None
    if file.is_parquet:
        return "user results"
    delimiter = max("\t,;", key=file.lines[0].count)
    cells = {cell.strip() for line in file.lines[1:20] for cell in line.split(delimiter)[1:]}
    return "user results" if cells and cells <= {"0", "1", "", "0.0", "1.0"} else None


def read(file: OpenedFile) -> Imported:
    """One row per classifier and instance; an empty cell is an instance that was not answered."""
    table = read_responses(file.path)
    dataset = file.dataset()
    answers = (
        Answer(table.respondents[row], dataset, table.items[item], "accuracy", float(table.codes[row, item]), True)
        for row, item in np.argwhere(table.codes != MISSING)
    )
    return instance_results(answers, file, "responses")


IMPORTER = Importer(
    "responses",
    "response table",
    "a table of classifiers and test instances with 0 and 1, as decodIRT fits them",
    recognise,
    read,
    aliases=("decodirt",),
)
