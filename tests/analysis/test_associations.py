"""Characteristics and performance: definitions, what chance shows, and Figure 7 of KDD'24."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import mutual_info_score

import recassay
from recassay.analysis.associations import ANALYSIS, AVERAGE, _standard, correlate_characteristics
from recassay.analysis.clusters.fit import ANALYSIS as CLUSTERS
from recassay.analysis.inference.bootstrap import intervals
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.matrix import Matrix
from recassay.data.tables.characteristics import read_characteristics
from recassay.reporting.sections.associations import SECTION
from support.benchmarks import NAMES, benchmark, characteristics, fading, long_frame
from support.tables import printed_table


def test_every_number_is_its_definition():
    table, matrix = characteristics(12), benchmark(fading(4, 12))
    result = correlate_characteristics(matrix, table, permutations=50, bins=3, spacing="width")
    for i in range(4):
        for j in range(len(NAMES)):
            x, y = table.values[:, j], matrix.values[i]
            assert result.values["pearson"][i, j] == pytest.approx(stats.pearsonr(x, y)[0])
            assert result.values["spearman"][i, j] == pytest.approx(stats.spearmanr(x, y)[0])
            classes = [np.digitize(v, np.histogram_bin_edges(v, 3)[1:-1]) for v in (x, y)]
            assert result.values["mutual_information"][i, j] == pytest.approx(mutual_info_score(*classes), abs=1e-12)
    for values in result.values.values():
        assert values[-1] == pytest.approx(values[:-1].mean(axis=0))


def test_intervals_have_the_level_that_was_asked_for():
    table, matrix = characteristics(20), benchmark(np.random.default_rng(3).random((3, 20)))
    result = correlate_characteristics(matrix, table, permutations=2000, alpha=0.2)
    drawn = np.random.default_rng(4).integers(0, 20, (2000, 20))
    x, y = table.values[:, 2][drawn], matrix.values[1][drawn]
    x, y = (part - part.mean(axis=1, keepdims=True) for part in (x, y))
    sampled = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    assert result.interval["pearson"][1, 2] == pytest.approx(intervals(sampled[:, None], 20, 0.8)[0], abs=0.03)


def test_a_true_association_is_found_and_nothing_else():
    table = characteristics(30)
    signal = np.log(table.values[:, 2])
    rng = np.random.default_rng(1)
    matrix = benchmark(1 / (1 + np.exp(-(signal + 0.3 * rng.normal(size=(4, 30))))))
    result = correlate_characteristics(matrix, table, permutations=500)
    for measure in ("spearman", "mutual_information"):
        found = result.p_adjusted[measure] < 0.05
        assert found[:, 2].all()
        assert not np.delete(found, 2, axis=1).any()
    low, high = result.interval["spearman"][0, 2]
    assert 0.5 < low < result.values["spearman"][0, 2] < high <= 1


def test_chance_rarely_passes_the_correction():
    passed = []
    for seed in range(40):
        noise = np.random.default_rng(100 + seed).random((5, 15))
        result = correlate_characteristics(benchmark(noise), characteristics(15, seed), permutations=100)
        passed.append((result.p_adjusted["spearman"][:-1] < 0.05).any())
    assert np.mean(passed) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    assert result.chance["mutual_information"].min() > 0.02
    assert np.abs(result.chance["spearman"]).max() < 0.1


def test_what_cannot_be_correlated_is_left_out_and_named():
    table = characteristics(8)
    values = table.values.copy()
    values[:, 0] = 3.0
    values[2, 1] = np.nan
    result = correlate_characteristics(benchmark(fading(3, 8)), replace(table, values=values), permutations=20)
    assert result.dropped == {"Ni": "not known of every dataset", "Nu": "the same for every dataset"}
    assert result.characteristics == NAMES[2:]
    told = result.to_dict()
    assert (told["dropped"], told["datasets"], told["metric"]) == (result.dropped, 8, result.metric)
    assert (told["averaged"], told["settings"]) == (list(result.averaged), {"permutations": 20, "alpha": 0.05})
    with pytest.raises(NotApplicableError, match="4 datasets say nothing"):
        correlate_characteristics(benchmark(fading(3, 4)), table)
    five = correlate_characteristics(benchmark(fading(3, 5)), characteristics(5), permutations=20)
    assert (five.n_datasets, five.permutations, five.alpha) == (5, 20, 0.05)
    with pytest.raises(InputError, match="no characteristic is known of every dataset"):
        correlate_characteristics(benchmark(fading(3, 8)), replace(table, values=np.ones((8, 5))))


def test_figure_7_of_the_paper(kdd24):
    result = recassay.associations(kdd24, "ndcg@10", characteristics=kdd24)
    assert "Random" not in result.averaged
    assert "MostPop" not in result.averaged
    sure = {n for n, p in zip(result.characteristics, result.p_adjusted["spearman"][-1], strict=True) if p < 0.05}
    assert {"APB", "StPB", "Density"} <= sure
    assert not {"Nu", "Nr", "Giniu", "LTsk"} & sure


def test_the_mutual_information_of_figure_7_is_mostly_chance(kdd24):
    table = recassay.load_characteristics(kdd24)
    matrix = recassay.load_results(kdd24).matrix("ndcg@10")
    fine = correlate_characteristics(matrix, table, permutations=60, bins=20, spacing="width")
    told = printed_table("kdd24", "Figure 7")
    printed = np.array([float(told[name, "mutual_information"]) for name in fine.characteristics])
    place = list(range(len(printed)))
    mine, chance = (part["mutual_information"][-1, place] for part in (fine.values, fine.chance))
    assert np.corrcoef(mine, printed)[0, 1] > 0.85
    assert np.corrcoef(chance, printed)[0, 1] > 0.8
    assert (mine - chance).mean() < 0.25 * printed.mean()


def test_the_same_seed_the_same_numbers_and_plain_json():
    table, matrix = characteristics(9), benchmark(fading(3, 9))
    one, two = (correlate_characteristics(matrix, table, permutations=30, seed=5) for _ in range(2))
    assert one.to_frame().equals(two.to_frame())
    cell = one.to_dict()["associations"]["spearman"]["a00"]["Density"]
    assert set(cell) == {"estimate", "interval", "chance", "p", "p_adjusted"}
    assert one.to_dict()["associations"]["mutual_information"][AVERAGE]["Nu"]["interval"] is None


def test_tables_of_characteristics(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("Dataset,Nu,note,Density\nA-1,10,fine,0.5\nb 2,20,odd,\n")
    table = read_characteristics(path)
    assert table.names == ("Nu", "Density")
    assert table.aligned(["b_2", "a1"]).values[:, 0].tolist() == [20, 10]
    assert np.isnan(table.values[1, 1])
    assert read_characteristics(table.to_frame()).datasets == ("A-1", "b 2")
    for text, message in (
        ("dataset,Nu\na,1\na,2\n", "the dataset 'a' appears twice"),
        ("dataset,Nu\n,1\n", "data row 1 names no dataset"),
        ("dataset,Nu\na,1\nb,many\n", "column 'Nu' holds 'many' in data row 2"),
        ("dataset,what\na,x\nb,y\n", "no column holds numbers"),
        ("dataset\na\n", "needs datasets and numbers"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_characteristics(path)


def test_characteristics_of_other_datasets_are_one_clear_line(cli, tmp_path):
    long_frame(benchmark(fading(4, 8))).write_csv(tmp_path / "results.csv")
    others = pl.DataFrame({"dataset": [f"x{i}" for i in range(8)], "Nu": range(8)})
    others.write_csv(tmp_path / "c.csv")
    for command in (["analyze"], ["select", "-k", "3"]):
        ran = cli(*command, tmp_path / "results.csv", "--characteristics", tmp_path / "c.csv")
        assert ran.code == 2
        assert len(ran.complaints) == 1
        assert "none of the 8 datasets of the results have characteristics; missing: d00, d01" in ran.err
        assert "named there: x0" in ran.err
    table = CharacteristicsTable(np.zeros((1, 1)), ("d00",), ("Nu",), "c.csv")
    with pytest.raises(InputError, match=r"c\.csv: only 1 of the 2 datasets.*missing: d01"):
        table.aligned(["d00", "d01"])


def test_a_picture_that_could_tell_nothing_is_not_drawn():
    rng = np.random.default_rng(2)
    few = correlate_characteristics(benchmark(rng.uniform(size=(4, 6))), characteristics(6), permutations=100)
    assert SECTION.figures(few) == []
    assert SECTION.sentences(few)[0].startswith("No characteristic")
    many = correlate_characteristics(benchmark(rng.uniform(size=(4, 12))), characteristics(12), permutations=100)
    drawn = [figure.name for figure in SECTION.figures(many)]
    assert drawn == ["characteristics_and_performance", "mutual_information"]


def test_p_values_count_the_permutations_that_reach_as_far():
    """The average over the personalised algorithms is judged among its own row, the algorithms among theirs."""
    table = characteristics(9)
    matrix = Matrix(np.random.default_rng(3).random((3, 9)), ("A", "MostPop", "B"), table.datasets, "ndcg@10", True)
    found = correlate_characteristics(matrix, table, permutations=99, seed=2)
    assert found.averaged == ("A", "B")
    permuted = derived_rng(2, "metadata", "ndcg@10").permuted(np.tile(np.arange(9), (99, 1)), axis=1)
    ranks = [stats.rankdata(part, axis=0) for part in (table.values, matrix.values.T)]

    def rho(order):
        own = np.corrcoef(ranks[0][order].T, ranks[1].T)[5:, :5]
        return np.vstack([own, own[[0, 2]].mean(axis=0)])

    observed, null = np.abs(rho(np.arange(9))), np.abs([rho(order) for order in permuted])
    reach = observed - 1e-9
    assert found.p["spearman"] == pytest.approx((1 + (null >= reach).sum(axis=0)) / 100)
    assert found.chance["spearman"] == pytest.approx(np.mean([rho(order) for order in permuted], axis=0))
    largest = [null[:, :3].max(axis=(1, 2)), null[:, 3].max(axis=1)]
    for row in range(4):
        for j in range(5):
            reached = (largest[row == 3] >= reach[row, j]).sum()
            assert found.p_adjusted["spearman"][row, j] == pytest.approx((1 + reached) / 100)
    only = correlate_characteristics(
        Matrix(matrix.values[:2], ("Random", "Pop"), matrix.datasets, "ndcg@10", True), table, permutations=20
    )
    assert only.averaged == ("Random", "Pop"), "without any personalised one, all count"


def test_a_value_on_the_edge_of_a_class_belongs_to_the_upper_one():
    table = replace(characteristics(8), values=np.tile([[0.0], [1.0], [2.0], [3.0]], (2, 5)))
    y = np.array([[0.1, 0.2, 0.2, 0.9, 0.1, 0.3, 0.2, 0.9], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]])
    found = correlate_characteristics(benchmark(y), table, permutations=5, bins=3, spacing="width")
    classes = np.array([0, 1, 2, 2] * 2), np.digitize(y[0], np.histogram_bin_edges(y[0], 3)[1:-1])
    assert found.values["mutual_information"][0, 0] == pytest.approx(mutual_info_score(*classes), abs=1e-12)


@pytest.mark.parametrize(("n", "bins"), [(5, 2), (8, 2), (10, 2), (27, 3), (60, 4)])
def test_classes_of_equal_frequency_number_the_cube_root_of_the_datasets(n, bins):
    table, matrix = characteristics(n), benchmark(fading(3, n))
    default, named = (correlate_characteristics(matrix, table, permutations=5, bins=count) for count in (None, bins))
    assert np.array_equal(default.values["mutual_information"], named.values["mutual_information"])
    x, y = table.values[:, 0], matrix.values[0]
    classes = [(stats.rankdata(part, method="min") - 1) * bins // n for part in (x, y)]
    assert named.values["mutual_information"][0, 0] == pytest.approx(mutual_info_score(*classes), abs=1e-12)


@pytest.mark.parametrize(
    ("analysis", "fit", "expected"),
    [
        (ANALYSIS, "associations.correlate_characteristics", {"alpha": 0.2, "seed": 9}),
        (CLUSTERS, "clusters.fit.cluster_datasets", {"seed": 9}),
    ],
)
def test_an_analysis_of_characteristics_passes_on_what_was_asked(monkeypatch, analysis, fit, expected):
    asked = []
    monkeypatch.setattr(f"recassay.analysis.{fit}", lambda *given, **options: asked.append((given, options)))
    table, results = characteristics(8), recassay.load_results(long_frame(benchmark(fading(3, 8))))
    spec = AnalysisSpec(
        "ndcg@10", alpha=0.2, seed=9, higher_is_better=False, evidence={"characteristics": lambda: table}
    )
    analysis.run(results, spec)
    (((matrix, given), options),) = asked
    assert (matrix.metric, matrix.higher_is_better, given, options) == ("ndcg@10", False, table, expected)
    with pytest.raises(NotApplicableError):
        analysis.run(results, AnalysisSpec("ndcg@10"))


def test_values_that_differ_by_rounding_are_equal():
    table = characteristics(8)
    exact = np.array([[0.3, 0.3, 0.3, 0.3, 0.1, 0.2, 0.4, 0.5], np.linspace(0.1, 0.9, 8)])
    rounded = exact.copy()
    rounded[0, [1, 3]] = 0.1 + 0.2
    found = [correlate_characteristics(benchmark(own), table, permutations=5, bins=4) for own in (exact, rounded)]
    for measure in ("pearson", "spearman", "mutual_information"):
        assert found[0].values[measure] == pytest.approx(found[1].values[measure], abs=1e-12)


def test_what_is_constant_up_to_rounding_is_correlated_with_nothing():
    """The mean of three times 0.1 is not 0.1."""
    drawn = np.full((2, 3, 1), 0.1)
    drawn[1] *= 1e6
    assert not _standard(drawn, ranked=False).any()
    assert not _standard(drawn, ranked=True).any()
    assert _standard(np.array([[1.0], [3.0]]), ranked=False)[:, 0] == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5)])


@pytest.mark.parametrize("name", ["Random", "most-pop", "RecentPop", "Popularity", "POP", "Top_Pop"])
def test_what_is_not_personalised_is_no_part_of_the_average(name):
    table = characteristics(6)
    matrix = Matrix(np.random.default_rng(3).random((3, 6)), ("A", name, "B"), table.datasets, "ndcg@10", True)
    assert correlate_characteristics(matrix, table, permutations=5).averaged == ("A", "B")


def test_no_interval_of_a_correlation_reaches_beyond_1():
    table = characteristics(9)
    values = np.vstack([table.values.T, -3 * table.values.T, table.values.T / 7 + 1])
    names = tuple(f"a{i:02}" for i in range(len(values)))
    found = correlate_characteristics(Matrix(values, names, table.datasets, "score", True), table, permutations=60)
    for measure in ("pearson", "spearman"):
        assert 1 - 1e-9 < np.abs(found.interval[measure]).max() <= 1, "rounding adds nothing"
