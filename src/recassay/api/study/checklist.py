"""The verb `checklist`: the reproducibility questions of venues, answered from what a study recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from recassay.api.arguments import checked
from recassay.api.study.seal import verify
from recassay.core.errors import UsageError
from recassay.core.words import listing
from recassay.evidence.facts import study_facts
from recassay.store.sealed import manifest_study
from recassay.store.store import Store
from recassay.store.verification import verify_store

VENUES = ("RecSys", "ECIR", "TORS")


@dataclass(frozen=True, slots=True)
class ChecklistAnswer:
    """A question of a checklist, what the study says, and where that is recorded."""

    topic: str
    """What the question is about: `Data`, `Methods`, `Evaluation`, `Computing` or `Writing`."""
    question: str
    """The question."""
    answer: Literal["yes", "no", "open"]
    """`open`: the study cannot know; the authors answer it."""
    evidence: str
    """What was recorded and where, or what is left to say."""


@dataclass(frozen=True, slots=True)
class ChecklistResult:
    """Reproducibility questions with the answers that a study's own records give."""

    study: str
    """The name of the study."""
    answers: tuple[ChecklistAnswer, ...]
    """Every question with its answer and evidence."""

    def verdict(self) -> list[str]:
        """The answer in plain sentences."""
        answered = [answer for answer in self.answers if answer.answer != "open"]
        no = [answer.question for answer in self.answers if answer.answer == "no"]
        return [
            f"{len(answered)} of {len(self.answers)} questions are answered by the study's own records; "
            f"{len(self.answers) - len(answered)} are left to you.",
            *(f"No: {question}" for question in no),
            f"The questions are those of {listing(VENUES, last='and')} in our words: check the form of the year.",
        ]

    def to_frame(self) -> pl.DataFrame:
        """One row per question: topic, question, answer, evidence."""
        return pl.DataFrame([asdict(answer) for answer in self.answers])

    def to_dict(self) -> dict[str, Any]:
        """`study` and `answers`."""
        return {"study": self.study, "answers": self.to_frame().to_dicts()}

    def to_markdown(self) -> str:
        """The checklist for an appendix or a repository."""
        lines = [f"# Reproducibility checklist: {self.study}", ""]
        for topic in dict.fromkeys(answer.topic for answer in self.answers):
            lines += [f"## {topic}", ""]
            lines += [
                f"- **{answer.question}** {answer.answer}. {answer.evidence}"
                for answer in self.answers
                if answer.topic == topic
            ]
            lines.append("")
        return "\n".join(lines)


@checked
def checklist(study: str | Path) -> ChecklistResult:
    """The reproducibility questions of RecSys, ECIR and TORS, answered from the records of a study.

    Args:
        study: the folder of a study.
    """
    folder = Path(study)
    with Store.open(folder) as store:
        manifest, status, cells = store.manifest(), store.status(), store.cells()
        verified = verify_store(store)
    if "classifiers" in manifest:
        raise UsageError("is a study of classifiers", where=str(folder), fix="the checklist asks about recommenders")
    spec, versions, machine = manifest_study(manifest, folder), manifest.get("versions"), manifest.get("machine") or {}
    python, ours = ((versions or {}).get(name, "unknown") for name in ("python", "recassay"))
    protocol, memory, gpu = spec.protocol, machine.get("memory_bytes"), machine.get("gpu") or "none"
    threshold = "none" if protocol.positive_threshold is None else protocol.positive_threshold
    facts = study_facts(folder)
    leaks = [f"{finding.dataset}: {finding.sentence}" for finding in facts.findings if finding.leak]
    from_files = [part.name for part in spec.algorithms if ".py:" in part.reference or "/" in part.reference]
    hours = sum(cell.seconds or 0.0 for cell in cells) / 3600
    sealed = verify(folder)
    failed = f"{len(status.failed)} failed, {len(status.to_go)} were not run"

    rows: list[tuple[str, str, bool | None, str]] = [
        ("Data", "Are all datasets named and identified?", True,
         f"{len(spec.datasets)} datasets, each with the hash of its content (manifest.json, datasets)."),
        ("Data", "Are the datasets available to others, and does their licence allow it?", None,
         "State source and licence of each; the catalogue knows those of public datasets."),
        ("Data", "Is the preprocessing described?", True,
         f"filter {protocol.filter}, at least {protocol.min_user_interactions} events per user and "
         f"{protocol.min_item_interactions} per item, threshold {threshold}."),
        ("Data", "Is the split described and repeatable?", True,
         f"{protocol.split}, ratios {list(protocol.ratios)}, seed {protocol.seed}; the folder splits has it."),
        ("Data", "Is the split free of leakage?", not leaks,
         listing(leaks, most=3) or "The audit of every split found none."),
        ("Methods", "Are all algorithms identified by version?", True,
         f"{len(spec.algorithms)} algorithms, each with the hash of its code (manifest.json, algorithms)."),
        ("Methods", "Is the code of new methods available?", None if from_files else True,
         f"Publish the files of {listing(from_files)}." if from_files else "All algorithms come with RecAssay."),
        ("Methods", "Were baselines tuned with the same budget as the proposal?", not facts.untuned,
         f"{spec.tuning.trials} trials per algorithm and dataset, judged by {spec.tuning.metric} on the validation part"
         + (f"; not tuned: {listing(facts.untuned)}." if facts.untuned else ".")),
        ("Methods", "Are search spaces and chosen parameters reported?", True,
         "RecAssay lists the search spaces of its algorithms, and the results hold the parameters of every cell."),
        ("Evaluation", "Are metrics defined?", True,
         f"{listing(spec.metrics, most=None)}, each with its convention (manifest.json, metrics)."),
        ("Evaluation", "Were all items ranked, without sampled candidates?", True, "Lists are over the catalogue."),
        ("Evaluation", "Are results reported over several seeds?", len(spec.seeds) > 1,
         f"Seeds: {listing(spec.seeds, most=None)}."),
        ("Evaluation", "Are all planned results reported, failures included?", status.done == status.planned,
         f"{status.done} of {status.planned} cells are done; {failed}."),
        ("Evaluation", "Is significance tested with a correction for many comparisons?", True,
         "All pairs by flipped signs, adjusted; the paragraph of a paper says so."),
        ("Evaluation", "Was the plan registered before the results?", sealed.state == "sealed",
         sealed.verdict()[0]),
        ("Computing", "Is the computing environment described?", True,
         f"Python {python}, RecAssay {ours}, {machine.get('cores')} cores, "
         f"{'an unknown number of' if memory is None else f'{memory / 1e9:.0f}'} GB, GPU {gpu}."),
        ("Computing", "Is the cost reported?", True, f"{hours:.2f} hours over all cells, and per cell."),
        ("Computing", "Can the numbers be checked?", not verified.damaged and not verified.unverified,
         f"{verified.cells} cells and {verified.splits} splits are held against checksums; "
         f"{len(verified.damaged)} are damaged."),
        ("Writing", "Are limits of the data and of the study discussed?", None, "For the authors to answer."),
        ("Writing", "Are ethical questions discussed?", None, "For the authors to answer."),
    ]  # fmt: skip

    words = {True: "yes", False: "no", None: "open"}
    answers = [ChecklistAnswer(topic, question, words[known], evidence) for topic, question, known, evidence in rows]  # type: ignore[arg-type]
    return ChecklistResult(spec.name, tuple(answers))
