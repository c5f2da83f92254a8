"""`recassay run --adaptive`, `recassay plan --cells`, and what `status` and the report say of them."""

from __future__ import annotations

import pytest

COMMAND = (
    "run", "--datasets", "synthetic:dense-small,synthetic:few-items,synthetic:niche-tastes", "-j", 1,
    "--algorithms", "MostPop,EASE,Random", "--trials", 0, "--metrics", "ndcg@10,coverage@10",
)  # fmt: skip


@pytest.mark.usefixtures("in_process")
def test_run_status_and_report(cli, tmp_path):
    out = tmp_path / "out"
    ran = cli(*COMMAND, "--out", out, "--adaptive", "--confidence", 0.7)
    assert ran.code == 0, ran.err
    assert "next: " in ran.err
    assert "of the predicted cost" in ran.out
    status = cli("status", out, "--json").json()
    assert "the first place is settled" in status["adaptive"]
    assert "Adaptive: the first place is settled" in " ".join(cli("status", out).out.split())
    answer = cli("plan", out, "--cells", "--json").json()
    assert answer["certified"]
    assert answer["cost"]["of"] == 9
    assert answer["prior"]["sources"][0].startswith("published:kdd24 (3 of 3 algorithms")
    names = [source.partition(" (")[0] for source in answer["prior"]["sources"]]
    assert "published:board" in names
    assert "published:open" not in names  # replaced by it: no dataset counts twice
    assert answer["prior"]["weight_in_datasets"] > 0
    assert "prior: published:kdd24" in status["adaptive"]
    assert {cell["state"] for cell in answer["cells"]} <= {"measured", "predicted"}
    told = " ".join(cli("plan", out, "--cells", "--all", "--out", tmp_path / "told").out.split())
    assert "has the best mean rank of the whole grid" in told
    assert "not claims about other datasets" in told
    assert (tmp_path / "told" / "tables" / "adaptive_cells.csv").is_file()
    report = cli("analyze", out, "--missing", "drop-datasets", "--out", tmp_path / "report")
    assert report.code == 0, report.err
    page = (tmp_path / "report" / "report.html").read_text()
    assert "predicted, not measured" in page
    whole = cli(*COMMAND, "--out", out, "--json").json()
    assert whole["done"] == 9
    assert whole["ran"] == 9 - status["done"]


def test_a_published_table_is_replayed(cli):
    answer = cli("plan", "published:bi-reirt", "--cells", "--metric", "ndcg@10", "--target", "rho", "--budget", "40",
                 "--json").json()  # fmt: skip
    assert answer["cost"]["cells"] <= 187
    assert len(answer["order"]) == 17
    assert answer["curve"][-1]["done"] == answer["cost"]["cells"]


@pytest.mark.parametrize("text", ["soon", "2 weeks", "-3h", "0"])
def test_a_budget_that_is_no_time_is_refused(cli, text):
    refused = cli(*COMMAND, "--adaptive", "--budget", text)
    assert refused.code == 2
    assert "is not a time" in refused.err


def test_a_budget_needs_an_adaptive_run(cli):
    assert "--budget is for adaptive runs" in cli(*COMMAND, "--budget", "2h").err
