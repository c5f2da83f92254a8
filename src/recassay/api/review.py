"""The verb `review`: a paper's tables and claims, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from recassay.analysis.review.fit import review_paper
from recassay.analysis.review.result import ReviewResult
from recassay.api.arguments import checked
from recassay.api.inputs import PathLike
from recassay.core.choices import Range
from recassay.core.tables.printed import PaperTable
from recassay.core.tables.results import Results
from recassay.data.papers.frame import frame_of
from recassay.data.papers.read import read_paper
from recassay.data.published.expected import single_values
from recassay.reporting.files import write_files
from recassay.reporting.page.review import review_page


@checked
def review(
    source: PathLike,
    *,
    out: PathLike | None = None,
    users: Annotated[int, Range(1)] | None = None,
    method: str | None = None,
) -> ReviewResult:
    """Check the tables and the claims of a paper from its LaTeX source; nothing is uploaded.

    Args:
        source: a LaTeX file, the folder of a paper, or its source archive from arXiv.
        out: the page that is written, such as `review.html`.
        users: how many users are judged; by default what the paper's table of statistics says.
        method: the paper's own algorithm, as its tables name it; by default what is called ours, or leads.
    """
    path = Path(source)

    def results(table: PaperTable) -> Results:
        return Results.from_frame(frame_of(table, path.stem))

    result = review_paper(read_paper(path), results, expected=single_values(), users=users, own=method)
    if out is not None:
        target = Path(out)
        write_files(target.parent, {target.name: review_page(result).encode(errors="backslashreplace")})
    return result
