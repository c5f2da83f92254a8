"""Sections are found by the word of an analysis or by a plugin's entry point; a plugin's that fails costs no report."""

from __future__ import annotations

import itertools
import json
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

import recassay
from recassay.api.publish.content import tell
from recassay.core.errors import UsageError
from recassay.core.tables.results import Results
from recassay.reporting import telling
from recassay.reporting.figures import Figures, _best_first, _fits
from recassay.reporting.section import PARTS, Brief, Figure, Section, Table
from recassay.reporting.telling import own_sections, sections, sections_of
from recassay.testing.results import synthetic_results
from support.charts import rows_of, says
from support.plugin import FAILING, FAILING_ANALYSES, SOUND, install


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "results.csv"
    synthetic_results(5, seeds=1).write_csv(path)
    return path


@pytest.fixture(scope="module")
def analysed():
    """Every kind of result that a bare table gives."""
    return recassay.analyze(Results.from_frame(synthetic_results(5)), replicates=100).analyses


@pytest.mark.slow
def test_ours_come_through_the_door_in_reading_order(analysed):
    found, problems = sections()
    assert problems == {}
    assert {section.title for section in found} >= {
        "Under every aggregation",
        "Differences over {datasets}",
        "Tournament",
    }
    places = [(PARTS.index(section.part), section.order) for section in found]
    assert places == sorted(places)
    assert all(before != after for before, after in itertools.pairwise(places)), "two sections share a place"
    assert {type(result) for result in analysed.values()} <= {section.of for section in found}
    assert all(sections_of(result) for result in analysed.values())


def test_a_result_that_builds_on_one_of_ours_is_told_by_its_section(analysed):
    result = analysed["rank"]
    kind = type("Own", (type(result),), {"__module__": "a_plugin"})
    own = kind(**{field.name: getattr(result, field.name) for field in fields(result)})
    assert sections_of(own) == sections_of(result) != []


def test_a_section_stands_in_the_file_of_the_word_of_its_analysis():
    for name, section in own_sections().items():
        word = section.of.__module__.removeprefix("recassay.analysis.").partition(".")[0]
        assert name == word or name.startswith(f"{word}_"), name


def test_an_error_in_a_section_of_ours_is_raised(analysed, monkeypatch):
    def fails(result):
        raise ZeroDivisionError("a bug of ours")

    section = replace(own_sections()["rank"], sentences=fails, tables=fails)
    monkeypatch.setattr(telling, "_sections_of_word", lambda word: {word: section} if word == "rank" else {})
    for show in (repr, lambda result: result.verdict(), lambda result: result._repr_html_(), tell):
        with pytest.raises(ZeroDivisionError, match="a bug of ours"):
            show(analysed["rank"])


def test_a_notebook_tells_the_caution_and_the_next_step(analysed, monkeypatch):
    brief = Brief("It wins.", sentences=("By far.",), caution="few datasets", next_step="run more")
    section = replace(own_sections()["rank"], brief=lambda result: brief)
    monkeypatch.setattr(telling, "_sections_of_word", lambda word: {word: section} if word == "rank" else {})
    shown = analysed["rank"]._repr_html_()
    assert "<li>By far.</li><li>Caution: few datasets</li><li>Next: run more</li>" in shown


@pytest.mark.slow
def test_a_plugin_brings_an_analysis_its_section_and_its_picture(cli, table, tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, SOUND)
    ran = cli("analyze", table, "--metric", "ndcg@10", "--all", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "Average gives most joy." in ran.out
    assert "Not done" not in ran.out
    answer = json.loads((tmp_path / "out" / "analysis.json").read_text())
    assert answer["sentences"][-1] == "Average gives most joy."
    assert answer["analyses"]["joy"]["joy"]["Weak"] == 4
    assert (tmp_path / "out" / "figures" / "joy.pdf").stat().st_size > 1000
    page = (tmp_path / "out" / "report.html").read_text()
    part = page[page.index('id="beyond-accuracy"') :]
    assert part.index("<h3>Joy</h3>") < part.index('id="figure-joy"') < part.index("Joy by algorithm")
    for words in (
        "Which algorithm gives most joy?",
        "Joy counts letters.",
        "Source: Somebody 2031",
        '<span class="answer">Average gives most joy.</span>',
    ):
        assert words in page
    listed = {row["name"]: row["from"] for row in recassay.list_available("sections")}
    assert (listed["joy"], listed["rank"].split()[0]) == ("recassay-joy 1.0", "recassay")
    result = recassay.analyze(str(table), "ndcg@10", replicates=100).analyses["joy"]
    told = tell(result)
    assert (told.sentences, told.tables[0].rows[0]) == (("Average gives most joy.",), ("Average", "7"))
    assert "<strong>Average gives most joy.</strong>" in result._repr_html_()
    assert "<svg" in result._repr_html_()
    assert "<caption>Joy by algorithm</caption>" in result._repr_html_()


@pytest.mark.slow
def test_sections_that_fail_are_told_and_cost_nothing_else(cli, table, tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, FAILING)
    ran = cli("analyze", table, "--metric", "ndcg@10", "--all", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "Average gives most joy." in ran.out
    terminal = " ".join(ran.out.split())
    assert "joy: the sentences of the section 'Silent' failed with ZeroDivisionError: no joy at all." in terminal
    assert "absent: the section 'absent' cannot be loaded from recassay_joy.nowhere:SECTION" in terminal
    assert "words: what it announces is not a Section" in terminal
    page = (tmp_path / "out" / "report.html").read_text()
    for reason in (
        "the tables of the section &#x27;Empty&#x27; failed with ZeroDivisionError: no joy at all",
        "the figures of the section &#x27;Blind&#x27; failed with ZeroDivisionError: no joy at all",
        "the picture &#x27;unspecified&#x27; failed with RuntimeError: this chart has no specification",
        "the picture &#x27;undrawable&#x27; failed with",
        "the picture &#x27;leaderboard&#x27; has the name of another one",
        "the picture &#x27;lost&#x27; names a table that its result does not have: &#x27;sorrow&#x27;",
        "what should be a Figure is str",
    ):
        assert f'<p class="note">Not done: {reason}' in page
    assert page.count('id="figure-leaderboard"') == page.count('id="figure-joy"') == 1
    assert 'id="figure-second_joy"' in page
    identifiers = [piece.partition('"')[0] for piece in page.split(' id="')[1:]]
    assert len(identifiers) == len(set(identifiers))
    assert {p.stem for p in (tmp_path / "out" / "figures").glob("*.pdf")} >= {"joy", "second_joy", "leaderboard"}
    page = cli("analyze", table, "--metric", "ndcg@10", "--out", tmp_path / "one.html")
    assert page.code == 0, page.err
    assert "gives most joy" in (tmp_path / "one.html").read_text()
    result = recassay.analyze(str(table), "ndcg@10", replicates=100).analyses["joy"]
    failed = "Not done: the sentences of the section 'Silent' failed with ZeroDivisionError: no joy at all."
    assert result.verdict() == ["Average gives most joy.", failed]
    assert "the tables of the section &#x27;Empty&#x27; failed" in result._repr_html_()
    problems = recassay.doctor()["problems"]
    assert any("recassay_joy.nowhere:SECTION" in problem for problem in problems)


@pytest.mark.slow
def test_analyses_that_fail_are_told_and_cost_nothing_else(cli, table, tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, FAILING_ANALYSES)
    ran = cli("analyze", table, "--metric", "ndcg@10", "--all", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    terminal = " ".join(ran.out.split())
    reasons = {
        "sorrow": "it failed with FloatingPointError: sorrow has no bottom",
        "mute": "it failed with KeyError: 'no words'",
    }
    for name, reason in reasons.items():
        assert f"Not done: {name}: {reason}." in terminal
    answer = json.loads((tmp_path / "out" / "analysis.json").read_text())
    assert set(answer["analyses"]) == {"rank", "joy"}
    assert {name: answer["skipped"][name] for name in reasons} == reasons
    assert "cannot be loaded from recassay_joy.nowhere" in answer["skipped"]["gone"]
    assert "Average gives most joy." in answer["sentences"]
    assert cli("analyze", table, "--metric", "ndcg@10", "--out", tmp_path / "one.html").code == 0
    page = (tmp_path / "one.html").read_text()
    assert "sorrow</strong>: it failed with FloatingPointError: sorrow has no bottom" in page


def test_what_was_asked_wrongly_is_one_line_and_no_skipped_analysis(cli, table, tmp_path):
    wrong = tmp_path / "characteristics.csv"
    wrong.write_text("nothing\n1\n")
    for options, said in (
        (["--alpha", "2"], "--alpha is '2'; give a number between 0 and 1"),
        (["--characteristics", wrong], "characteristics.csv"),
    ):
        ran = cli("analyze", table, "--metric", "ndcg@10", *options)
        assert (ran.code, ran.out) == (2, "")
        assert said in " ".join(ran.err.split())


def test_a_section_says_what_it_cannot_be():
    with pytest.raises(ValueError, match="names no part of a report: 'joy'"):
        Section(int, "Joy", "joy", "joy", lambda result: [])
    with pytest.raises(ValueError, match="tells no type of result"):
        Section("int", "Joy", "cost", "joy", lambda result: [])
    with pytest.raises(ValueError, match="rows that do not fit its 2 columns"):
        Table("Joy", ["a", "b"], [["only one"]])
    assert Table("Joy", ["a", "b"], [[1, None]]).rows == (("1", ""),)


@pytest.mark.slow
def test_a_result_without_a_section_shows_its_main_table(analysed, monkeypatch):
    result = analysed["rank"]
    monkeypatch.setattr(telling, "_sections_of_word", lambda word: {})
    told = tell(result)
    assert told.sentences == ()
    assert told.tables[0].header[0] == result.to_frame().columns[0].replace("_", " ")
    assert len(told.tables[0].rows) == result.to_frame().height


def test_the_columns_of_a_table_say_how_a_record_writes_its_cell():
    columns = {
        "name": "{name}",
        "95 %": "{low:.2f} to {high:.2f}",
        "share": "{share:.1%}",
        "p": "{test.p:p}",
        "sure": "{sure}",
        "size": lambda record: record["share"] and 10 * record["share"],
    }
    whole = {"name": "A", "low": 0.123, "high": 1, "share": 0.5, "test": SimpleNamespace(p=0.0004), "sure": True}
    gaps = {"name": "B", "low": 0.1, "high": float("nan"), "share": None, "test": None, "sure": False}
    assert Table("", columns, [whole, gaps]).rows == (
        ("A", "0.12 to 1.00", "50.0 %", "< .001", "yes", "5.0"),
        ("B", "", "", "", "no", ""),
    )
    assert Table("", columns, []).header == tuple(columns)


def test_a_plugins_brief_or_leader_that_fails_is_told():
    section = Section(dict, "Joy", "datasets", "report", brief=lambda result: 1 / 0, leader=lambda result: 1 / 0)
    for what in ("brief", "leader"):
        not_done: list[str] = []
        assert not telling.ask(section, what, {}, not_done)
        assert not_done == [f"the {what} of the section 'Joy' failed with ZeroDivisionError: division by zero"]


DIRECTION = [
    "rule x=x x2=edge y=y(0..1) y2=row",
    "rule color=name x=x_low x2=x_high y=y(0..1)",
    "rule color=name x=x y=y_low y2=y_high",
    "circle color=name x=x y=y(0..1)",
    "text text=label x=edge y=row(0..1)",
    "rect x=low(0..1) x2=high",
    "line color=item strokeDash=item x=trait(0..1) y=expected(0..1)",
]
"""What both directions of beta-IRT draw."""
SAYS = {
    "forest": [
        "rule color='#687079'(if datum.could_be_best: '#0072b2') x=mean_rank_low(1..8) x2=mean_rank_high y=algorithm",
        "point fill='white'(if datum.could_be_best: '#0072b2') stroke='#687079'(if "
        "datum.could_be_best: '#0072b2') x=mean_rank(1..8) y=algorithm",
        "text opacity=0.65(if datum.could_be_best: 1.0) text=shown y=algorithm",
        "text opacity=0.65(if datum.could_be_best: 1.0) text=groups y=algorithm",
        "text opacity=0.65(if datum.could_be_best: 1.0) text=chance y=algorithm",
    ],
    "leaderboard": [
        "rect color=rank(reverse, 1..8) x=aggregation y=algorithm",
        "text color='#1a1e23'(if datum.rank <= 4.4: 'white') text=shown x=aggregation y=algorithm",
    ],
    "rank_intervals": [
        "rule color=algorithm x=rank_low(1..8) x2=rank_high y=algorithm",
        "circle color=algorithm x=rank(1..8) y=algorithm",
    ],
    "performance_profiles": [
        "line color=algorithm strokeDash=algorithm x=beta(1..3) y=share(0..1)",
    ],
    "metric_correlations": [
        "rect color=spearman(reverse, -1..1) x=other y=metric",
        "text color='#1a1e23'(if abs(datum.spearman) > 0.6: 'white') text=shown x=other y=metric",
    ],
    "ratings": [
        "rule color=algorithm x=low x2=high y=algorithm",
        "circle color=algorithm x=rating y=algorithm",
    ],
    "win_rates": [
        "rect color=share(0..1) x=column y=row",
        "text color='#1a1e23'(if datum.share > 0.6: 'white') text=shown x=column y=row",
    ],
    "critical_difference": [
        "rule x=x(1..8) x2=x2 y=y(reverse, 0..132) y2=y2",
        "rule x=x(1..8) x2=x2 y=y(reverse, 0..132)",
        "rule x=x(1..8) y=y(reverse, 0..132) y2=y2",
        "text text=label x=x(1..8) y=y(reverse, 0..132) [(datum.x - 1) % ceil(126 / width) == 0]",
        "text text=label x=x(1..8) y=y(reverse, 0..132)",
    ],
    "pairs": [
        "rect color=standing x=column y=row",
        "text color='#1a1e23'(if datum.standing == 'row better': 'white') text=shown x=column y=row",
    ],
    "model_probabilities": [
        "bar color=algorithm x=probability(0..1) y=algorithm",
    ],
    "model_beats": [
        "rect color=probability(reverse, 0..1) x=column y=row",
        "text color='#1a1e23'(if datum.probability < 0.15 || datum.probability > 0.85: 'white') text=shown x=column "
        "y=row",
    ],
    "stress_conclusions": [
        "rect color=share(0..1) x=when y=label",
        "text color='#1a1e23'(if datum.share > 0.55: 'white') text=shown x=when y=label",
    ],
    "stress_signs": [
        "rect color=sign x=aggregation y=property",
        "text color='#1a1e23' text=shown x=aggregation y=property",
    ],
    "stress_datasets": [
        "line detail=aggregation x=x(0..3) y=rho(0..1) [datum.aggregation !== one]",
        "area x=x(0..3) y=low y2=high [datum.aggregation === one]",
        "line x=x(0..3) y=rho(0..1) [datum.aggregation === one]",
    ],
    "stress_algorithms": [
        "line detail=aggregation x=x(0..5) y=rho(0..1) [datum.aggregation !== one]",
        "area x=x(0..5) y=low y2=high [datum.aggregation === one]",
        "line x=x(0..5) y=rho(0..1) [datum.aggregation === one]",
    ],
    "stress_additions": [
        "line color=title strokeDash=title x=x y=rho",
        "line color=title strokeDash=title x=x y=rho(0..1)",
    ],
    "irt_traits": [
        "rule x=low(0..1) x2=high y=name",
        "circle x=estimate(0..1) y=name",
    ],
    "irt_datasets": DIRECTION,
    "irt_algorithms": DIRECTION,
    "glicko_ranks": [
        "line color=algorithm strokeDash=algorithm x=period(1..5) y=rank(reverse, 0.5..8.5)",
        "text color='#1b1f24' text=label x=period(1..5) y=rank(reverse, 0.5..8.5)",
    ],
    "glicko_ratings": [
        "rule x=order_low x2=order_high y=algorithm",
        "rule color=algorithm x=low x2=high y=algorithm",
        "circle color=algorithm x=rating y=algorithm",
    ],
    "pareto": [
        "line order=x x=x y=y [datum.standing == one]",
        "point color=algorithm shape=algorithm x=x y=y [!(datum.standing == one)]",
        "point color=algorithm shape=algorithm x=x y=y [datum.standing == one]",
        "line order=x x=x(log, reverse) y=y [datum.standing == one]",
        "point color=algorithm shape=algorithm x=x(log, reverse) y=y [!(datum.standing == one)]",
        "point color=algorithm shape=algorithm x=x(log, reverse) y=y [datum.standing == one]",
    ],
    "per_dataset": [
        "rect color=share_of_best(0..1) x=dataset y=algorithm",
        "text color='#1a1e23'(if datum.share_of_best > 0.55: 'white') text=shown x=dataset y=algorithm",
    ],
    "per_dataset_intervals": [
        "rule color=algorithm x=low x2=high y=algorithm",
        "circle color=algorithm x=value y=algorithm",
    ],
    "cost_by_algorithm": [
        "rule x=least(log) x2=most y=algorithm",
        "rule x=lower_quartile(log) x2=upper_quartile y=algorithm",
        "circle x=median(log) y=algorithm",
    ],
    "cost_by_dataset": [
        "rule x=least(log) x2=most y=dataset",
        "rule x=lower_quartile(log) x2=upper_quartile y=dataset",
        "circle x=median(log) y=dataset",
    ],
}
"""By figure, which column decides which trait of its marks: see `support.charts.says`."""


@pytest.mark.parametrize("name", SAYS)
def test_what_each_chart_says(analysed, name):
    drawn = {figure.name: figure for result in analysed.values() for figure in telling.result_figures(result).values()}
    assert drawn.keys() == SAYS.keys()
    assert says(drawn[name].spec) == SAYS[name]


MADE_OTHERWISE = {"irt_datasets", "irt_algorithms", "ratings", "stress_signs"}
"""Figures with rows that are not those of their table: curves, open ends, other words."""


def test_the_rows_of_charts_are_those_of_the_tables(analysed):
    for result in analysed.values():
        for figure in telling.result_figures(result).values():
            table = result.frames()[figure.table].to_dicts()
            for row in itertools.chain.from_iterable(rows_of(figure.spec)):
                common = row.keys() & table[0].keys()
                stated = any(all(row[name] == other[name] for name in common) for other in table)
                assert stated or figure.name in MADE_OTHERWISE, (figure.name, row)


def test_the_numbers_written_into_cells_are_those_of_the_result(analysed):
    """Maps whose rows have names and numbers of their own."""

    def cells(result, name):
        rows = rows_of(telling.result_figures(analysed[result])[name].spec)[0]
        return {(row["row"], row["column"]): row for row in rows}

    rated, model, compared = analysed["ratings"], analysed["model"], analysed["compare"]
    names = rated.algorithms
    for (row, column), cell in cells("ratings", "win_rates").items():
        share = rated.win_rate[names.index(row), names.index(column)]
        assert (cell["share"], cell["shown"]) == (share, f"{share:.0%}")
    for (row, column), cell in cells("model", "model_beats").items():
        beats = model.beats()[model.algorithms.index(row), model.algorithms.index(column)]
        assert (cell["probability"], cell["shown"]) == (beats, f"{beats:.2f}")
    pairs = cells("compare", "pairs")
    order = list(compared.algorithms)
    for (row, column), cell in pairs.items():
        if order.index(row) < order.index(column):
            pair = compared.judgement.pair(row, column)
            words = {"better": "row better", "equivalent": "equivalent"}.get(pair.status, "not decided")
            assert (cell["standing"], cell["value"]) == (words, pair.p)
            assert cell["won-tied-lost"] == f"{pair.wins}-{pair.ties}-{pair.losses}"
        else:
            posterior = next(b for b in compared.bayesian if (b.left, b.right) == (column, row))
            assert (cell["value"], cell["won-tied-lost"]) == (posterior.p_right, "")
    assert len(pairs) == len(order) * (len(order) - 1)
    panels = rows_of(telling.result_figures(analysed["pareto"])["pareto"].spec)[::3]
    for trade, rows in zip(analysed["pareto"].trades, panels, strict=True):
        assert [row["algorithm"] for row in rows] == list(trade.algorithms)
        assert [row["x"] for row in rows] == trade.values.tolist()
        assert [row["y"] for row in rows] == trade.accuracy.tolist()
        assert [row["standing"] == "on the front" for row in rows] == [bool(on) for on in trade.front]
    best, first = rows_of(telling.result_figures(model)["model_probabilities"].spec)
    table = model.to_frame().to_dicts()
    assert [row["probability"] for row in best] == [row["probability_best"] for row in table]
    assert [row["probability"] for row in first] == [row["probability_first"] for row in table]


def test_the_parts_of_an_answer():
    first = Table("T", ["a"], [["x"]])
    assert telling._brief([], []) is None
    assert telling._brief([], [first]).headline == "T"
    brief = telling._brief(["A.", "B.", "C.", "D.", "E."], [first, Table("U", ["a"], [])])
    assert (brief.headline, brief.table, brief.sentences) == ("A.", first, ("B.", "C.", "D."))
    assert telling._brief(["A."], []).table is None
    drawn = telling._undrawn(Table("T", ["a", "b", "c"], [["x", "├●┤", "1"], ["y", "", "2"]], notes=["N."]))
    assert (drawn.header, drawn.rows, drawn.notes) == (("a", "c"), (("x", "1"), ("y", "2")), ("N.",))
    page = telling.answer_html(["a < b"], [Table("T", ["a"], [["<x>"]], notes=["n & m"])])
    assert page.startswith("<ul><li>a &lt; b</li></ul>")
    assert page.endswith("<p>n &amp; m</p>")
    assert telling.answer_html([], []) == ""
    assert telling.failure("it", ValueError("a\n  b")) == "it failed with ValueError: a b"
    whole = telling.Answer(("A.",), (), ("no luck",))
    assert whole._repr_html_() == "<ul><li>A.</li><li>Not done: no luck</li></ul>"


def test_an_answer_is_told_in_reading_order(analysed):
    given = {name: analysed[name] for name in ("glicko", "compare", "rank")}
    whole = telling.answer(given)
    assert [name for _, name, _ in telling.with_sections(given)] == ["rank", "compare", "glicko"]
    assert whole.sentences[0] == analysed["rank"].judgement.headline == whole.brief.headline
    assert telling.leaders(given) == {
        "rank": analysed["rank"].algorithms[analysed["rank"].order()[0]],
        "glicko": analysed["glicko"].algorithms[analysed["glicko"].order()[0]],
    }
    assert telling.result_headline(analysed["rank"]) == analysed["rank"].judgement.headline
    assert telling.result_headline(3) == ""
    told = telling.verdict(given)
    assert len(told) == len(set(told))


def test_the_first_section_that_has_a_brief_gives_it(analysed, monkeypatch):
    given = {name: analysed[name] for name in ("rank", "glicko")}
    own = own_sections()
    brief = Brief("It wins.")
    known = {"rank": {"rank": replace(own["rank"], brief=lambda result: None)},
             "glicko": {"glicko": replace(own["glicko"], brief=lambda result: brief)}}  # fmt: skip
    monkeypatch.setattr(telling, "_sections_of_word", lambda word: known.get(word, {}))
    assert telling.answer(given).brief is brief
    bare = replace(own["rank"], brief=lambda result: None, sentences=lambda result: [])
    known["rank"] = {"rank": bare}
    assert telling.answer({"rank": given["rank"]}).brief.headline.startswith("Ranks: ")
    assert telling.result_headline(given["rank"]) == "", "a title is not a headline"


def test_another_leader_is_named_after_the_verdict(analysed, monkeypatch):
    given = {name: analysed[name] for name in ("rank", "glicko")}
    own = analysed["rank"].algorithms[analysed["rank"].order()[0]]
    tournament = replace(own_sections()["glicko"], leader=lambda result: "Somebody")
    known = {"rank": {"rank": own_sections()["rank"]}, "glicko": {"glicko": tournament}}
    monkeypatch.setattr(telling, "_sections_of_word", lambda word: known.get(word, {}))
    sentence = f"Not every way to judge puts {own} first; others put there: Somebody (tournament)."
    told = telling.verdict(given)
    assert told[len(telling.result_sentences(given["rank"]))] == sentence
    known["glicko"] = {"glicko": replace(tournament, leader=lambda result: own)}
    assert not any("Not every way" in line for line in telling.verdict(given))


def test_pictures_need_a_name_and_a_table_of_their_own():
    taken, problems = {"a_b"}, []
    figures = [
        Figure("new", "C", None, "t"),
        Figure("a b", "C", None, "t"),
        Figure("other", "C", None, "nowhere"),
        "text",
    ]
    assert [_fits(figure, {"t"}, taken, problems) for figure in figures] == [True, False, False, False]
    assert taken == {"a_b", "new"}
    assert problems == [
        "the picture 'a b' has the name of another one",
        "the picture 'other' names a table that its result does not have: 'nowhere'",
        "what should be a Figure is str",
    ]
    listed = Figures(figures[:2])
    assert (listed["a b"], listed[0], listed.names) == (figures[1], figures[0], ["new", "a b"])
    with pytest.raises(UsageError, match="there is no figure 'nwe'"):
        listed["nwe"]


def test_the_best_of_many_are_those_of_the_verdict_or_of_the_first_order():
    verdict = SimpleNamespace(judgement=SimpleNamespace(algorithms=("b", "a")))
    ordered = SimpleNamespace(order=lambda: [1, 0], algorithms=("x", "y"))
    other = SimpleNamespace(order=[0], algorithms=("x", "y"))
    assert _best_first({"a": ordered, "b": verdict}) == ["b", "a"]
    assert _best_first({"c": other, "a": ordered}) == ["y", "x"], "an order of some is none"
    assert _best_first({"c": other}) == []
