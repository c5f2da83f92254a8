"""Tables as people export them are read as meant, or refused with advice that leads there."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest
from tests.support.exported import advice, outcome
from tests.support.exports import EXPORTS, NEUTRAL, workbook

from recassay import RecAssayError, load_results
from recassay.data.tables.workbook import workbook_grids

REFUSED = {
    "columns {} and {} std, latex, neutral",
    "lines of a PDF with deviations, neutral",
    "lines of a PDF below a caption, neutral",
}
"""Those that cannot be read without a word from the user; at most a tenth of them all."""


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_are_read_as_meant_or_refused_with_advice_that_works(name):
    verdict, why = outcome(EXPORTS[name])
    assert verdict == ("refused" if name in REFUSED else "right"), why
    if verdict == "refused":
        assert any(outcome(EXPORTS[name], **way)[0] == "right" for way in advice(why)), why


def test_many_exports_are_tried_and_few_refused():
    """Many of them have names that nobody knows."""
    assert len(EXPORTS) >= 120
    assert sum(export.world is NEUTRAL for export in EXPORTS.values()) >= 40
    assert EXPORTS.keys() >= REFUSED
    assert len(REFUSED) <= len(EXPORTS) // 10


def _refusal(frame, **said):
    with pytest.raises(RecAssayError) as refused:
        load_results(frame, **said)
    return str(refused.value)


def test_a_name_with_a_word_of_statistics_whose_numbers_are_values_is_refused():
    frame = pl.DataFrame({"model": ["a", "b"], "Oblo": [0.3, 0.4], "Oblo std": [0.5, 0.6], "Fenn": [0.2, 0.3]})
    assert "'Oblo std' looks like a statistic of 'Oblo'" in _refusal(frame, metric="ndcg@10")
    rows = pl.DataFrame({"model": ["a", "a std"], "NDCG@10": [0.3, 0.4]})
    assert "'a std' looks like a statistic of 'a'" in _refusal(rows)


def test_short_words_after_a_hyphen_are_part_of_names():
    frame = pl.DataFrame({"model": ["Net", "Net-SE", "Net-max"], "dataset": ["d"] * 3, "NDCG@10": [0.3, 0.01, 0.2]})
    assert load_results(frame).frame["algorithm"].to_list() == ["Net", "Net-SE", "Net-max"]


def test_epochs_are_not_told_apart_as_seeds():
    frame = pl.DataFrame({"model": ["a", "a"], "dataset": ["d", "d"], "epoch": [1, 2], "NDCG@10": [0.3, 0.4]})
    refusal = _refusal(frame)
    assert "several rows per cell, one for each 'epoch'" in refusal
    assert "seed" not in refusal


def test_of_columns_of_validation_data_one_is_taken():
    frame = pl.DataFrame(
        {"model": ["a", "b"], "dataset": ["d"] * 2, "val_NDCG@10": [0.3, 0.4], "dev_NDCG@10": [0.5, 0.6]}
    )
    results = load_results(frame)
    assert results.frame["value"].to_list() == [0.3, 0.4]
    assert any("'dev_NDCG@10'" in note for note in results.notes)


def test_of_deviations_and_errors_the_deviations_are_taken_with_a_note():
    spreads = {"NDCG@10_stderr": [0.01, 0.02], "NDCG@10_std": [0.03, 0.06]}
    frame = pl.DataFrame({"model": ["a", "b"], "dataset": ["d"] * 2, "NDCG@10": [0.3, 0.4], **spreads})
    results = load_results(frame)
    assert results.frame["deviation"].to_list() == [0.03, 0.06]
    assert any("'NDCG@10_stderr'" in note for note in results.notes)


def test_a_metric_that_headers_overrule_is_told_of():
    frame = pd.DataFrame({"model": ["a", "b"], "NDCG@10": [0.3, 0.4], "HR@10": [0.5, 0.6]})
    notes = load_results(frame, metric="mrr", wide=True, dataset="d").notes
    assert any("`metric` was not used" in note for note in notes)
    assert not any("`metric`" in note for note in load_results(frame, metric="hr@10", wide=True, dataset="d").notes)


def test_a_metric_that_is_bounded_has_no_thousands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("model;dataset;NDCG@10;Clicks\na;d;2,120;2,120\nb;d;3,010;3,010\n")
    values = load_results(path).frame.sort("metric", "algorithm")["value"].to_list()
    assert values == [2120.0, 3010.0, 2.12, 3.01]


def _written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _cells(results):
    return {row[:3]: row[3] for row in results.frame.select("algorithm", "dataset", "metric", "value").rows()}


def test_files_that_are_no_results_do_not_spoil_a_folder(tmp_path):
    folder = _written(tmp_path / "out", {
        "results.csv": "model,dataset,NDCG@10\nEASE,ml-1m,0.3\nPop,ml-1m,0.1\n",
        "broken.csv": "model,dataset,NDCG@10\nEASE,,0.3\nPop,ml-1m,inf\n",
        "recommendations.csv": "user_id,item_id,score\n1,2,0.5\n1,3,0.4\n",
        "train.log": "epoch 1 loss 0.5\nepoch 2 loss 0.4\n",
        "config.json": '{"lr": 0.1, "layers": [1, 2]}',
    })  # fmt: skip
    results = load_results(folder)
    assert _cells(results) == {("EASE", "ml-1m", "ndcg@10"): 0.3, ("Pop", "ml-1m", "ndcg@10"): 0.1}
    (left,) = [note for note in results.notes if "left out of" in note]
    assert "broken.csv" in left
    (folder / "results.csv").unlink()
    with pytest.raises(RecAssayError, match="no file with results"):
        load_results(folder)


def test_an_option_in_vain_for_one_file_does_not_spoil_a_folder(tmp_path):
    files = {"a.csv": "model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", "b.csv": "model,dataset,NDCG@10\nEASE,d3,0.3\n"}
    results = load_results(_written(tmp_path / "both", files), wide=True, metric="ndcg@10")
    assert results.datasets == ["d1", "d2"]
    with pytest.raises(RecAssayError, match="`wide` has no effect"):
        load_results(_written(tmp_path / "one", {"b.csv": files["b.csv"]}), wide=True, metric="ndcg@10")


def test_files_are_told_apart_by_the_metric_and_the_dataset_in_their_names(tmp_path):
    text = "model value\nVorn 0.31\nQuill 0.22\nJox 0.11\n"
    files = {f"{metric}_{data}.txt": text for metric in ("ndcg", "recall") for data in ("oblo", "fenn")}
    cells = _cells(load_results(_written(tmp_path / "out", files)))
    assert len(cells) == 12
    assert {cell[1:] for cell in cells} == {(d, m) for d in ("oblo", "fenn") for m in ("ndcg", "recall")}


def test_files_are_told_apart_by_their_folders(tmp_path):
    text = {"BPR": "NDCG@10: 0.3\nRecall@20: 0.4\n", "EASE": "metric,value\nNDCG@10,0.5\nRecall@20,0.6\n"}
    files = {f"Res/{model}/{data}.txt": text[model] for model in text for data in ("beauty", "toys")}
    cells = _cells(load_results(_written(tmp_path / "out", files)))
    assert len(cells) == 8
    assert cells["EASE", "toys", "recall@20"] == 0.6
    neutral = _written(tmp_path / "odd", {"Vorn/oblo.txt": text["BPR"], "Quill/oblo.txt": text["EASE"]})
    with pytest.raises(RecAssayError) as refused:
        load_results(neutral)
    assert "do not say which is the algorithm" in str(refused.value)
    assert {cell[:2] for cell in _cells(load_results(neutral, wide=True))} == {("Vorn", "oblo"), ("Quill", "oblo")}


def _means(source, **said):
    frame = load_results(source, **said).frame
    return {
        (row[0], row[1]): row[2] for row in frame.group_by("algorithm", "dataset").agg(pl.col("value").mean()).rows()
    }


FOUR = {("Kestrel", "Oblo"): 0.3, ("Kestrel", "Fenn"): 0.2, ("Ibis", "Oblo"): 0.1, ("Ibis", "Fenn"): 0.4}


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("groups.csv", "model,dataset,mean,std,count,min,25%,max\n"
         "Kestrel,Oblo,.3,.01,5,.2,.25,.4\nKestrel,Fenn,.2,.01,5,.1,.15,.3\n"
         "Ibis,Oblo,.1,.01,5,0,.05,.2\nIbis,Fenn,.4,.02,5,.3,.35,.5\n", {}),
        ("seeds.csv", "model,dataset,0,1\nKestrel,Oblo,.2,.4\nKestrel,Fenn,.1,.3\nIbis,Oblo,.05,.15\nIbis,Fenn,.3,.5\n",
         {"metric": "ndcg@10"}),
        ("rows.csv", "model,Oblo,Fenn\nKestrel (avg),.3,.2\nKestrel (±),.01,.01\nIbis (avg),.1,.4\nIbis (±),.01,.01\n",
         {"metric": "ndcg@10"}),
        ("german.csv", "Modell;Oblo;Fenn\nKestrel;0,3;0,2\nIbis;0,1;0,4\n", {"metric": "ndcg@10"}),
        ("french.csv", "modèle;jeu de données;valeur\nKestrel;Oblo;0,3\nKestrel;Fenn;0,2\nIbis;Oblo;0,1\n"
         "Ibis;Fenn;0,4\n", {}),
        ("r.csv", '"Oblo","Fenn"\n"Kestrel",0.3,0.2\n"Ibis",0.1,0.4\n', {"metric": "ndcg@10", "wide": True}),
        ("index.json", '{"Kestrel": {"Oblo": 0.3, "Fenn": 0.2}, "Ibis": {"Oblo": 0.1, "Fenn": 0.4}}',
         {"metric": "ndcg@10", "wide": True}),
    ],
)  # fmt: skip
def test_further_exports_are_read_as_meant(tmp_path, file, text, said):
    (tmp_path / file).write_text(text)
    assert _means(tmp_path / file, **said) == pytest.approx(FOUR)


def test_numbered_columns_that_do_not_count_from_the_first_are_not_seeds():
    frame = pl.DataFrame({"model": ["a", "b"], "dataset": ["x", "x"], "5": [0.3, 0.4], "10": [0.2, 0.3]})
    assert "remove the repetition" in _refusal(frame, metric="ndcg")


def test_merged_cells_of_a_workbook_are_filled_down_and_to_the_right():
    typed = workbook([["kept", "model", "x"], [None, "", 1], ["wide", None, 2]], merged=("A1:A2", "A3:B3"))
    ((_, grid),) = workbook_grids(typed, "typed.xlsx")
    assert grid == [["kept", "model", "x"], ["kept", "", "1"], ["wide", "wide", "2"]]
