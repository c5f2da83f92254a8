"""The verb `evaluate`: recommendations made elsewhere, judged on given training and test data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recassay.api.data import load_data
from recassay.core.inputs import InteractionsLike
from recassay.core.seeds import derived_rng
from recassay.core.specs import ProtocolSpec, ReadSpec
from recassay.core.study import DEFAULT_METRICS
from recassay.data.tables.read import read_recommendations
from recassay.metrics.evaluate import EvaluationResult
from recassay.metrics.evaluate import evaluate as judge
from recassay.metrics.lists import ListsRecord, recommendations_to_topk
from recassay.metrics.make import as_metrics
from recassay.protocol.apply import apply_protocol
from recassay.reporting.files import write_files


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationReport:
    """What the lists were worth, what of them was unknown, and the audit of the split they were judged on."""

    result: EvaluationResult
    lists: ListsRecord
    audit: dict[str, Any]
    counts: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            **self.result.to_dict(),
            "lists": {
                "rows": self.lists.rows,
                "unknown_users": self.lists.unknown_users,
                "unknown_user_rows": self.lists.unknown_user_rows,
                "unknown_items": self.lists.unknown_items,
                "unknown_item_rows": self.lists.unknown_item_rows,
                "examples": self.lists.examples,
            },
            "split": {"counts": self.counts, "audit": self.audit},
        }


def evaluate(
    recommendations: Any,
    *,
    train: InteractionsLike,
    test: InteractionsLike,
    metrics: Sequence[str] | None = None,
    read: ReadSpec | Mapping[str, Any] | None = None,
    allow_leakage: Sequence[str] = (),
    seed: int = 0,
) -> EvaluationReport:
    """Judge lists made elsewhere (a file or frame `user,item,score[,rank]`) on given training and test data.

    The two parts go through the leakage audit of a given split: a test pair that was trained on, or training events
    after the first test event, refuse it unless named in `allow_leakage`. Test events of users or items that training
    lacks leave the test part and are counted. Without `metrics` the nine of `core.study.DEFAULT_METRICS` are computed.

    Args:
        recommendations: file or frame `user,item,score[,rank]`.
        train: the interactions that the lists were made from.
        test: the held-out interactions.
        metrics: labels; by default nine.
        read: how files are read: a `ReadSpec` or its fields.
        allow_leakage: names of audit findings that are accepted.
        seed: the same seed gives the same numbers.
    """
    wanted = as_metrics(metrics or DEFAULT_METRICS)
    learned, held_out = load_data(train, read), load_data(test, read)
    spec = ProtocolSpec(split="given", filter="none", allow_leakage=tuple(allow_leakage))
    split = apply_protocol(None, spec, given=(learned, held_out.take(held_out.user < 0), held_out))
    frame, where = read_recommendations(recommendations)
    depth = max((metric.k or 0 for metric in wanted), default=0)
    record = recommendations_to_topk(frame, split.train, rng=derived_rng(seed, "evaluate", "ties"), where=where)
    if depth > record.top.k:
        record = recommendations_to_topk(
            frame, split.train, k=depth, rng=derived_rng(seed, "evaluate", "ties"), where=where
        )
    result = judge(record.top, split.test, wanted, train=split.train)
    return EvaluationReport(result, record, split.audit, split.counts)


def save_evaluation(report: EvaluationReport, content: Mapping[str, Any], out: str | Path) -> list[Path]:
    """Write `evaluation.json`, `metrics.csv` and `per_user.csv` into the folder `out`.

    Args:
        report: what `evaluate` returned.
        content: its JSON document.
        out: the folder.
    """
    return write_files(
        Path(out),
        {
            "evaluation.json": json.dumps(content, indent=1, allow_nan=False).encode(),
            "metrics.csv": report.result.to_frame().write_csv().encode(),
            "per_user.csv": report.result.per_user.write_csv().encode(),
        },
    )
