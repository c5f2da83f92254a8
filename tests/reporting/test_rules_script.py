"""The page's script ranks as Python does, and tests nothing: the same numbers where Node.js is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import recassay.reporting
from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import RULES, DolanMore
from recassay.analysis.profiles import fit_profiles
from recassay.analysis.rank.result import rule_notes
from recassay.analysis.verdict.fit import judge
from recassay.core.tables.matrix import Matrix
from recassay.reporting.numbers import p_value

TEMPLATES = Path(recassay.reporting.__file__).parent / "templates"
SCRIPTS = ("theme.js", "ties.js", "rules.js", "leaderboard.js")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


def table() -> np.ndarray:
    """Six algorithms on nine datasets, with ties and a zero; the first is clearly best."""
    values = np.random.default_rng(7).uniform(0.01, 0.5, (6, 9))
    values[2, :3] = values[1, :3]
    values[4, 5] = 0.0
    values[0] += 0.5
    return values


GAPS = [[0.1, 0.4, None], [0.2, 0.5, 0.9], [0.3, None, 0.7]]
NUMBERS = [None, 3, 2.5, 0.123456, 12345.678, 1e6, 2e9, 1e-5, -1234.5678, 999999]
COLUMNS = [[0.12345, 12.5, None], [1.5, 2], [1, 2], [1e-9, 2e-9], [1234567.5], [0, 0.5]]

PROGRAM = """
const boardOf = (values, missing, more) => ({
  algorithms: values.map((_, a) => ({ name: `a${a}` })), datasets: values[0].map((_, d) => `d${d}`), missing,
  metrics: [{ label: "ndcg@10", up: true, values }, { label: "rmse", up: false, values }], ...given, ...more });
const judgedOf = (values) => {
  const data = boardOf(values, "worst");
  data.metrics[0].verdict = { enough: true, algorithms: ["a2", "a0", "a1", "a3", "a4", "a5"],
    datasets: data.datasets.slice(), groups: ["a", "a", "ab", "b", "c", "c"],
    could: [true, true, false, false, false, false],
    p: [null, 0.9, 0.04, 0.03, 0.02, 0.01], bars: [[0, 2], [2, 3], [4, 5]] };
  return data;
};
const every = (list) => list.map((_, i) => i);
const computed = (data, metric, rule, more) => {
  const answer = RecAssay.compute(data, { metric, rule: data.rules.findIndex((one) => one.name === rule),
    algorithms: every(data.algorithms), datasets: every(data.datasets), ...more });
  return answer;
};
const scored = (up) => {
  const contest = RecAssay.rules.contest(values, up);
  return Object.fromEntries(Object.entries(RecAssay.rules.SCORES).map(([name, score]) => [name, score(contest, 3)]));
};
const negative = values.map((row) => row.map((value) => -value));
const said = (words, text) => { RecAssay.words = words; return RecAssay.say(text); };
console.log(JSON.stringify({
  up: scored(true), down: scored(false),
  whole: [0, 1].map((metric) => computed(boardOf(values, "drop-datasets"), metric, "mean_rank")),
  ranks: Object.fromEntries([0, 1].map((metric) => [metric, Object.fromEntries(Object.keys(RecAssay.rules.SCORES).map(
    (rule) => [rule, computed(boardOf(values, "drop-datasets"), metric, rule).ranks]))])),
  gaps: Object.fromEntries(["drop-datasets", "drop-algorithms", "worst"].map((missing) =>
    [missing, [0, 1].map((metric) => computed(boardOf(gaps, missing), metric, "mean"))])),
  empty: computed(boardOf([[0.1, null], [0.2, null], [0.3, null]], "worst"), 0, "mean"),
  judged: computed(judgedOf(values), 0, "mean").verdict,
  own: [{ datasets: [0, 1, 2, 3] }, { algorithms: [0, 1] }].map((part) =>
    computed(judgedOf(values), 0, "mean", part).verdict),
  unknown: computed(judgedOf(values), 1, "mean").verdict,
  negative: computed(boardOf(negative, "worst"), 0, "dm_auc"),
  below: computed(boardOf(negative, "worst"), 0, "mean"),
  shown: numbers.map(RecAssay.shown),
  p: [0.0009, 0.001, 0.0344, 0.9994, 0.9995].map(RecAssay.shownP),
  even: columns.map((column) => column.map(RecAssay.even(column))),
  said: [said(undefined, "an algorithm, Datasets"), said({ algorithm: "model", dataset: "task" },
    "an algorithm on Datasets; subdatasets"), said({ algorithm: "agent", dataset: "task" }, "an algorithm, a dataset")],
}, (key, value) => (value === Infinity ? "infinite" : value)));
"""


@pytest.fixture(scope="module")
def answers():
    """What the script of the page computes, all in one go."""
    given = {"alpha": 0.05, "fewest": 5, "betaMax": 3, "rules": rule_notes()}
    data = {"values": table().tolist(), "gaps": GAPS, "numbers": NUMBERS, "columns": COLUMNS,
            "given": given}  # fmt: skip
    stated = "".join(f"const {name} = {json.dumps(value)};" for name, value in data.items())
    script = "".join((TEMPLATES / name).read_text() for name in SCRIPTS)
    program = f"{script}\n{stated}\n{PROGRAM}"
    ran = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(ran.stdout)


def test_the_script_has_exactly_the_rules_of_python() -> None:
    scores = re.search(r"const SCORES = \{\n(.*?)\n  \};", (TEMPLATES / "rules.js").read_text(), re.DOTALL)
    assert scores is not None
    assert sorted(re.findall(r"^    (\w+):", scores[1], re.MULTILINE)) == sorted(RULES)


@needs_node
@pytest.mark.parametrize("up", [True, False])
def test_the_script_gives_the_scores_of_python(answers, up) -> None:
    contest, weights = Contest(table()[None], higher_is_better=up), np.ones((1, 9))
    for name, scores in answers["up" if up else "down"].items():
        expected = RULES[name].score(contest, weights, DolanMore())[0]
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12, err_msg=name)
        best = max(expected) if RULES[name].higher_is_better(up) else min(expected)
        firsts = [a for a, score in enumerate(expected) if score == pytest.approx(best, rel=1e-9)]
        ranks = answers["ranks"]["0" if up else "1"][name]
        assert [a for a, rank in enumerate(ranks) if rank == min(ranks)] == firsts, name


@needs_node
@pytest.mark.parametrize("up", [True, False])
def test_the_script_gives_the_mean_ranks_and_profiles_of_python(answers, up) -> None:
    names = tuple(f"a{a}" for a in range(6))
    matrix = Matrix(table(), names, tuple(f"d{d}" for d in range(9)), "ndcg@10", up)
    verdict, answer = judge(matrix), answers["whole"][0 if up else 1]
    assert tuple(names[a] for a in answer["order"]) == verdict.algorithms
    np.testing.assert_allclose([answer["meanRanks"][a] for a in answer["order"]], verdict.mean_rank, rtol=1e-12)
    profiles = fit_profiles(matrix)
    np.testing.assert_allclose(answer["shares"], profiles.auc, rtol=1e-12)
    for a, name in enumerate(names):
        np.testing.assert_allclose(answer["profiles"][a], profiles.to_dict()["profiles"][name], rtol=1e-12)


@needs_node
def test_the_script_meets_gaps_negative_values_and_few_datasets_as_python_does(answers) -> None:
    kept = {missing: both[0] for missing, both in answers["gaps"].items()}
    assert kept["drop-datasets"]["dropped"] == ["d1", "d2"]
    assert kept["drop-datasets"]["problem"].startswith("A comparison needs at least two algorithms and two datasets")
    assert (kept["drop-algorithms"]["dropped"], kept["drop-algorithms"]["algorithms"]) == (["a0", "a2"], [1])
    assert kept["worst"]["values"] == [[0.1, 0.4, 0.7], [0.2, 0.5, 0.9], [0.3, 0.4, 0.7]]
    assert answers["gaps"]["worst"][1]["values"] == [[0.1, 0.4, 0.9], [0.2, 0.5, 0.9], [0.3, 0.5, 0.7]]
    assert kept["worst"]["scores"] == pytest.approx([0.4, 1.6 / 3, 1.4 / 3])
    assert kept["worst"]["ranks"] == [3, 1, 2]
    assert answers["gaps"]["worst"][1]["ranks"] == [1, 3, 2], "lower is better"
    assert [len(answer["holes"]) for answer in kept.values()] == [2, 2, 2]
    assert answers["empty"]["dropped"] == ["d1"], "where nobody has a value there is no worst one"
    assert answers["negative"]["problem"] == "DM AUC needs values of at least 0, and ndcg@10 has negative ones."
    assert "profiles" not in answers["below"]
    assert answers["below"]["ranks"][0] == 6


@needs_node
def test_what_python_judged_is_shown_of_its_selection_alone(answers) -> None:
    judged = answers["judged"]
    assert (judged["groups"], judged["enough"]) == (["a", "ab", "a", "b", "c", "c"], True)
    assert (judged["p"], judged["could"][:3]) == ([0.9, 0.04, None, 0.03, 0.02, 0.01], [True, False, True])
    assert judged["bars"] == [[2, 0, 1], [1, 3], [4, 5]]
    assert (answers["own"], answers["unknown"]) == ([None, None], None)


STATISTICS = re.compile(
    r"wilcoxon|holm|nemenyi|criticalDifference|signed.?rank|sign.?flip\w*\(|permut|gamma|quantile|\berf\b|pValue|"
    r"alpha\s*[<>]|[<>]=?\s*(?:data\.)?alpha", re.IGNORECASE,
)  # fmt: skip


@pytest.mark.parametrize(
    "path", sorted([*TEMPLATES.glob("*.js"), *TEMPLATES.glob("*.html")]), ids=lambda path: path.name
)
def test_the_script_has_no_statistics(path) -> None:
    """Ranks and profiles follow the reader's choice; what is shown to differ, Python alone decides."""
    assert STATISTICS.findall(path.read_text(encoding="utf-8")) == []


@needs_node
def test_the_script_writes_numbers_and_words_as_the_page_does(answers) -> None:
    assert answers["shown"] == ["", "3", "2.5", "0.1235", "12346", "1000000", "2.000e+9", "1.000e-5", "-1235", "999999"]
    assert answers["p"] == [p_value(p) for p in (0.0009, 0.001, 0.0344, 0.9994, 0.9995)]
    assert answers["even"] == [
        ["0.12", "12.50", ""], ["1.5", "2.0"], ["1", "2"], ["0.00000000", "0.00000000"], ["1234568"], ["0.0", "0.5"]
    ]  # fmt: skip
    assert answers["said"] == ["an algorithm, Datasets", "a model on Tasks; subdatasets", "an agent, a task"]
