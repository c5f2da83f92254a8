"""Tables made by chance, what every analysis says of them as data, and the check that no two statements contradict."""

from __future__ import annotations

import html
import inspect
import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import recassay
from recassay.analysis.users.result import UsersResult
from recassay.core.claims import ALL, COURT, Statement
from recassay.core.errors import RecAssayError
from recassay.reporting.claims import statements
from recassay.reporting.telling import ask, with_sections

METRICS = ("ndcg@10", "recall@20", "rmse", "hit_rate@5")
ADVICE = re.compile(r"recassay (\w+)")


@dataclass
class Drawn:
    """A table and how it is to be read."""

    frame: pl.DataFrame
    what: str
    options: dict[str, Any] = field(default_factory=dict)
    families: str | None = None


def draw_table(rng: np.random.Generator, *, small: bool = False) -> Drawn:
    """One table: its size, its kind of values and what is odd about it are drawn; `small`: at most 12 x 6."""
    n = int(rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40]))
    shares = [0.1] * 8 + [0.08, 0.06, 0.04, 0.02]
    k = int(rng.choice([2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 20, 40], p=shares))
    n, k = (min(n, 12), min(k, 6)) if small else (n, k)
    names = [f"A{a:02d}" for a in rng.permutation(k)]
    related = bool(rng.random() < 0.2)
    datasets = [f"Amazon {d}" if related and d % 2 else f"set{d:02d}" for d in range(n)]
    count = int(rng.integers(1, 5))
    seeds = int(rng.choice([1, 1, 1, 3]))
    odd = {name for name, share in (("ties", 0.2), ("gaps", 0.15), ("zeros", 0.1), ("copies", 0.15), ("users", 0.15))
           if rng.random() < share}  # fmt: skip
    rows: list[dict[str, Any]] = []
    skill = rng.normal(size=k) * rng.choice([0.0, 0.1, 0.3, 1.0])
    level = rng.normal(size=n) * rng.choice([0.1, 0.5, 1.0])
    n_users = int(rng.integers(20, 60)) if "users" in odd and n <= 8 and k <= 8 else 0
    for metric in METRICS[:count] if rng.random() < 0.8 else METRICS[2:3]:
        own = skill + 0.3 * rng.normal(size=k)
        score = own[:, None] + level + rng.choice([0.1, 0.5]) * rng.normal(size=(k, n))
        values = 1 / (1 + np.exp(-score)) if metric != "rmse" else np.exp(-score)
        if "ties" in odd:
            values = np.round(values, 1)
        if "zeros" in odd:
            values[rng.random((k, n)) < 0.05] = 0.0
        if "copies" in odd and k > 2:
            values[1] = values[0]
        for a in range(k):
            for d in range(n):
                if "gaps" in odd and rng.random() < 0.02 and metric == METRICS[0]:
                    continue
                row = {"algorithm": names[a], "dataset": datasets[d], "metric": metric}
                if n_users:
                    noise = rng.normal(size=n_users) * 0.1
                    rows += [
                        {**row, "user": f"u{u}", "value": float(np.clip(values[a, d] + noise[u], 0.001, 0.999))}
                        for u in range(n_users)
                    ]
                else:
                    rows += [{**row, "seed": s, "value": float(values[a, d] + (0.01 * rng.normal() if s else 0))}
                             for s in range(seeds)]  # fmt: skip
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if "seed" in frame.columns and seeds == 1:
        frame = frame.drop("seed")
    options: dict[str, Any] = {"metric": frame.get_column("metric")[0]}
    size = f"{k} algorithms, {n} datasets, {frame['metric'].n_unique()} metrics, {seeds} seeds"
    what = f"{size}, {', '.join(sorted(odd)) or 'plain'}"
    return Drawn(frame, what, options, "auto" if related and rng.random() < 0.5 else None)


def control_of(table: Drawn, rng: np.random.Generator) -> str:
    """An algorithm that is named beforehand."""
    return str(rng.choice(table.frame["algorithm"].unique().sort()))


def examine(table: Drawn, expensive: bool, rng: np.random.Generator) -> list[str]:
    """What contradicts in everything that is said of one table."""
    options = {**table.options, "missing": "worst" if rng.random() < 0.5 else "drop-datasets"}
    results: dict[str, Any] = {}
    results |= _asked("rank", table.frame, **options, replicates=100, families=table.families)
    results |= _asked("compare", table.frame, **options, draws=200, families=table.families)
    control = control_of(table, rng)
    named = _asked("compare", table.frame, **options, draws=200, control=control, families=table.families)
    results |= {f"{name} --control": result for name, result in named.items()}
    whole = table.frame.height == table.frame.drop_nulls().height and "gaps" not in table.what
    if expensive or rng.random() < 0.08:
        results |= _asked("model", table.frame, table.options["metric"])
    if "users" in table.what:
        results |= _asked("users", table.frame, table.options["metric"], replicates=100)
    if table.families is None and whole:
        results |= _asked("ratings", table.frame, **table.options, replicates=100)
        results |= _asked("plan", table.frame, **table.options) if "model" in results else {}
    if expensive and whole:
        results |= _asked("stress", table.frame, **table.options, draws=100)
        results |= (
            _asked("beta_irt", table.frame, **table.options, samples=200) if table.options["metric"] != "rmse" else {}
        )
        results |= _asked("glicko", table.frame, **table.options, orders=10)
        results |= _asked("multiverse", table.frame, permutations=50)
    return [
        *contradictions(statements(results)), *unnamed(results), *_advice(table, results), *_plans(results.get("plan"))
    ]  # fmt: skip


def _plans(plan: Any) -> Iterator[str]:
    """Ranges of numbers of datasets whose ends are turned, or that the number lies outside of."""
    for pair in plan.pairs if plan is not None else ():
        ends = [math.inf if number is None else number for number in (pair.span[0], pair.alone, pair.span[1])]
        if plan.difference is None and ends != sorted(ends):
            yield f"plan of {pair.left} and {pair.right}: {ends} are not in this order"


def analyzed(table: Drawn, control: str | None = None) -> list[str]:
    """The same of `analyze` with all its analyses, and of its sentences together; and what a notebook shows."""
    try:
        report = recassay.analyze(
            table.frame, table.options["metric"], missing="worst", replicates=100, control=control
        )
    except RecAssayError:
        return []
    failed = [f"{name} failed: {why}" for name, why in report.skipped.items() if "failed with" in why]
    ranked = report.analyses.get("rank")
    missing = ranked is not None and not _has(ranked._repr_html_(), report.judgement)
    shown = ["the notebook does not have the verdict's headline"] if missing else []
    return [*contradictions(statements(report.analyses)), *unnamed(report.analyses), *failed, *shown]


def published(table: Drawn, control: str | None = None) -> list[str]:
    """What contradicts in the folder of a report, in that of a paper, and in both beside `rank`: the claims that they
    state as data, the headline of the page and of the paper, and the sentences of the paper."""
    metric, options = table.options["metric"], {"missing": "worst", "replicates": 100}
    with tempfile.TemporaryDirectory() as folder:
        page, texts = Path(folder, "page"), Path(folder, "paper")
        try:
            ranked = recassay.rank(table.frame, metric, **options)
            report = recassay.analyze(table.frame, metric, out=page, formats=["svg"], control=control, **options)
            paper = recassay.paper(table.frame, metric, out=texts, control=control, **options)
        except RecAssayError:
            return []
        said = [*statements({"rank": ranked}), *stated_in(page), *stated_in(texts)]
        problems = [*contradictions(said), *foreign_words("paper", paper.sentences, court=True)]
        if not _has((page / "report.html").read_text(), report.judgement):
            problems.append("the page does not have the verdict's headline")
    if report.judgement is not None and paper.sentences[0] != report.judgement.headline:
        problems.append(f"the paper begins with {paper.sentences[0]!r}, the page with {report.judgement.headline!r}")
    return problems


def stated_in(folder: Path) -> list[Statement]:
    """The statements of a folder that was written."""
    file = folder / "claims.json"
    rows = json.loads(file.read_text())["claims"] if file.exists() else []
    numbers = [tuple(row["number"]) if isinstance(row["number"], list) else row["number"] for row in rows]
    return [Statement(**{**row, "number": number}) for row, number in zip(rows, numbers, strict=True)]


def _has(page: str, verdict: Any) -> bool:
    """Whether a page has the headline of the verdict, if there is one."""
    return verdict is None or verdict.headline in html.unescape(page).replace("\u00a0", " ")


def _asked(verb: str, *arguments: Any, **options: Any) -> dict[str, Any]:
    """The result of a verb by its name; nothing where it does not apply to the table."""
    function = getattr(recassay, verb)
    known = inspect.signature(function).parameters
    try:
        return {verb: function(*arguments, **{name: value for name, value in options.items() if name in known})}
    except RecAssayError:
        return {}


def _advice(table: Drawn, results: dict[str, Any]) -> list[str]:
    """Commands that are advised and fail on this table."""
    problems = []
    verdicts = [getattr(result, "judgement", None) for result in results.values()]
    steps = {verdict.next_step for verdict in verdicts if verdict is not None and verdict.next_step}
    for verb, step in sorted({(word, advice) for advice in steps for word in ADVICE.findall(advice)}):
        try:
            if verb == "analyze":  # it applies where the ranking does
                recassay.rank(table.frame, table.options["metric"], missing="worst", replicates=100)
            elif verb not in results:
                cheap = {"stress": {"draws": 100, "missing": "worst"}, "users": {"replicates": 100}}.get(verb, {})
                getattr(recassay, verb)(table.frame, table.options["metric"], **cheap)
        except RecAssayError as error:
            problems.append(f"advice that fails: {step!r}: {error}")
    return problems


def kind_of(problem: str) -> str:
    """A short name by which problems are counted."""
    for start, name in (
        ("advice", "advice"),
        (" says ", "words"),
        ("counts more", "counts"),
        ("is not", "counts"),
        (" failed:", "failed"),
        ("minimums", "minimum"),
        ("the page", "headline"),
        ("the notebook", "headline"),
        ("in this order", "order"),
    ):
        if start in problem:
            return name
    relation = re.search(r" (better|equivalent|undecided|could_be_best|leads|effect|p|interval|chance|count) ", problem)
    return relation[1] if relation else "other"


def contradictions(said: Iterable[Statement]) -> list[str]:
    """Every two statements that cannot both hold, in words; empty where there are none."""
    by_court: dict[tuple[str, str, str], list[Statement]] = defaultdict(list)
    for statement in dict.fromkeys(said):
        by_court[statement.procedure, statement.metric, statement.scope].append(statement)
    return [
        problem for own in by_court.values() for problem in (*_pairs(own), *_best(own), *_numbers(own), *_counts(own))
    ]


def told(statement: Statement) -> str:
    """A statement in a line."""
    value = "" if statement.number is None else f" = {_shown(statement.number)}"
    named = " ".join(filter(None, [statement.subject, statement.relation, statement.object]))
    return f"{named}{value} ({statement.procedure}; {statement.metric}, {statement.scope})"


def _pairs(said: Sequence[Statement]) -> Iterator[str]:
    """One pair with two statuses."""
    known: dict[frozenset[str | None], Statement] = {}
    for statement in said:
        if statement.relation in ("better", "equivalent", "undecided"):
            other = known.setdefault(frozenset({statement.subject, statement.object}), statement)
            turned = statement.relation == "better" and other.subject != statement.subject
            if other.relation != statement.relation or turned:
                yield f"{told(other)}, but {told(statement)}"


def _best(said: Sequence[Statement]) -> Iterator[str]:
    """Who could be best or leads and is shown to be behind; several who lead; a number of possible winners that is not
    that of those named."""
    behind = {s.object if s.relation == "better" else s.subject: s for s in said if s.relation in ("better", "behind")}
    leads = [statement for statement in said if statement.relation == "leads"]
    measured = [statement for statement in leads if statement.number is not None]
    for statement in said:
        court = statement.procedure.startswith(COURT) and statement.relation == "leads"
        if (statement.relation == "could_be_best" or court) and statement.subject in behind:
            yield f"{told(statement)}, but {told(behind[statement.subject])}"
    for statement in leads:
        first = (measured or leads)[0]
        if statement.number is None and statement.subject not in {other.subject for other in measured or leads[:1]}:
            yield f"{told(first)}, but {told(statement)}"
        if statement.number is not None and not _same(first.number, statement.number):
            yield f"{told(first)}, but {told(statement)}"
    could = [s for s in said if s.relation == "count" and s.subject == "could be best"]
    named = sum(statement.relation == "could_be_best" for statement in said)
    if could and could[0].number != named:
        yield f"{told(could[0])}, but {named} are named"


def _numbers(said: Sequence[Statement]) -> Iterator[str]:
    """Two numbers of one thing, effects outside their interval, probabilities that are none."""
    known: dict[tuple[str, str, str | None], Statement] = {}
    for statement in said:
        if statement.relation in ("effect", "p", "interval", "chance", "count"):
            other = known.setdefault((statement.subject, statement.relation, statement.object), statement)
            if not _same(other.number, statement.number):
                yield f"{told(other)}, but {told(statement)}"
        if statement.relation in ("chance", "p") and not -1e-9 <= _one(statement) <= 1 + 1e-9:
            yield f"{told(statement)} is not a probability"
    for (subject, relation, against), statement in known.items():
        effect = known.get((subject, "effect", against))
        if relation == "interval" and effect is not None and isinstance(statement.number, tuple):
            low, high = statement.number
            if not low - 1e-9 <= _one(effect) <= high + 1e-9:
                yield f"{told(effect)} lies outside {told(statement)}"


def _counts(said: Sequence[Statement]) -> Iterator[str]:
    """Counts that do not add up."""
    counts: dict[str | None, dict[str, Statement]] = defaultdict(dict)
    for statement in said:
        if statement.relation == "count":
            counts[statement.object][statement.subject] = statement
    for parts in counts.values():
        total = parts.pop(ALL, None)
        if total is not None and sum(map(_one, parts.values())) != total.number:
            yield f"{' + '.join(f'{_one(part):g} {name}' for name, part in parts.items())} is not {told(total)}"


def _one(statement: Statement) -> float:
    return statement.number if isinstance(statement.number, (int, float)) else math.nan


def _same(one: float | tuple[float, float] | None, other: float | tuple[float, float] | None) -> bool:
    """Equal, but for the last digits of a sum."""
    ends = [[math.nan if end is None else end for end in (x if isinstance(x, tuple) else (x,))] for x in (one, other)]
    return bool(len(ends[0]) == len(ends[1]) and np.allclose(*ends, rtol=1e-9, atol=1e-12, equal_nan=True))


def _shown(number: float | tuple[float, float]) -> str:
    return " to ".join(f"{end:.4g}" for end in (number if isinstance(number, tuple) else (number,)))


COURT_WORDS = re.compile(r"\b(?:better|beats?|leads|could be best|significant(?:ly)?|winner)\b")
"""Words that only the court may use without a name."""

NAMES = re.compile(
    r"hierarchical model|Bradley-Terry|Glicko|item response|beta-IRT|[123]PL|random effects|users of|instances of|"
    r"Wilcoxon|Friedman|Skillings|Nemenyi|universe|aggregation|popularity|every look|Pareto|ComPer|"
    r"higher is better|lower [^ ]+ is better|better than random subsets",
    re.IGNORECASE,
)
"""How witnesses are named in sentences, and what else is compared than algorithms."""

_PARTS = re.compile(r"\((\d+) of (\d+)\)")


def foreign_words(result_name: str, sentences: Iterable[str], *, court: bool) -> list[str]:
    """Sentences of a witness with a word of the court and no name; of all, those whose counts exceed their total."""
    problems = []
    for sentence in sentences:
        word = COURT_WORDS.search(sentence)
        if word and not court and not NAMES.search(sentence):
            problems.append(f"{result_name} says {word[0]!r} without its name: {sentence}")
        parts = [(int(some), int(every)) for some, every in _PARTS.findall(sentence)]
        many = len({every for _, every in parts}) == 1 and sum(some for some, _ in parts) > parts[0][1]
        if many and "ties count" not in sentence:
            problems.append(f"{result_name} counts more than there are: {sentence}")
    return problems


def _is_court(result: Any) -> bool:
    """The verdict; of a single dataset the tests over its users, beside which there is none."""
    return hasattr(result, "judgement") or (isinstance(result, UsersResult) and len(result.datasets) == 1)


def unnamed(results: Mapping[str, Any]) -> list[str]:
    """`foreign_words` of every result, and two minimums in all of them."""
    problems, least = [], set()
    for section, name, result in with_sections(results):
        sentences = ask(section, "sentences", result, [])
        problems += foreign_words(name, sentences, court=_is_court(result))
        least |= set(re.findall(r"(\d+) are the minimum", " ".join(sentences)))
    return [*problems, f"two minimums: {' and '.join(sorted(least))}"] if len(least) > 1 else problems
