"""What a finished study says beyond its table: settings, candidates, the journal, the facts, answers of classifiers."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

from recassay.api.study.studies import make_study
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.specs.study import AlgorithmSpec
from recassay.evidence import instances
from recassay.evidence.facts import HARMLESS, _sealed, _spaces, _spent, _splits, study_facts
from recassay.evidence.study import (
    adaptive_journal,
    candidates,
    comper_settings,
    evidence_of,
    study_characteristics,
    study_part,
)
from recassay.store import CellRecord, Store
from recassay.store.adaptive import write_adaptive
from support.stores import write_records


def done(name, algorithm, dataset, value, *, seed=1, fold=None, **more):
    metrics = {"ndcg@10": value}
    return CellRecord(name, algorithm, dataset, seed, fold, more.pop("spec", {}), "done", metrics=metrics, **more)


def test_a_bare_table_knows_nothing_and_a_study_by_its_kind(tmp_path):
    assert evidence_of(None) == {}
    cells = [done("c1", "A", "films", 0.5)]
    study = write_records(tmp_path / "study", ["ndcg@10"], cells, manifest={"study": {}})
    usual = {"strata", "comper", "user_responses", "characteristics", "user_scores", "users", "gains",
             "own_lists", "windows"}  # fmt: skip
    assert set(evidence_of(study)) == usual
    write_adaptive(study, dict.fromkeys(("metric", "algorithms", "datasets", "question", "steps", "seed", "said"), 1))
    assert set(evidence_of(study)) == {*usual, "adaptive"}
    other = write_records(tmp_path / "other", ["accuracy"], [], manifest={"classifiers": {}, "study": {}})
    assert set(evidence_of(other)) == {"instances"}


def test_settings_and_the_journal_with_the_time_of_all_seeds(tmp_path):
    cells = [done("c1", "A", "films", 0.5, seconds=2.0), done("c2", "A", "films", 0.7, seed=2, seconds=3.5),
             done("c3", "B", "films", 0.1)]  # fmt: skip
    manifest = {"study": {"comper": {"correctness": "recall@5", "k": 5, "size": 0.1}}}
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells, manifest=manifest)
    assert comper_settings(folder) == ("recall@5", 5)
    assert adaptive_journal(folder) is None
    journal = {
        "metric": "ndcg@10",
        "algorithms": [],
        "datasets": [],
        "question": "?",
        "steps": [],
        "seed": 1,
        "said": [],
    }
    write_adaptive(folder, journal)
    found = adaptive_journal(folder)
    assert found["question"] == "?"
    assert found["seconds"] == [("A", "films", 5.5), ("B", "films", 0.0)]
    bare = write_records(tmp_path / "bare", ["ndcg@10"], cells, manifest={"study": {}})
    assert comper_settings(bare) == (None, None)


def test_artificial_classifiers_are_no_candidates_unless_too_few_are_left(tmp_path):
    def table(folder, *roles):
        cells = [done(f"c{i}", name, "iris", 0.5, spec={"role": role}) for i, (name, role) in enumerate(roles)]
        with Store.open(write_records(folder, ["ndcg@10"], cells)) as store:
            return sorted(candidates(store).algorithms)

    real, mlp, artificial = ("tree", "real"), ("mlp1", "mlp"), ("best", "artificial")
    assert table(tmp_path / "a", real, ("knn", "real"), mlp, artificial) == ["knn", "tree"]
    assert table(tmp_path / "b", real, mlp, artificial) == ["best", "mlp1", "tree"]
    assert table(tmp_path / "c", real, ("knn", "real")) == ["knn", "tree"]


def test_the_part_of_a_larger_table_names_version_convention_and_nothing_it_does_not_know(tmp_path):
    manifest = {"versions": {"recassay": "1.2"}, "study": {}, "metrics": {
        "ndcg@10": {"variant": "ideal_min", "convention": "the ideal list"}, "seconds_fit": {"unit": "s"}}}  # fmt: skip
    folder = write_records(tmp_path / "study", ["ndcg@10"], [done("c1", "A", "films", 0.5)], manifest=manifest)
    part = study_part(folder)
    (row,) = part.frame.filter(pl.col("metric") == "ndcg@10").rows(named=True)
    told = {name: row[name] for name in ("framework", "version", "convention", "protocol")}
    assert told == {
        "framework": "RecAssay", "version": "1.2", "convention": "ideal_min: the ideal list", "protocol": None
    }  # fmt: skip
    assert part.frame.filter(pl.col("metric") == "seconds_fit")["convention"].to_list() == [None]
    assert part.where == str(folder)


def test_the_facts_of_a_study_of_classifiers_and_what_its_cells_took(tmp_path):
    meter, guess = {"joules": 1500.0, "joules_fit": 1.0, "how": "read"}, {"joules": 500.0, "how": "estimated"}
    cells = [
        done("c1", "tree", "iris", 0.5, parameters={"depth": 3, "rate": 0.123456, "kind": "gini"}, energy=meter),
        done("c2", "knn", "iris", 0.4, fold=2, energy=guess, validation=0.7),
        done("c3", "svm", "iris", 0.6),
        CellRecord("c4", "mlp", "iris", 1, None, {}, "failed", reason="too large"),
    ]
    manifest = {
        "classifiers": {},
        "study": {"name": "flowers", "budget": {"memory": 1}},
        "written": "2026",
        "seeds": [1],
    }
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells, to_go=[("late", "iris", 1)], manifest=manifest)
    facts = study_facts(folder)
    assert (facts.name, facts.planned, facts.done, facts.to_go) == ("flowers", 5, 3, 1)
    assert (facts.seeds, facts.budget, facts.written) == ((1,), {"memory": 1}, "2026")
    assert [(cell.algorithm, cell.reason) for cell in facts.failed] == [("mlp", "too large")]
    assert facts.energy == "2 kJ (0.00056 kWh), estimated, read; 2 cells without a record"
    rows = facts.parameters.rows(named=True)
    assert [row["parameters"] for row in rows] == ['depth = 3, rate = 0.1235, kind = "gini"', "", ""]
    assert [row["fold"] for row in rows] == [None, 2, None]
    assert rows[1]["validation"] == 0.7
    none = write_records(tmp_path / "none", ["ndcg@10"], cells[2:3], manifest=manifest)
    assert study_facts(none).energy == ""
    both = write_records(tmp_path / "both", ["ndcg@10"], cells[:1], manifest=manifest)
    assert study_facts(both).energy == "1.5 kJ (0.00042 kWh), read"


class Record:
    """The record of a split with these findings, by name."""

    def __init__(self, fingerprint, *findings):
        self.fingerprint, self.n_users, self.n_items, self.n_interactions = fingerprint * 20, 9, 5, 40
        self.counts = {"test_interactions": 8}
        found = [{"name": name, "sentence": f"about {name}"} for name in findings]
        self.audit = {"users_evaluated": 6, "share_of_users_evaluated": 2 / 3, "findings": found}


@pytest.fixture
def records(monkeypatch):
    """The records of splits by name; one that is not there is gone."""
    known = {}

    def split_record(folder, split):
        if split not in known:
            raise InputError("the record is gone")
        return known[split]

    monkeypatch.setattr("recassay.recommenders.splits.split_record", split_record)
    monkeypatch.setattr(
        "recassay.recommenders.plan.SplitSpec.model_validate", classmethod(lambda cls, spec: SimpleNamespace(id=spec))
    )
    return known


def test_splits_tell_what_leaks_and_a_record_that_is_gone_is_told_of_finished_cells(records):
    cells = (
        done("c1", "A", "films", 0.5, spec={"split": "s1"}), done("c2", "B", "films", 0.5, spec={"split": "s1"}),
        done("c3", "A", "books", 0.5, spec={"split": "s2"}, fold=1),
        done("c4", "A", "songs", 0.5, spec={"split": "s3"}),
        CellRecord("c5", "A", "games", 1, None, {"split": "s4"}, "failed", reason="slow"),
        CellRecord("c6", "B", "songs", 1, None, {"split": "s3"}, "failed", reason="slow"),
    )  # fmt: skip
    records["s1"] = Record("a", "train_after_test", "few_test_users")
    records["s2"] = Record("b")
    rows, findings, order = _splits(None, cells)
    assert not order.height
    assert rows.select("dataset", "fold", "users", "items", "training interactions", "test interactions").rows() == [
        ("films", None, 9, 5, 40, 8), ("books", 1, 9, 5, 40, 8)
    ]  # fmt: skip
    assert rows["users judged"].to_list() == [6, 6]
    assert rows["fingerprint"].to_list() == ["a" * 12, "b" * 12]
    assert [(finding.dataset, finding.name, finding.leak) for finding in findings] == [
        ("films", "train_after_test", True), ("films", "few_test_users", False), ("songs", "no_audit", True)
    ]  # fmt: skip


def test_the_split_of_a_dataset_stands_beside_its_values_unless_it_has_folds(tmp_path, records):
    cells = [
        done("c1", "A", "films", 0.5, spec={"split": "s1"}),
        done("c2", "A", "books", 0.5, spec={"split": "s2"}, fold=1),
        done("c3", "A", "songs", 0.5, spec={"split": "s3"}), done("c4", "B", "films", 0.5, spec={"split": "s2"}),
        done("c5", "A", "tables", 0.5), done("c6", "A", "games", 0.5, spec={"split": "s2"}),
    ]  # fmt: skip
    records.update(s1=Record("a"), s2=Record("b"))
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells, manifest={"study": {}})
    frame = study_part(folder).frame.filter(pl.col("metric") == "ndcg@10")
    assert dict(frame.select("dataset", "protocol").unique().rows()) == {
        "films": f"split {'a' * 12}", "books": None, "songs": None, "tables": None, "games": f"split {'b' * 12}"
    }, "a record that is gone says nothing of the datasets after it"  # fmt: skip
    assert frame["version"].to_list() == [None] * 6


def test_trials_are_counted_over_finished_cells_alone():
    cells = (
        done("c1", "A", "films", 0.5), done("c2", "A", "books", 0.5), done("c4", "B", "films", 0.5),
        CellRecord("c3", "A", "songs", 1, None, {}, "failed", reason="slow"),
    )  # fmt: skip
    tried = pl.DataFrame({"cell": ["c1"] * 4 + ["c2"] * 2 + ["c3"] * 9})
    assert _spent(cells, tried) == {"A": (2, 4), "B": (0, 0)}


def test_findings_that_leak_are_no_harmless_ones():
    assert set(HARMLESS) == {
        "empty_valid", "few_test_users", "repeated_events", "tied_with_train", "users_of_one_time", "tied_targets"
    }  # fmt: skip


class Spec:
    """The role and the split of a cell."""

    def __init__(self, spec):
        self.role, self.split = spec["role"], self
        self.id = "split"


def test_answers_of_classifiers_are_those_on_the_same_rows(tmp_path, monkeypatch):
    split = {"dataset": "iris", "data": "x", "fraction": 0.5, "seed": 1}
    specs = {name: {"classifier": name, "role": role, "code": "1", "split": split}
             for name, role in (("tree", "real"), ("mlp1", "mlp"), ("gone", "real"))}  # fmt: skip
    cells = [done("c1", "tree", "iris", 1.0, spec=specs["tree"]), done("c2", "mlp1", "iris", 0.5, spec=specs["mlp1"]),
             CellRecord("c3", "gone", "iris", 1, None, specs["gone"], "failed", reason="slow")]  # fmt: skip
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells)
    right = {"c1": [1, 1, 0], "c2": [0, 1, 1]}
    rows = {"c1": [4, 7, 9], "c2": [4, 7, 9]}

    def responses(self, cell):
        return pl.DataFrame({"row": rows[cell], "right": right[cell], "truth": ["a", "b", "a"]})

    monkeypatch.setattr(Store, "responses", responses)
    monkeypatch.setattr(instances.ClassifierCellSpec, "model_validate", classmethod(lambda cls, spec: Spec(spec)))
    monkeypatch.setattr(
        instances, "table_record", lambda folder, split: {"properties": {f"{split} of {folder.name}": 2.0}}
    )
    (found,) = instances.stored_instances(folder)
    assert found.dataset == "iris"
    assert found.responses.codes.tolist() == [[1, 1, 0], [0, 1, 1]]
    assert (found.responses.respondents, found.responses.items) == (("tree", "mlp1"), ("r4", "r7", "r9"))
    assert (found.roles, found.truth, found.metadata) == (("real", "mlp"), ("a", "b", "a"), {"split of study": 2.0})
    rows["c2"] = [4, 7, 8]
    with pytest.raises(InputError, match="the cells of iris were tested on different rows"):
        instances.stored_instances(folder)
    with pytest.raises(InputError, match="this is not a classifier study"):
        instances.stored_instances(write_records(tmp_path / "other", ["ndcg@10"], [done("c1", "A", "films", 0.5)]))
    with pytest.raises(InputError, match="no cell of this study is done"):
        instances.stored_instances(write_records(tmp_path / "none", ["ndcg@10"], cells[2:]))


def heard(monkeypatch, place):
    """What a function is asked for, and answers with."""
    asked = []
    monkeypatch.setattr(place, lambda *given, **named: asked.append((given, named)) or f"answer {len(asked)}")
    return asked


def test_the_evidence_of_a_study_passes_on_what_is_asked_of_it(tmp_path, monkeypatch):
    cells = [done("c1", "A", "films", 0.5)]
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells, manifest={"study": {}})
    of = evidence_of(folder)
    strata = heard(monkeypatch, "recassay.evidence.strata.study_strata")
    assert of["strata"]()("ndcg@5", seed=7) == "answer 1"
    ((where, sweep), _) = strata.pop()
    assert (where, sweep.metric.label, sweep.seed) == (folder, "ndcg@5", 7)
    with pytest.raises(
        NotApplicableError, match="seconds_fit is not a metric of lists, so it has no popularity strata"
    ):
        of["strata"]()("seconds_fit", seed=7)
    responses = heard(monkeypatch, "recassay.evidence.users.user_responses")
    for metric in ("hitrate@5", "ndcg@10", "coverage@10"):
        of["user_responses"]()(metric)
    assert [given[1] for given, _ in responses] == ["hitrate@5", "ndcg@10", None], "coverage tells no hit"
    assert {given[0].folder for given, _ in responses} == {folder}


def test_characteristics_are_those_of_all_parts_of_the_kept_splits(tmp_path, monkeypatch, records):
    class Parts:
        """A split, as far as its characteristics are concerned."""

        def __init__(self, name):
            self.name, self.test = name, f"test of {name}"

        def refit_parts(self):
            return (f"train of {self.name}", f"valid of {self.name}")

    described = []
    monkeypatch.setattr("recassay.recommenders.splits.is_prepared", lambda home, split: split != "gone")
    monkeypatch.setattr("recassay.recommenders.splits.load_split", lambda home, split: Parts(split))
    monkeypatch.setattr("recassay.data.characteristics.describe",
                        lambda *parts: described.append(parts) or {"Nu": len(described), "Ni": 7})  # fmt: skip
    cells = [
        done("c1", "A", "films", 0.5, spec={"split": "s1"}), done("c2", "A", "books", 0.5, spec={"split": "gone"}),
        done("c3", "A", "songs", 0.5, spec={"split": "s3"}), done("c4", "B", "films", 0.5, spec={"split": "s1"}),
        done("c5", "A", "tables", 0.5), done("c6", "A", "songs", 0.5, spec={"split": "gone"}, fold=1),
    ]  # fmt: skip
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells, manifest={"study": {}})
    table = study_characteristics(folder)
    assert described == [("train of s1", "valid of s1", "test of s1"), ("train of s3", "valid of s3", "test of s3")]
    assert (table.datasets, table.names, table.values.tolist()) == (("films", "songs"), ("Nu", "Ni"), [[1, 7], [2, 7]])
    assert table.where == str(folder)
    nothing = write_records(tmp_path / "nothing", ["ndcg@10"], [cells[1], cells[4]], manifest={"study": {}})
    with pytest.raises(NotApplicableError, match="the study keeps no interactions to describe"):
        study_characteristics(nothing)


def test_the_first_cell_of_a_dataset_names_its_split_and_the_part_its_source(tmp_path, records):
    cells = [
        done("c1", "A", "films", 0.5, spec={"split": "s1"}), done("c2", "A", "films", 0.5, seed=2, spec={"split": "s2"})
    ]  # fmt: skip
    records.update(s1=Record("a"), s2=Record("b"))
    part = study_part(write_records(tmp_path / "study", ["ndcg@10"], cells, manifest={"study": {}}))
    assert part.frame["protocol"].unique().to_list() == [f"split {'a' * 12}"]
    assert part.source is not None
    assert part.source.file.endswith("study")


def test_a_seal_is_told_with_its_day_its_checksum_and_the_deviations(tmp_path, monkeypatch):
    assert _sealed(tmp_path) == {"plan": "not sealed"}
    (tmp_path / "seal.json").write_text("{}")
    sentences = []
    seal = {"made": "2026-05-04T10:11:12+00:00", "sha256": "0123456789abcdef" * 4}
    monkeypatch.setattr("recassay.recommenders.seal.read_seal", lambda file: seal if file.name == "seal.json" else None)
    monkeypatch.setattr("recassay.recommenders.seal.deviations",
                        lambda folder, given: [SimpleNamespace(sentence=text) for text in sentences])  # fmt: skip
    for count, words in ((0, "no deviations"), (1, "1 deviation"), (2, "2 deviations")):
        sentences[:] = ["It is so.", "And so."][:count]
        assert _sealed(tmp_path) == {
            "plan": f"sealed on 2026-05-04 (0123456789ab), {words}", "deviations": tuple(sentences)
        }  # fmt: skip


def test_what_tuning_could_vary_is_told_by_parameter_and_no_file_is_read():
    study = SimpleNamespace(algorithms=(
        AlgorithmSpec(reference="ALS", name="small", settings={"factors": 8}),
        AlgorithmSpec(reference="MostPop", name="MostPop"), AlgorithmSpec(reference="mine.py:Mine", name="Mine"),
    ))  # fmt: skip
    spaces, tunable = _spaces(study)
    assert spaces.columns == ["algorithm", "parameter", "searched", "default"]
    rows = {row[:2]: row[2:] for row in spaces.rows()}
    assert rows["small", "factors"] == ("fixed", "8")
    assert rows["Mine", ""] == ("in the algorithm's own file", "")
    assert not [key for key in rows if key[0] == "MostPop"]
    assert tunable == ("small", "Mine")


def test_the_facts_of_a_study_of_recommenders(tmp_path, monkeypatch, records):
    study = make_study(["synthetic:few-items"], ["EASE", "ALS", "ItemKNN", "MostPop"], trials=2, metrics=["ndcg@10"])
    spec = {"split": {"protocol": {"split": "random"}}}
    cells = [
        done("c1", "EASE", "few-items", 0.5, spec=spec), done("c2", "ALS", "few-items", 0.5, spec=spec),
        done("c3", "ALS", "few-items", 0.5, seed=2, spec=spec), done("c5", "MostPop", "few-items", 0.5, spec=spec),
        CellRecord("c4", "ItemKNN", "few-items", 1, None, spec, "failed", reason="slow"),
    ]  # fmt: skip
    manifest = {"study": study.model_dump(mode="json"), "metrics": {"ndcg@10": {"formula": "a / b"}}, "seeds": [1, 2]}
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells, manifest=manifest)
    records["s"] = Record("a", "train_after_test")
    monkeypatch.setattr(
        "recassay.recommenders.plan.SplitSpec.model_validate", classmethod(lambda cls, spec: SimpleNamespace(id="s"))
    )
    monkeypatch.setattr(Store, "trials", lambda self: pl.DataFrame({"cell": ["c3", "c4"]}))
    facts = study_facts(folder)
    assert facts.spent == {"EASE": (0, 0), "ALS": (0, 1), "MostPop": (0, 0)}
    assert facts.untuned == ("EASE",), "ALS had a trial, ItemKNN no finished cell, and MostPop has nothing to tune"
    assert (facts.trials, facts.tuning_metric, facts.seeds) == (2, "ndcg@10", (1, 2))
    assert facts.protocols == {"few-items": {"split": "random"}}
    assert facts.protocol["split"] == study.protocol.split
    assert facts.conventions == {"ndcg@10": {"formula": "a / b"}}
    assert set(facts.spaces["algorithm"]) == {"EASE", "ALS", "ItemKNN"}
    (row,) = facts.splits.rows(named=True)
    assert (row["users judged"], row["share of users judged"], row["test interactions"]) == (6, 2 / 3, 8)
    assert [finding.name for finding in facts.findings] == ["train_after_test"]
    assert facts.plan == "not sealed"
    assert "fold" not in {*facts.splits.columns, *facts.parameters.columns}, "no dataset has folds"
