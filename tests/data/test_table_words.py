"""The words by which people name the parts of a table, each in a table of its own."""

from __future__ import annotations

import polars as pl
import pytest

from recassay import load_results
from recassay.core import columns as c
from recassay.data.folders import checked_name
from recassay.data.importers.battles import _battle
from recassay.data.importers.helm import _stats, _table
from recassay.data.importers.ir_measures import recognise as recognise_ir_measures
from recassay.data.importers.lenskit import recognise as recognise_lenskit
from recassay.data.importers.load import _files_below
from recassay.data.importers.opened import OpenedFile, meaningful
from recassay.data.importers.replay import recognise as recognise_replay
from recassay.data.importers.swe_bench import _ids
from recassay.data.importers.trec import recognise as recognise_trec
from recassay.data.parts import find_parts
from recassay.data.readers import read_interactions
from recassay.data.tables.cells import Cell, read_cell
from recassay.data.tables.comparability import _scales
from recassay.data.tables.form import Asked, Reading, Reason, Table
from recassay.data.tables.grid import plain_name
from recassay.data.tables.headers import number_columns, split_compound, value_column
from recassay.data.tables.labels import Spelled, has_cutoff, spelled
from recassay.data.tables.latex import latex_grids
from recassay.data.tables.nested import table_from_json
from recassay.data.tables.responses import read_items, read_responses
from recassay.data.tables.shapes import READERS
from recassay.data.tables.tidy import remarks_below
from recassay.data.tables.words import AVERAGE, CUTOFF, GAIN, OTHER_PHASES, PHASE, role_word

NAMED = {"model": ["foo", "bar"], "dataset": ["d1", "d1"]}
METRIC = {"NDCG@10": [0.3, 0.1]}
ROLES = {
    c.ALGORITHM: "algorithm algo model method recommender classifier system approach models methods algorithms "
    "estimator approaches recommenders systems classifiers model_name Model_Names algorithm-name MethodName",
    c.DATASET: "dataset data data_set task benchmark datasets data_sets corpus corpora tasks benchmarks collection "
    "dataset_name Task_Name",
    c.METRIC: "metric measure metrics measures metric_name evaluation_metric",
    c.VALUE: "value score result mean average avg estimate metric_value",
    c.SEED: "seed random_state random_seed run trial repeat repetition replicate repeat_id i_repeat i_run seed_id",
    c.FOLD: "fold cv_fold fold_id i_split split_id i_fold cv cv_split fold_no fold_number split_no split_number n_fold "
    "k_fold",
    c.DEVIATION: "deviation std stdev std_dev sd stddev standard_deviation",
    c.RUNS: "runs n_runs num_runs number_of_runs n_seeds",
    c.USER: "user user_id uid query query_id q_id topic instance instance_id sample_id doc_id example_id",
}


@pytest.mark.parametrize("role", ROLES)
def test_each_word_of_a_role_is_known(role):
    assert {word: role_word(word) for word in ROLES[role].split()} == dict.fromkeys(ROLES[role].split(), role)


@pytest.mark.parametrize(
    ("header", "label"),
    [
        ("NDCG@10 (100 negatives)", "ndcg@10[sampled 100]"),
        ("NDCG@10 (1000 random negatives)", "ndcg@10[sampled 1000]"),
        ("hr@10, 99 neg.", "hitrate@10[sampled 99]"),
        ("HR@10-neg100", "hitrate@10[sampled 100]"),
        ("Recall@20 w/ 99 negatives", "recall@20[sampled 99]"),
        ("ndcg@10_uni100", "ndcg@10[sampled 100]"),
        ("NDCG@10 (pop100)", "ndcg@10[sampled 100 popular]"),
        ("sampled ndcg@10", "ndcg@10[sampled]"),
        ("sampled_hr_10", "hitrate@10[sampled]"),
        ("test/MRR (sampled)", "mrr[sampled]"),
        ("NDCG@10[sampled 100 popular]", "ndcg@10[sampled 100 popular]"),
        ("popularity@10", "popularity@10"),
        ("popularity 10", "popularity@10"),
        ("NDCG@10", "ndcg@10"),
    ],
)
def test_metrics_of_sampled_rankings_are_named_so(header, label):
    assert spelled(header) == Spelled(label, True)


def test_words_of_sampling_alone_are_no_metric():
    assert [spelled(text) for text in ("negatives", "100 negatives", "uni100", "sampled", "samples")] == [None] * 5
    both = spelled("HR@10 (sampled) std (%)")
    assert both == Spelled("hitrate@10[sampled]", True, percent=True, deviation="deviation")


def test_sampled_values_stand_beside_those_of_full_rankings():
    values = {"NDCG@10": [0.1, 0.2], "NDCG@10 (uni100)": [0.5, 0.4]}
    results = load_results(pl.DataFrame({"model": ["A", "B"], "dataset": ["d", "d"], **values}))
    assert results.metrics == ["ndcg@10", "ndcg@10[sampled 100]"]
    assert any("ranked among drawn items, not among all" in note for note in results.notes)
    rows = {c.ALGORITHM: ["A", "B", "C", "C"], c.DATASET: ["d"] * 4, c.METRIC: ["ndcg@10"] * 3 + ["seconds_fit"],
            c.VALUE: [0.5, 0.4, 0.1, 9.0], c.PROTOCOL: ["99 negatives", "99 negatives", "full", "uni99"]}  # fmt: skip
    found = load_results(pl.DataFrame(rows))
    assert sorted(found.metrics) == ["ndcg@10", "ndcg@10[sampled 99]", "seconds_fit"]
    assert found.frame.filter(pl.col(c.METRIC) == "ndcg@10")[c.ALGORITHM].to_list() == ["C"]


def test_settings_and_counters_are_no_metrics():
    named = (
        "year rank # no id index epoch epochs lr learning_rate batch_size dim embedding_size embedding_dim hidden_size "
        "n_layers layers weight_decay l2 dropout k n_factors factors users items interactions timestamp date Unnamed:0 "
        "level_0 run_id params parameters params(m) params(b) #params size model_size flops wins #wins best_epoch "
        "n_trials trials"
    )
    settings = named.split()
    results = load_results(pl.DataFrame({**NAMED, **METRIC, **{name: [7.5, 8.5] for name in settings}}))
    assert results.metrics == ["ndcg@10"]


@pytest.mark.parametrize(
    "ends",
    [
        ("ci_low", "ci_high"), ("ci_lower", "ci_upper"), ("lower", "upper"), ("low", "high"), ("lower_ci", "upper_ci"),
        ("lower_bound", "upper_bound"), ("ci95_low", "ci95_high"), ("95_ci_low", "95_ci_high"),
    ],
)  # fmt: skip
def test_ends_of_an_interval_by_their_names(ends):
    low, high = ends
    frame = pl.DataFrame({**NAMED, "metric": ["mrr"] * 2, "value": [0.5, 0.5], low: [0.4, 0.3], high: [0.6, 0.7]})
    half = 1.959964
    assert load_results(frame).frame["deviation"].to_list() == pytest.approx([0.1 / half, 0.2 / half])
    mean = load_results(frame.drop("metric").rename({"value": "mean"}), metric="mrr").frame
    assert mean.select("metric", "value").rows() == [("mrr", 0.5)] * 2
    assert mean["deviation"].to_list() == pytest.approx([0.1 / half, 0.2 / half])


def _reading(**columns):
    """What is known of a table after the readers of its columns and headers."""
    reading = Reading(Table.of(pl.DataFrame({**NAMED, **columns})), Asked(), "here")
    for reader in READERS[: READERS.index(number_columns) + 1]:
        reading = reader(reading)
    return reading


def test_spreads_beside_a_metric_by_their_names():
    words = {
        "deviation": (
            "std",
            "stdev",
            "std_dev",
            "sd",
            "stddev",
            "standard_deviation",
            "deviation",
            "±",
            "+/-",
            "std.1",
        ),
        "error": ("stderr", "std_err", "std_error", "se", "sem", "standard_error"),
    }
    for kind, each in words.items():
        found = {word: _reading(**METRIC, **{word: [0.02, 0.01]}).values[1].statistic for word in each}
        assert found == dict.fromkeys(each, kind)


def test_statistics_below_a_metric_by_their_names():
    words = {
        "value": ("mean", "avg", "average", "value", "score"),
        "deviation": ("std", "stdev", "sd", "Std Dev", "±"),
        "error": ("stderr", "sem", "SE"),
        "skip": ("count", "median", "min", "max", "var", "25%", "50%", "75%"),
    }
    for kind, each in words.items():
        found = {word: value_column(0, ("MRR", word)).statistic for word in each}
        assert found == dict.fromkeys(each, kind)


def test_columns_of_cut_offs_and_of_phases_by_their_names():
    cutoffs = ("k", "top_k", "Top@k", "@k", "at_k", "cutoff", "top_n", "list_length")
    assert {word: _reading(**{word: [5, 10]}).roles.get(CUTOFF) for word in cutoffs} == dict.fromkeys(cutoffs, 2)
    phases = ("split", "subset", "phase", "partition", "stage", "set", "eval_set")
    assert {word: _reading(**{word: ["test", "dev"]}).roles.get(PHASE) for word in phases} == dict.fromkeys(phases, 2)
    assert [_reading(phase=[word, "dev"]).roles.get(PHASE) for word in ("Testing", "testset", "dev")] == [2, 2, None]
    assert sorted(OTHER_PHASES) == ["dev", "train", "training", "val", "valid", "validation"]


def test_units_of_time_become_seconds():
    units = {"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "ms": 0.001, "min": 60, "mins": 60, "minute": 60,
             "minutes": 60, "h": 3600, "hour": 3600, "hours": 3600}  # fmt: skip
    assert {unit: spelled(f"Training time ({unit})").unit for unit in units} == units


def test_measures_of_a_whole_run_have_no_cut_off():
    named = "seconds seconds_fit seconds_predict memory rmse mse mae auc gauc logloss joules energy emissions"
    assert not any(map(has_cutoff, named.split()))
    assert has_cutoff("ndcg")


def test_results_are_found_in_a_document_under_each_usual_name():
    records = [{"model": "foo", "ndcg@10": 0.3}, {"model": "bar", "ndcg@10": 0.1}]
    for word in ("results", "data", "records", "rows", "runs", "experiments", "metrics", "scores"):
        table = table_from_json({"dataset": "d1", word: records}, "films", Asked(), "here")
        assert table is not None, word
        assert table.names() == ("dataset", "model", "ndcg@10"), word


def test_which_files_of_a_folder_may_hold_results(tmp_path):
    named = (
        "csv tsv txt parquet pq xlsx xlsm tex md json jsonl ndjson log db sqlite sqlite3 out dat result trec run runs "
        "qrels qrel eval res htm html arff"
    )
    endings = named.split()
    caches = ("__pycache__", "node_modules", ".git", ".ipynb_checkpoints", "saved", "wandb", "log_tensorboard")
    for name in (*(f"a.{ending}" for ending in endings), "b.py", "c.png", *(f"{cache}/a.csv" for cache in caches)):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert [path.name for path in _files_below(tmp_path)] == sorted(f"a.{ending}" for ending in endings)


def test_general_words_of_a_file_name_say_nothing():
    named = (
        "results result table tables metrics metric performance evaluation eval evals scores score summary report "
        "summaries output outputs leaderboard all test final list recs run runs export exported data log logs "
        "experiment exp csv tsv per user overall averaged mean benchmark comparison cornacexp experiments trials"
    )
    words = named.split()
    assert {word: meaningful(f"films_{word}") for word in words} == dict.fromkeys(words, "films")
    assert (meaningful("seed_3_2024-05-01"), meaningful("Run 12")) == ("", ""), "repeats, and not what was measured on"
    assert {word: meaningful(f"{word.title()}-films") for word in words} == dict.fromkeys(words, "films")
    assert [meaningful(name) for name in ("all_final-results.films", "films list_metrics__all")] == ["films"] * 2


def test_battles_are_won_or_tied_by_each_usual_word():
    words = {
        1.0: ("model_a", "a", "left", "1", "X"),
        0.0: ("model_b", "b", "right", "2", "Y"),
        0.5: ("tie", "tie (bothbad)", "bothbad", "both_bad", "draw", "equal", "0.5", "Tie (both bad)"),
    }
    for made, each in words.items():
        assert {word: _battle(["X", "Y", word], "here") for word in each} == dict.fromkeys(each, ("X", "Y", made))


def test_every_list_of_a_report_names_instances():
    named = (
        "unresolved_ids empty_patch_ids error_ids incomplete_ids submitted_ids completed_ids no_generation no_logs "
        "generated with_logs applied install_fail reset_failed test_errored test_timeout no_apply unresolved"
    )
    lists = named.split()
    assert {name: _ids({"resolved": ["a"], name: ["b"]})[1] for name in lists} == {key: {"a", "b"} for key in lists}


def test_answers_are_right_or_wrong_by_each_usual_word():
    words = ["1", "1.0", "true", "Yes", "right", "correct", "0", "0.0", "FALSE", "no", "wrong", "incorrect"]
    codes = read_responses(pl.DataFrame({"who": [f"r{i}" for i in range(12)], "item": words})).codes
    assert codes[:, 0].tolist() == [1] * 6 + [0] * 6


def test_metrics_that_lenskit_alone_has_are_of_lenskit(tmp_path):
    names = ["RBP", "DCG", "Hit", "ListGini", "ExponentialGini", "MeanPopRank", "ILS", "AveragePrecision", "Entropy"]
    path = tmp_path / "films.csv"
    path.write_text(f"model,user_id,NDCG,{','.join(names)}\nA,1,{','.join(['0.5'] * 10)}\n")
    assert load_results(path).frame["framework"].unique().to_list() == ["LensKit"]
    for columns, kind in (("rank", "lists"), ("score", "lists"), ("note", None)):
        path.write_text(f"user_id,item_id,{columns}\n1,2,3\n")
        assert recognise_lenskit(OpenedFile(path)) == kind, columns


def test_names_that_windows_keeps_are_refused():
    kept = ["con", "prn", "AUX", "nul", *(f"{port}{n}" for port in ("com", "LPT") for n in range(10))]
    for name in (*kept, "con.tar.gz"):
        with pytest.raises(Exception, match="is kept by Windows for a device"):
            checked_name(name)
    assert checked_name("com10") == "com10"


def test_counts_of_trec_eval_are_no_measures(tmp_path):
    counts = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "relstring")
    path = tmp_path / "films" / "bm25.txt"
    path.parent.mkdir()
    path.write_text("map all 0.5\nndcg all 0.25\n" + "".join(f"{count} all 3\n" for count in counts))
    assert load_results(path, format="trec").metrics == ["map", "ndcg"]


def test_a_file_of_interactions_is_known_by_each_usual_ending(tmp_path):
    for ending in ("data", "base", "test", "ratings"):
        path = tmp_path / f"a.{ending}"
        path.write_text("1\t10\t5\t881250949\n2\t20\t3\t881250950\n")
        record = read_interactions(path).record
        assert record.format == ("csv" if ending == "ratings" else "movielens"), ending


@pytest.mark.parametrize(
    "begun",
    [
        "{tabular}{lc}", "{tabular*}{9cm}{lc}", "{tabularx}{9cm}{lc}", "{tabulary}{9cm}{lc}", "{longtable}{lc}",
        "{longtable*}{lc}", "{tabu}{lc}", "{longtabu}{lc}", "{NiceTabular}{lc}", "{NiceTabular*}{9cm}{lc}",
        "{NiceTabularX}{9cm}{lc}", "{tblr}{lc}", "{array}[t]{lc}", "{supertabular}{lc}",
    ],
)  # fmt: skip
def test_each_kind_of_table_of_latex(begun):
    name = begun[1 : begun.index("}")]
    rows = "\\begin" + begun + " Model & MRR \\\\ EASE & 0.3 \\\\ \\end{" + name + "}"
    ((grid, _),) = latex_grids(rows)
    assert [[cell.strip() for cell in row] for row in grid] == [["Model", "MRR"], ["EASE", "0.3"]]


def test_rules_of_latex_are_no_cells():
    plain = "toprule midrule bottomrule hline hdashline firsthline lasthline endhead endfirsthead endfoot endlastfoot"
    sized = "addlinespace[2pt] centering thickhline morecmidrules small scriptsize footnotesize midrule[1pt]"
    taking = (
        "noalign{x} vspace{2pt} rowcolor{red} arrayrulecolor{red} specialrule{1pt}{2pt}{3pt} cmidrule(lr){1-2} "
        "cline{1-2} cdashline{1-2}[1pt/1pt] Xhline{2pt} tabucline[1pt]{1-2} rule{0pt}{3ex} hlineB{2} "
        "extrarowheight{1pt}"
    )
    for rule in f"{plain} {sized} {taking}".split():
        text = "\\begin{tabular}{lc} Model & MRR \\\\ \\" + rule + " EASE & 0.3 \\\\ \\end{tabular}"
        ((grid, _),) = latex_grids(text)
        assert [cell.strip() for cell in grid[1]] == ["EASE", "0.3"], rule
    for stacked in ("makecell", "shortstack", "thead", "specialcell"):
        ((grid, _),) = latex_grids("\\begin{tabular}{lc} \\" + stacked + "[c]{Mo\\\\del} & MRR \\\\ \\end{tabular}")
        assert plain_name(grid[0][0]) == "Mo del", stacked


def test_macros_around_a_number_of_latex():
    dropped = (
        "cellcolor rowcolor columncolor hphantom vphantom phantom color cite Citep footnotemark tnote label ref hspace "
        "vspace rule href url thanks"
    )
    bold, signs = "bold and underlined marks", "stars, daggers and superscripts"
    for macro in dropped.split():
        assert read_cell(f"\\{macro}{{7}}0.5") == Cell(0.5), macro
    for macro in ("textcolor", "colorbox", "fcolorbox"):
        assert read_cell(f"\\{macro}{{7}}{{0.5}}") == Cell(0.5), macro
    for macro in ("textbf", "mathbf", "bm", "boldsymbol", "bfseries", "bf", "underline", "uline", "uuline", "emph",
                  "textit", "it", "em"):  # fmt: skip
        assert read_cell(f"\\{macro} 0.5") == Cell(0.5, taken=(bold,)), macro
    for macro in ("dag", "dagger", "ddag", "ddagger", "ast", "star", "bigstar", "uparrow", "downarrow", "triangleup",
                  "bullet", "diamond", "S", "P"):  # fmt: skip
        assert read_cell(f"0.5$\\{macro}$") == Cell(0.5, taken=(signs,)), macro


def test_greek_letters_of_a_name_are_spelled_out():
    letters = "alpha beta gamma delta epsilon lambda mu pi sigma tau phi psi omega theta ell"
    assert {name: plain_name(f"$\\{name}$-VAE") for name in letters.split()} == {
        name: f"{name}-VAE" for name in letters.split()
    }


def test_measures_of_trec_eval_and_ir_measures_are_known(tmp_path):
    trec = (
        "map gm_map P_5 recall_5 ndcg ndcg_cut_5 recip_rank Rprec bpref iprec_at_recall_0.10 success_5 map_cut_5 set_P "
        "num_q runid infAP 11pt_avg rel_P utility relative_P_5"
    )
    measures = "AP nDCG P R RR Rprec Bpref Success ERR RBP SetP SetR SetF Judged IPrec NumRet NumRel INST SDCG BPM"
    path = tmp_path / "bm25.txt"
    for word in trec.split():
        path.write_text(f"{word} all 0.5\n")
        assert recognise_trec(OpenedFile(path)) == "results", word
    for grade, kind in (("1", "judgements"), ("-2", "judgements"), ("0.5", None)):
        path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")
        assert recognise_trec(OpenedFile(path)) == kind, grade
    for word in measures.split():
        path.write_text(f"{word}@5\t0.5\n")
        assert recognise_ir_measures(OpenedFile(path)) == "results", word


def test_bookkeeping_of_helm_is_no_score():
    words = (
        "num_references max_prob batch_size finish_reason_stop inference_runtime training_co2_cost logprob "
        "estimated_num_tokens_cost runtime prompt_truncated"
    )
    stats = [{"name": {"name": word, "split": "test"}, "mean": 1} for word in (*words.split(), "exact_match")]
    assert list(_stats(stats, "test")) == [("exact_match", 1)]


def test_a_column_of_a_table_of_helm_that_names_no_scenario_is_left_out():
    told = {"metric": "EM", "run_group": "mmlu"}
    headers = ["Model", "Mean win rate", "boolq - EM", {"value": "EM", "metadata": {"metric": "EM"}},
               {"value": "MMLU", "metadata": told}, {"value": " - EM"}]  # fmt: skip
    rows = list(_table({"header": headers, "rows": [["A", 0.1, 0.2, 0.3, 0.4, 0.5]]}))
    assert [(row[c.DATASET], row[c.VALUE]) for row in rows] == [("boolq", 0.2), ("mmlu", 0.4)]


def test_metrics_that_replay_alone_has_are_of_replay(tmp_path):
    path = tmp_path / "films.csv"
    for name in ("NDCG-Median@5", "NDCG-ConfidenceInterval@5", "NDCG-PerUser@5", "Surprisal@5", "Unexpectedness@5",
                 "RocAuc@5", "CategoricalDiversity@5"):  # fmt: skip
        path.write_text(f",NDCG@5,{name}\nA,0.5,0.25\n")
        assert recognise_replay(OpenedFile(path)) == "results", name


def test_words_before_and_behind_a_metric():
    for word, phase in {"test": "", "eval": "", "evaluation": "", "valid": "valid", "validation": "valid",
                        "val": "valid", "dev": "valid", "best_valid": "valid", "train": "train"}.items():  # fmt: skip
        assert spelled(f"{word}_ndcg@10") == Spelled("ndcg@10", True, phase=phase), word
        assert spelled(f"metrics/{word}/ndcg@10") == Spelled("ndcg@10", True, phase=phase), word
    deviations = ("std", "std.", "std dev", "std_dev", "stdev", "stddev", "sd")
    errors = ("stderr", "std err", "std_error", "se", "sem", "error bar", "error bars")
    for kind, words in {"deviation": deviations, "error": errors}.items():
        for word in words:
            assert spelled(f"ndcg@10 ({word})") == Spelled("ndcg@10", True, deviation=kind), word
    for kind, words in {"deviation": ("std", "stdev", "stddev", "sd"), "error": ("stderr", "se", "sem")}.items():
        for word in words:
            assert spelled(f"{word}_ndcg@10") == Spelled("ndcg@10", True, deviation=kind), word
    for word in ("mean", "avg", "average"):
        assert spelled(f"ndcg@10_{word}") == spelled(f"{word} ndcg@10") == Spelled("ndcg@10", True), word
    for letter, metric in {"n": "ndcg", "H": "hitrate", "p": "precision", "R": "recall"}.items():
        assert spelled(f"{letter}@20") == Spelled(f"{metric}@20", True)


def test_rows_that_compare_or_average_the_others_by_their_names():
    gains = ("Improvement", "% Improv.", "Impr", "Gain", "Δ", "delta", "p-value", "pval", "Rel. gain", "Increase")
    assert [name for name in gains if not GAIN.match(name)] == []
    means = ("Avg.", "average", "Mean", "Macro avg", "micro-average", "Overall", "Avg. rank", "mean ranking",
             "Average score", "Mean value", "overall mean", "Avg position", "mean position")  # fmt: skip
    assert [name for name in means if not AVERAGE.match(name)] == []
    assert not any(map(AVERAGE.match, ("MeanPop", "Average joe", "Overalls", "position")))
    assert not any(map(GAIN.match, ("Imprint", "again", "EASE")))


def test_remarks_below_a_table_by_their_first_word():
    for word in ("Note", "notes", "Source:", "sources", "Remark", "remarks", "Legend", "best", "Bold", "significance",
                 "All", "values", "value", "We", "The", "*", "†", "‡", "§", "#", "^1"):  # fmt: skip
        frame = pl.DataFrame({"model": ["foo", f"{word} x"], "NDCG@10": ["0.3", None], "HR@10": ["0.5", ""]})
        read = remarks_below(Reading(Table.of(frame), Asked(), "here"))
        told = Reason(f"remarks below the table were left out: '{word} x'", "note")
        assert (read.table.height, read.reasons) == (1, (told,)), word
    kept = pl.DataFrame({"model": ["foo", "Allstar x"], "NDCG@10": ["0.3", None], "HR@10": ["0.5", ""]})
    assert remarks_below(Reading(Table.of(kept), Asked(), "here")).table.height == 2


def test_metrics_between_0_and_1_are_told_where_they_are_above():
    for metric in ("ndcg", "hitrate", "precision", "recall", "map", "mrr", "f1", "auc", "accuracy", "coverage", "gini"):
        frame = pl.DataFrame({"dataset": ["d1"], "metric": [metric], "value": [12.0], "source": ["a"]})
        assert list(_scales(frame)) == [
            f"{metric} has values above 1, which were read as they stand (percent, or a count?)"
        ]


def test_metrics_that_need_no_cut_off_beside_a_dataset():
    for name in ("ndcg", "hitrate", "precision", "recall", "map", "mrr", "f1", "auc", "rmse", "mae", "logloss"):
        assert split_compound(f"ml-1m_{name}") == ("ml-1m", Spelled(name, True)), name
        assert split_compound(f"{name} (ml-1m)") == ("ml-1m", Spelled(name, True)), name
    assert split_compound("ml-1m_seconds") is None


def test_parts_of_a_split_and_columns_of_items_by_each_usual_name(tmp_path):
    words = {
        "train": ("train", "training"),
        "valid": ("valid", "validation", "val", "dev"),
        "test": ("test", "testing"),
    }
    first = {part: each[0] for part, each in words.items()}
    for part, each in words.items():
        for word in each:
            folder = tmp_path / f"{part}-{word}"
            folder.mkdir()
            for name in {**first, part: word}.values():
                (folder / f"films.{name}.csv").write_text("x")
            assert find_parts(folder)[part].name == f"films.{word}.csv"
    for item in ("item", "name", "instance"):
        for columns in (("discrimination", "difficulty", "guessing"), ("a", "b", "c")):
            items = read_items(pl.DataFrame({item: ["i1"], **dict(zip(columns, ([2.0], [1.5], [0.25]), strict=True))}))
            assert (items.slope[0], items.intercept[0], items.guessing[0]) == (2.0, -3.0, 0.25)


def test_folders_that_tell_repeats_apart_name_no_dataset():
    for word in ("run", "exp", "trial", "seed", "fold", "split", "version", "v", "part", "round", "attempt"):
        assert [meaningful(f"{word}{sign}3") for sign in ("", "-", "_", "=", " ")] == [""] * 5, word
    assert meaningful("v3 films") == "v3 films"
