"""The verbs `seal` and `verify`: a plan fixed before its results, and a study checked against it."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.analysis.verdict.claims import Standing, parse_claim, standing
from recassay.analysis.verdict.fit import judge
from recassay.api.arguments import checked
from recassay.api.tables import load_results
from recassay.core.choices import Advanced, Alpha
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.specs.study import StudySpec
from recassay.core.system.files import write_whole
from recassay.core.tables.labels import find_label
from recassay.core.tabular import stated
from recassay.core.words import count_of, listing
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan
from recassay.recommenders.preflight import checked_plan
from recassay.recommenders.rerun import Chances, RerunCell, chances, with_value
from recassay.recommenders.rerun import rerun as rerun_cells
from recassay.recommenders.seal import FILE, Deviation, deviations, make_seal, read_seal, stored_spec
from recassay.recommenders.study import Progress
from recassay.recommenders.study_file import load_study
from recassay.reporting.numbers import p_text, percent
from recassay.store.store import Store


@dataclass(frozen=True, slots=True)
class Seal:
    """A sealed plan: what will be run, analysed and claimed, by hashes and settings."""

    file: Path
    """Where it was written."""
    sha256: str
    """What to publish: any change of the seal changes it."""
    cells: int
    """How many cells the plan has."""
    claims: tuple[str, ...]
    """The claims to be tested."""
    done: int
    """Cells that had results already: a plan should be sealed before there are any."""

    def verdict(self) -> list[str]:
        """The answer in plain sentences."""
        late = [f"{self.done} of its cells have results already, and the seal says so."] if self.done else []
        claims = f" and {count_of(len(self.claims), 'claim')}" if self.claims else ""
        return [
            f"Sealed: {count_of(self.cells, 'cell')}{claims} in {self.file}.",
            *late,
            f"Publish this line to make it binding: {self.sha256}",
        ]

    def to_frame(self) -> pl.DataFrame:
        """One row: file, sha256, cells, done, claims."""
        return pl.DataFrame([self.to_dict()])

    def to_dict(self) -> dict[str, Any]:
        """`file`, `sha256`, `cells`, `done` and `claims`."""
        return {"file": self.file.name, **stated(self, "sha256", "cells", "done", "claims")}


@checked
def seal(
    study: str | Path | StudySpec,
    *,
    claims: Sequence[str] = (),
    metric: str | None = None,
    alpha: Alpha = 0.05,
    folder: str | Path | None = None,
    out: str | Path | None = None,
) -> Seal:
    """Fix the plan of a study before its results exist: its cells, data, code, settings, analysis and claims.

    The seal is a small JSON file with hashes and settings, for a repository or an appendix; `verify` lists every
    deviation from it. No cell is run, and nothing leaves the machine. What `run` would refuse is not sealed.

    Args:
        study: a study file, or a study made by `make_study`.
        claims: what is to be tested: `A > B` or `A is best`. Claims named here are confirmatory.
        metric: the metric of the claims; by default the one that tuning optimises.
        alpha: level of the tests.
        folder: where the study will be run; by default a folder with its name.
        out: where to write the seal; by default `seal.json` in the folder of the study, where reports look for it.
    """
    spec = study if isinstance(study, StudySpec) else load_study(study)
    place = Path(spec.name if folder is None else folder)
    target = Path(place / FILE if out is None else out)
    if target.exists():
        raise UsageError("there is a seal already", where=str(target), fix="keep it, or write another one elsewhere")
    planned = checked_plan(spec, place)  # what a run would refuse is not sealed
    label = _metric_of_claims(planned, metric, bool(claims))
    names = [algorithm.name for algorithm in spec.algorithms]
    texts = [str(parse_claim(text, names)) for text in claims]
    done = 0
    if Store.begun(place):
        with Store.open(place) as store:
            done = store.status().done
    analysis = {"metric": label, "alpha": alpha}
    content = make_seal(planned, claims=texts, analysis=analysis, done=done)
    write_whole(target, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return Seal(target, str(content["sha256"]), len(planned.cells), tuple(texts), done)


def _metric_of_claims(planned: Plan, asked: str | None, claimed: bool) -> str:
    """The metric that claims will be tested by; one that the study does not report is refused."""
    cell = planned.cells[0].spec
    label = cell.tuning.metric if asked is None else make_metric(asked).label
    if label not in cell.metrics and (claimed or asked is not None):
        reported = listing(cell.metrics, last="or")
        raise UsageError(f"the study does not report {label}", fix=f"choose {reported}, or add it to the study")
    return label


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim of a sealed plan, and how the results stand to it."""

    claim: str
    """The claim as it was sealed."""
    standing: Standing | None
    """Whether it holds, is undecided or is reversed. None where it could not be tested."""
    p: float | None = None
    """The p-value of the pair, adjusted for what the plan named; None for "is best"."""
    reason: str = ""
    """Why it could not be tested."""

    def __str__(self) -> str:
        if self.standing is None:
            return f"{self.claim}: not tested ({self.reason})"
        return f"{self.claim}: {self.standing}" + ("" if self.p is None else f" ({p_text(self.p)})")


UNSEEN = (
    "What this cannot see: a change in a file that an algorithm of one's own reads, a cell that was deleted and run "
    "again until it came out well, and lists and scores that were altered together with their checksums."
)
FORESEEN = "The number was given and not drawn now: who knew it beforehand knew which cells would be run again."


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """How a study stands to its seal, and what its confirmatory claims came to."""

    sealed: bool
    """Whether there is a seal at all."""
    made: str | None
    """When the plan was sealed."""
    sha256: str | None
    """The seal's own checksum, to be compared with the published one."""
    deviations: tuple[Deviation, ...]
    """Every way in which the study is not what was sealed."""
    claims: tuple[ClaimResult, ...]
    """The claims that were named beforehand."""
    done: int
    """How many cells of the study are done."""
    rerun: tuple[RerunCell, ...] = ()
    """The cells that were run again, with what was reported and what came out."""
    chances: Chances | None = None
    """What reruns would catch; None where no cell is done."""
    draw: int | None = None
    """The number that the cells run again were drawn by."""
    foreseen: bool = False
    """Whether that number was given: who knew it beforehand knew which cells would be run again."""

    @property
    def state(self) -> str:
        """`not sealed`, `sealed` or `deviated`."""
        return "not sealed" if not self.sealed else "deviated" if self.deviations else "sealed"

    @property
    def sound(self) -> bool:
        """Whether nothing deviates, and every cell that was run again came out as reported."""
        return not self.deviations and all(cell.state in ("same", "within noise") for cell in self.rerun)

    def verdict(self) -> list[str]:
        """The answer in plain sentences, the most important first."""
        if not self.sealed:
            return ["This study has no sealed plan: everything in it is exploratory.", *self._rerun_sentences()]
        if not self.deviations:
            first = f"The study is what was sealed on {str(self.made)[:10]}."
        elif {deviation.kind for deviation in self.deviations} == {"unfinished"}:
            first = "So far the study is what was sealed, but it is not finished."
        else:
            first = f"The study deviates from its sealed plan in {count_of(len(self.deviations), 'point')}."
        return [
            first,
            *(deviation.sentence for deviation in self.deviations),
            *(f"Confirmatory: {claim}." for claim in self.claims),
            *self._rerun_sentences(),
            UNSEEN,
        ]

    def _rerun_sentences(self) -> list[str]:
        chances = self.chances
        if chances is None:
            return []
        altered = f"{percent(chances.share)} of its cells improved by {percent(chances.gain)}"
        if not self.rerun:
            enough = f"Rerunning {chances.needed or self.done} of the {count_of(self.done, 'done cell')}"
            hidden = f"If those cells were chosen to look ordinary, it would take {chances.needed_hidden}."
            first = f"{enough} would catch a study with {altered} with a chance of {percent(chances.level)}."
            return [first] if chances.needed == chances.needed_hidden else [first, hidden]
        states = Counter(cell.state for cell in self.rerun)
        wrong = [cell for cell in self.rerun if cell.state in ("differs", "failed")]
        seeds = len({cell.seed for cell in self.rerun}) > 1
        return [
            f"Of {count_of(len(self.rerun), 'cell')} run again, {states['same']} came out the same, "
            f"{states['within noise']} within noise, and {len(wrong)} did not.",
            *(
                f"{cell.algorithm} on {cell.dataset}{f' with seed {cell.seed}' if seeds else ''}: "
                f"reported {cell.reported:.4g}, "
                + ("failed this time." if cell.again is None else f"now {cell.again:.4g}.")
                for cell in wrong
            ),
            f"A study with {altered} would have been caught with a chance of {percent(chances.caught or 0.0)}, "
            f"and of {percent(chances.caught_hidden or 0.0)} if those cells were chosen to look ordinary.",
            f"The cells were drawn by the number {self.draw}; `--draw {self.draw}` draws them again.",
            *([FORESEEN] if self.foreseen else []),
        ]

    def to_frame(self) -> pl.DataFrame:
        """One row per deviation: kind, sentence."""
        rows = [(deviation.kind, deviation.sentence) for deviation in self.deviations]
        return pl.DataFrame(rows, schema={"kind": pl.String, "sentence": pl.String}, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """`state`, `made`, `sha256`, `deviations`, `claims`, `rerun`, `chances`, `draw` and `foreseen`."""
        return {
            **stated(self, "state", "made", "sha256", "deviations", "claims"),
            "rerun": [{**asdict(cell), "state": cell.state} for cell in self.rerun],
            "chances": None if self.chances is None else asdict(self.chances),
            **stated(self, "draw", "foreseen"),
        }


@checked
def verify(
    study: str | Path,
    *,
    seal: str | Path | None = None,
    metric: str | None = None,
    rerun: int = 0,
    base: Annotated[str | Path, Advanced] = ".",
    workers: int | None = None,
    draw: Annotated[int | None, Advanced] = None,
    progress: Progress | None = None,
) -> VerifyResult:
    """Check a study against its sealed plan, or by running some of its cells again.

    Every deviation is stated in plain words, and what the named claims came to. Without a seal, cells can still be run
    again: half of them drawn at random, half the most surprisingly good results.

    Args:
        study: the folder of a study.
        seal: the seal; by default `seal.json` in the folder. Compare its checksum with the published one.
        metric: the metric that the results were analysed with, where it is not the sealed one.
        rerun: how many done cells to run again, from the raw data, in a folder of their own.
        base: the folder that relative paths of the study start from.
        workers: processes for the reruns; by default one per core.
        draw: the number that the cells are drawn by. Without one the system draws it, so that nobody knows beforehand
            which cells are safe to alter; the answer tells it, and others can repeat it.
        progress: called with every event of the reruns.
    """
    folder = Path(study)
    file = folder / FILE if seal is None else Path(seal)
    if file.exists() and not Store.begun(folder):
        raise UsageError("the plan is sealed, but the study has not been run", where=str(folder), fix="run it first")
    with Store.open(folder) as store:
        cells = [cell for cell in store.cells(damaged=True) if cell.status == "done"]
    foreseen, again = draw is not None, tuple[RerunCell, ...]()
    likely: Chances | None = None
    specs = [spec for cell in cells if (spec := stored_spec(cell)) is not None]
    if specs:
        tuned = specs[0].tuning.metric
        label = find_label(metric or tuned, list(dict.fromkeys(name for cell in cells for name in cell.metrics)))
        origin = str(Path(base).resolve())
        if rerun:
            draw = secrets.randbelow(10**9) if draw is None else draw
            again = tuple(
                rerun_cells(folder, rerun, base=origin, metric=label, seed=draw, workers=workers, progress=progress)
            )
        if with_value(cells, label):
            likely = chances(cells, label, again)
    content = read_seal(file) if seal is not None or file.exists() else {}
    return VerifyResult(
        bool(content),
        content.get("made"),
        content.get("sha256"),
        tuple(deviations(folder, content, {} if metric is None else {"metric": metric})) if content else (),
        tuple(_tested(folder, content)) if content else (),
        len(cells),
        again,
        likely,
        draw if again else None,
        bool(again) and foreseen,
    )


def _tested(folder: Path, seal: dict[str, Any]) -> list[ClaimResult]:
    """The claims of a seal on the results; those of one algorithm against others are adjusted for its pairs alone."""
    texts, analysis = seal["claims"], seal["analysis"]
    if not texts:
        return []
    try:
        matrix = load_results(folder).matrix(analysis["metric"], missing="drop-datasets")
        claims = [parse_claim(text, matrix.algorithms) for text in texts]
        heads = {claim.better for claim in claims}
        verdict = judge(matrix, control=heads.pop() if len(heads) == 1 else None, alpha=analysis["alpha"])
    except RecAssayError as error:  # the deviations say what is wrong with the study; this is what follows from it
        return [ClaimResult(text, None, reason=error.what) for text in texts]
    p = {frozenset((pair.a, pair.b)): pair.p for pair in verdict.pairs}
    return [
        ClaimResult(str(claim), standing(claim, verdict), p.get(frozenset((claim.better, claim.worse or ""))))
        for claim in claims
    ]
