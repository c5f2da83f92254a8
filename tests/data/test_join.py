"""Several places into one table: provenance, contradictions, studies among them, and stated deviations in intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import recassay
from recassay import RecAssayError, load_results
from recassay.analysis.per_dataset import per_dataset
from recassay.core import columns as c
from recassay.data.tables.comparability import incomparable
from recassay.data.tables.join import Part, join_parts

HEAD = "algorithm,dataset,metric,value"


@pytest.fixture
def write(tmp_path):
    def make(name: str, *rows: str, head: str = HEAD):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("\n".join([head, *rows]) + "\n")
        return str(path)

    return make


def test_cells_say_where_they_come_from(write):
    one = write("a.csv", "A,x,ndcg@10,0.1", "A,y,ndcg@10,0.2")
    two = write("b.csv", "B,x,ndcg@10,0.3", "B,y,ndcg@10,0.4")
    results = load_results([one, two])
    assert dict(results.frame.select(c.ALGORITHM, c.SOURCE).unique().rows()) == {"A": one, "B": two}
    assert f"2 cells (1 algorithm on 2 datasets) from {one}" in results.notes[0]
    assert [source.file for source in results.sources] == [one, two]


@pytest.mark.parametrize("prefer", ["other/a.csv", "other", "other/", "{}/other", "{}/other/", "{}/other/a.csv"])
def test_the_place_that_counts_is_named_by_its_end_its_folder_or_whole(write, tmp_path, prefer):
    places = [write(f"{folder}/a.csv", f"A,x,ndcg@10,{value}") for folder, value in (("mine", 0.1), ("other", 0.3))]
    results = load_results(places, prefer=prefer.format(tmp_path))
    assert results.frame.get_column(c.VALUE).to_list() == [0.3]
    assert f"1 cell has different values; those of {places[1]} were taken" in results.notes
    with pytest.raises(RecAssayError, match="'ther' is not one of the places"):
        load_results(places, prefer="ther")


def test_two_values_for_one_cell_are_refused_unless_told(write, cli):
    one = write("a.csv", "A,x,ndcg@10,0.1", "B,x,ndcg@10,0.2", "A,y,ndcg@10,0.3", "B,y,ndcg@10,0.3")
    two = write("b.csv", "A,x,ndcg@10,0.15")
    with pytest.raises(
        RecAssayError, match=r"1 cell has different values, the first A on x, ndcg@10: 0.1 in .*a.csv and 0.15"
    ):
        load_results([one, two])

    def value(prefer):
        return (
            load_results([one, two], prefer=prefer)
            .frame.filter(algorithm="A", dataset="x")
            .get_column(c.VALUE)
            .to_list()
        )

    assert value("first") == [0.1]
    assert value("last") == value("b.csv") == [0.15]
    with pytest.raises(RecAssayError, match=r"`prefer` 'c\.csv' is not one of the places"):
        value("c.csv")
    ran = cli("rank", one, two, "--prefer", "last", "--json")
    assert ran.code == 0
    assert any("those of" in note for note in ran.json()["notes"])
    assert cli("rank", one, two).code == 2


def test_a_value_never_takes_the_deviation_of_one_that_contradicts_it(write):
    one = write("a.csv", "A,x,0.1", "B,x,0.2", head="model,dataset,NDCG@10")
    other = write("b.csv", "A,x,0.15±0.04", "B,x,0.2±0.03", head="model,dataset,NDCG@10")
    frame = load_results([one, other], prefer="first").frame
    found = {row[0]: row[1:] for row in frame.select(c.ALGORITHM, c.VALUE, c.DEVIATION).rows()}
    assert found == {"A": (0.1, None), "B": (0.2, 0.03)}


def test_users_of_a_contradicted_cell_do_not_count(write):
    users = write("u.csv", *(f"A,x,{u},0.{u}" for u in (1, 3)), *(f"B,x,{u},0.5" for u in (1, 3)),
                  head="model,dataset,user,NDCG@10")  # fmt: skip
    agrees = load_results([write("a.csv", "A,x,0.2", head="model,dataset,NDCG@10"), users])
    assert agrees.users.height == 4
    assert agrees.frame.filter(algorithm="A").get_column(c.RUNS).to_list() == [2]
    differs = load_results([write("b.csv", "A,x,0.9", head="model,dataset,NDCG@10"), users], prefer="first")
    assert set(differs.users.get_column(c.ALGORITHM)) == {"B"}


def test_users_have_the_labels_of_the_table():
    users = pl.DataFrame(
        {"algorithm": "A", "dataset": "x", "user": ["u1", "u2", None], "metric": "NDCG@10", "value": [0.1, 0.3, 9]}
    )
    frame = pl.DataFrame({"algorithm": ["A"], "dataset": ["x"], "metric": ["NDCG@10"], "value": [0.2]})
    results = join_parts([Part(frame, where="a", users=users)])
    assert results.metrics == ["ndcg@10"]
    other = Part(frame.with_columns(dataset=pl.lit("y")), where="b.csv")
    assert join_parts([Part(frame, ("n", "n"), where="folder/a.csv"), other]).notes[0] == "a.csv: n"
    assert results.users.rows() == [("A", "x", "ndcg@10", "u1", 0.1), ("A", "x", "ndcg@10", "u2", 0.3)]


def test_words_for_what_is_compared_are_those_of_all_files_or_the_usual_ones():
    frame = pl.DataFrame({c.ALGORITHM: ["A"], c.DATASET: ["x"], c.METRIC: ["mrr"], c.VALUE: [0.5]})
    one = Part(frame, words=("model", "task"), where="a.json")
    two = Part(frame.with_columns(pl.lit("y").alias(c.DATASET)), words=("model", "task"), where="b.json")
    plain = Part(two.frame, where="b.csv")
    assert [join_parts(parts).words for parts in ([one, two], [one, plain], [plain, one])] == [
        ("model", "task"), ("algorithm", "dataset"), ("algorithm", "dataset"),
    ]  # fmt: skip


def test_a_note_of_several_files_is_told_once(write):
    files = [write(f"{name}.csv", "A,10%", "B,20%", head="model,NDCG@10") for name in ("x", "y", "z")]
    told = [note for note in load_results(files).notes if "percent signs" in note]
    assert told == ["3 files: read with percent signs (divided by 100) in 2 cells"]


def test_one_value_twice_is_taken_once(write):
    one = write("a.csv", "A,x,ndcg@10,0.12345678", "B,x,ndcg@10,0.2")
    two = write("b.csv", "A,x,ndcg@10,0.1235", "C,x,ndcg@10,0.3")
    results = load_results([one, two])
    assert results.frame.filter(algorithm="A").get_column(c.VALUE).to_list() == [0.12345678]
    assert any("1 cell stands in several files" in note for note in results.notes)


def test_of_files_that_agree_the_one_with_repeats_is_kept(write):
    mean = write("a.csv", "A,x,ndcg@10,0.2", "B,x,ndcg@10,0.5")
    seeds = write("b.csv", *(f"A,x,ndcg@10,{seed},{seed / 10}" for seed in (1, 2, 3)), head=f"{HEAD[:-5]}seed,value")
    for places in ([mean, seeds], [seeds, mean]):
        rows = load_results(places).frame.filter(algorithm="A")
        assert rows.select(c.SEED, c.VALUE).rows() == [("1", 0.1), ("2", 0.2), ("3", 0.3)]


@pytest.mark.parametrize(
    ("first", "other", "one"),
    [
        (0.1234, 0.12342, True),
        (0.1234, 0.12345, True),
        (0.1234, 0.12346, False),
        (0.123, 0.1234, True),
        (0.12, 0.1234, False),  # two digits may be anything
        (0.12, 0.12, True),
        (12.0, 12.00001, True),
        (12.0, 12.1, False),
        (-0.123, -0.1234, True),
        (-0.123, 0.123, False),
    ],
)
def test_values_that_agree_to_the_digits_of_the_shorter_are_one(write, first, other, one):
    places = [write(f"{name}.csv", f"A,x,ndcg@10,{value}") for name, value in (("a", first), ("b", other))]
    if one:
        assert load_results(places).frame.get_column(c.VALUE).to_list() == [first]
    else:
        with pytest.raises(RecAssayError, match="1 cell has different values"):
            load_results(places)


def test_up_to_four_files_are_counted_one_by_one(write):
    files = [write(f"{name}.csv", f"A,{name},ndcg@10,0.1", f"B,{name},ndcg@10,0.2") for name in "pqrst"]
    assert load_results(files[:4]).notes[0].count("2 cells (2 algorithms on 1 dataset) from ") == 4
    assert load_results(files).notes[0] == "10 cells from 5 files"


def test_seeds_of_several_files_are_repeats(write):
    head = f"{HEAD},seed"
    files = [
        write(f"{s}.csv", *(f"{a},{d},mrr,0.{s}{k},{s}" for k, a in enumerate("AB") for d in "xy"), head=head)
        for s in (1, 2, 3)
    ]
    assert load_results(files).matrix("mrr").replicates.shape == (2, 2, 3)
    with pytest.raises(RecAssayError, match="different values"):
        load_results([*files[:1], write("again.csv", "A,x,mrr,0.9,1", head=head)])


def test_a_folder_with_one_plain_table_per_dataset(tmp_path):
    for dataset in ("ml-1m", "yelp"):
        (tmp_path / f"results_{dataset}.csv").write_text("model,NDCG@10\nEASE,0.3\nPop,0.1\n")
    results = load_results(tmp_path)
    assert results.datasets == ["ml-1m", "yelp"]
    assert results.algorithms == ["EASE", "Pop"]


def test_a_folder_of_files(write, tmp_path):
    write("f/ml-1m/results.csv", "A,0.1", "B,0.2", head="model,NDCG@10")
    write("f/yelp/results.csv", "A,0.3", "B,0.4", head="model,NDCG@10")
    (tmp_path / "f" / "notes.txt").write_text("nothing of interest here\n")
    (tmp_path / "f" / "empty.log").write_text("")
    results = load_results(tmp_path / "f")
    assert results.datasets == ["ml-1m", "yelp"]
    told = " ".join(results.notes)
    assert "1 empty file;" in told
    assert "notes.txt" in told
    (tmp_path / "g").mkdir()
    with pytest.raises(RecAssayError, match="there is no study in this folder, and no file with results"):
        load_results(tmp_path / "g")


@pytest.mark.slow
def test_studies_and_files_together(tmp_path, write, cli):
    spec = recassay.make_study(["synthetic:few-items", "synthetic:dense-small"], ["Random", "MostPop"], name="one",
                               metrics=["ndcg@10", "map@10"], trials=0)  # fmt: skip
    recassay.run(spec, tmp_path / "one", workers=1)
    one = str(tmp_path / "one")
    mine = write("mine.csv", "Mine,few-items,0.5,0.4", "Mine,dense-small,0.6,0.5", head="model,dataset,NDCG@10,MAP@10")
    elliot = tmp_path / "few-items" / "performance"
    elliot.mkdir(parents=True)
    (elliot / "rec_cutoff_10_relthreshold_3_x.tsv").write_text("model\tnDCG\tMAP\nTheirs\t0.3\t0.2\n")
    results = load_results([one, mine, str(tmp_path / "few-items")])
    assert results.algorithms == ["Mine", "MostPop", "Random", "Theirs"]
    frame = results.frame.filter(metric="ndcg@10")
    assert frame.filter(algorithm="MostPop").get_column(c.PROTOCOL).str.starts_with("split ").all()
    assert frame.filter(algorithm="MostPop").get_column(c.CONVENTION)[0].startswith("ideal_min")
    told = " ".join(results.notes)
    assert "ndcg@10 is computed in 2 ways" in told
    assert "map@10 is computed in 2 ways" in told
    assert "the results on few-items come from different splits or protocols" in told
    ran = cli("rank", one, mine, "--metric", "ndcg@10", "--json")
    assert ran.code == 0
    assert len(ran.json()["input"]) == 2


def test_published_tables_join_with_mine(kdd24, write):
    names = load_results(kdd24).datasets
    mine = write("mine.csv", *(f"Mine,{name},0.5" for name in names), head="model,dataset,NDCG@10")
    results = load_results([kdd24, mine])
    answer = recassay.rank(load_results([results]).frame.filter(pl.col(c.METRIC) == "ndcg@10"), replicates=100)
    assert answer.algorithms[answer.order()[0]] == "Mine"


def test_percent_beside_shares_is_told(write):
    one = write("a.csv", "A,x,ndcg@10,0.1", "B,x,ndcg@10,0.2")
    two = write("b.csv", "A,y,ndcg@10,10.0", "B,y,ndcg@10,20.0")
    assert any("percent beside shares" in note for note in load_results([one, two]).notes)
    assert not any("percent" in note for note in load_results([one]).notes)
    notes = load_results([two]).notes
    assert any("values above 1" in note for note in notes)
    assert not any("beside shares" in note for note in notes)


def test_a_cell_without_a_value_in_one_file_has_that_of_the_other(write):
    failed = write("a.csv", "A,x,ndcg@10,", "B,x,ndcg@10,0.2")
    again = write("b.csv", "A,x,ndcg@10,0.3", "B,y,ndcg@10,0.4")
    for places in ([failed, again], [again, failed]):
        frame = load_results(places).frame
        assert frame.filter(algorithm="A", dataset="x").get_column(c.VALUE).to_list() == [0.3]


def test_frameworks_whose_split_is_not_known_are_told_and_others_are_not():
    rows = {c.ALGORITHM: ["A", "B", "A", "B"], c.DATASET: ["x", "x", "y", "y"], c.FRAMEWORK: ["Elliot", "RecBole"] * 2}
    frame = pl.DataFrame({**rows, c.METRIC: "ndcg@10", c.VALUE: 0.1, c.SOURCE: "a.csv"})
    unknown = "the results are of Elliot and RecBole; whether they were made on one split is not known"
    assert incomparable(frame) == [f"on x, y {unknown}"]
    split = pl.Series(c.PROTOCOL, ["split 1", None, "split 2", "split 2"])
    assert incomparable(frame.with_columns(split)) == [f"on x {unknown}"]
    plain = frame.with_columns(pl.Series(c.FRAMEWORK, ["Elliot", None, None, None]))
    assert incomparable(plain) == [f"on x {unknown}".replace("Elliot and RecBole", "Elliot and a table")]


def _paper(rng, truth, runs, deviation):
    values = truth[:, :, None] + rng.normal(0, deviation, (*truth.shape, runs))
    return [
        {"algorithm": f"a{a}", "dataset": f"d{d}", "metric": "ndcg@10", "value": values[a, d].mean(),
         "deviation": values[a, d].std(ddof=1), "runs": runs}
        for a in range(truth.shape[0])
        for d in range(truth.shape[1])
    ]  # fmt: skip


def test_stated_deviations_give_the_intervals_that_the_repeats_give():
    """With the number of runs known, mean ± deviation is worth what the runs themselves are."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(_paper(rng, 0.3 + rng.normal(0, 0.002, (3, 8)), 5, 0.03))
    errors = load_results(frame).matrix("ndcg@10").standard_errors
    assert errors == pytest.approx(frame.get_column("deviation").to_numpy().reshape(3, 8) / np.sqrt(5))
    unknown = load_results(frame.drop("runs")).matrix("ndcg@10").standard_errors
    assert unknown == pytest.approx(errors * np.sqrt(5))  # taken whole: wider, never narrower
    found = per_dataset(load_results(frame).matrix("ndcg@10"))
    assert found.source == "stated"
    assert np.all((found.low < found.values) & (found.values < found.high))
    assert per_dataset(load_results(frame.drop("deviation", "runs")).matrix("ndcg@10")).source == "none"


def test_intervals_of_single_cells_cover_the_truth():
    """95 % normal intervals from a stated standard error, over many cells."""
    rng = np.random.default_rng(1)
    truth = rng.uniform(0.2, 0.4, (20, 50))
    error = 0.02
    frame = pl.DataFrame(
        [
            {"algorithm": f"a{a:02d}", "dataset": f"d{d:02d}", "metric": "ndcg@10", "deviation": error, "runs": 1,
             "value": truth[a, d] + rng.normal(0, error)}
            for a in range(20)
            for d in range(50)
        ]
    )  # fmt: skip
    found = per_dataset(load_results(frame).matrix("ndcg@10"))
    assert found.source == "stated"
    assert 0.93 <= ((found.low < truth) & (truth < found.high)).mean() <= 0.97


@pytest.mark.slow
def test_the_common_table_goes_out_and_in(write, tmp_path, cli):
    path = write("paper.csv", "A,x,0.1±0.01", "B,x,0.2±0.02", head="model,dataset,NDCG@10")
    for ending in ("parquet", "csv", "tsv"):
        out = tmp_path / f"table.{ending}"
        ran = cli("import", path, "--out", out)
        assert ran.code == 0, ran.err
        again = load_results(out).frame.sort(c.ALGORITHM)
        assert again.get_column(c.DEVIATION).to_list() == [0.01, 0.02]
    ran = cli("import", path, "--json")
    assert {row["algorithm"] for row in ran.json()["rows"]} == {"A", "B"}
    assert "deviations (kept) in 2 cells" in ran.err
    assert cli("import", path, "--out", tmp_path / "table.xls").code == 2


def test_conventions_survive_the_way_through_a_file(tmp_path):
    samples = Path(__file__).resolve().parents[1] / "samples"
    out = tmp_path / "elliot.parquet"
    recassay.import_results([samples / "elliot"], out=out)
    joined = load_results([out, samples / "recbole"], prefer="first")
    assert any("ndcg@10 is computed in 2 ways" in note for note in joined.notes)
