"""One known table of results, written in the shapes in which people have such tables."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

FIRST, SECOND = "NDCG@10", "Recall@20"
SHAPES: dict[str, Callable[[World], Written]] = {}


@dataclass(frozen=True)
class World:
    """The truth: names and values, and the words that the file uses for algorithms and datasets ("" for none)."""

    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    algorithm_word: str = "model"
    dataset_word: str = "dataset"

    @property
    def truth(self) -> dict[tuple[str, str, str], float]:
        rng = np.random.default_rng(7)
        keys = [(a, d, m) for a in self.algorithms for d in self.datasets for m in (FIRST, SECOND)]
        return {key: round(0.05 + 0.9 * float(rng.random()), 4) for key in keys}

    def long(self) -> pd.DataFrame:
        rows = [(*key, value) for key, value in self.truth.items()]
        return pd.DataFrame(rows, columns=["A", "D", "metric", "value"])

    def named(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with the words of this world instead of A and D."""
        words = {"A": self.algorithm_word or None, "D": self.dataset_word or None}
        index = [words.get(name, name) for name in frame.index.names]
        columns = [words.get(name, name) for name in frame.columns.names]
        return frame.rename_axis(index=index, columns=columns)

    def both(self) -> pd.DataFrame:
        """One column per metric, indexed by algorithm and dataset."""
        return (
            self.long()
            .pivot(index=["A", "D"], columns="metric", values="value")[[FIRST, SECOND]]
            .rename_axis(columns=None)
        )

    def wide(self, metric: str = FIRST) -> pd.DataFrame:
        """Algorithms in rows, datasets in columns."""
        rows = self.long()
        return rows[rows.metric == metric].pivot(index="A", columns="D", values="value")


@dataclass(frozen=True)
class Written:
    """A file (or a frame) in some shape: what it is called, its content, what else the user says, its metrics."""

    name: str
    content: Any
    said: dict[str, Any]
    metrics: tuple[str, ...] = (FIRST, SECOND)
    numbered: bool = False
    """Whether the file leaves out the names of the datasets, so that they are numbered."""


def shape(write: Callable[[World], Written]) -> Callable[[World], Written]:
    SHAPES[write.__name__] = write
    return write


ONE = {"metric": "ndcg@10"}


def _excel(**sheets: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    with pd.ExcelWriter(stream, engine="openpyxl") as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name)
    return stream.getvalue()


def _family(name: str, frame: Callable[[World], pd.DataFrame], metrics: tuple[str, ...] = (FIRST, SECOND)) -> None:
    """A frame of pandas in every form in which pandas writes it, and in memory."""
    said = ONE if len(metrics) == 1 else {}
    forms: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
        "csv": ("t.csv", lambda f: f.to_csv()),
        "excel": ("t.xlsx", lambda f: _excel(all=f)),
        "latex": ("t.tex", lambda f: f.to_latex()),
        "html": ("t.html", lambda f: f.to_html()),
        "markdown": ("t.md", lambda f: f.to_markdown()),
        "printed": ("t.txt", lambda f: f.to_string()),
        "memory": ("", lambda f: f),
        "reset_csv": ("t.csv", lambda f: f.reset_index().to_csv(index=False)),
        "reset_with_index_csv": ("t.csv", lambda f: f.reset_index().to_csv()),
    }
    for form, (file, write) in forms.items():

        def made(world: World, write: Any = write, file: str = file) -> Written:
            return Written(file, write(world.named(frame(world))), said, metrics)

        SHAPES[f"{name}_{form}"] = made


_family("unstacked", lambda w: w.both().unstack("D"))
_family("unstacked_datasets_in_rows", lambda w: w.both().unstack("A"))
_family("dataset_over_metric", lambda w: w.both().unstack("D").swaplevel(axis=1).sort_index(axis=1))
_family("algorithm_over_metric", lambda w: w.both().unstack("A").swaplevel(axis=1).sort_index(axis=1))
_family("two_index_columns", lambda w: w.both())
_family("two_index_columns_swapped", lambda w: w.both().swaplevel().sort_index())
_family("wide", lambda w: w.wide(), (FIRST,))
_family("wide_transposed", lambda w: w.wide().T, (FIRST,))
_family("metric_in_rows", lambda w: w.long().pivot(index=["A", "metric"], columns="D", values="value"))
_family("metric_in_rows_transposed", lambda w: w.long().pivot(index=["D", "metric"], columns="A", values="value"))


def _long(world: World) -> pd.DataFrame:
    return world.long().rename(columns={"A": world.algorithm_word or "x", "D": world.dataset_word or "y"})


@shape
def long_csv(world: World) -> Written:
    return Written("t.csv", _long(world).to_csv(index=False), {})


def _repeated(world: World, column: str) -> str:
    """Every cell three times, told apart by a column of numbers that is not a metric."""
    wide = _long(world).pivot(index=list(_long(world).columns[:2]), columns="metric", values="value").reset_index()
    parts = [wide.assign(**{column: number}) for number in range(3)]
    frame = pd.concat(parts)
    return str(frame[[*frame.columns[:2], column, FIRST, SECOND]].to_csv(index=False))


for _name in ("split", "Split", "fold", "fold_id", "i_split", "repeat"):
    SHAPES[f"repeats_by_{_name}"] = lambda world, column=_name: Written("t.csv", _repeated(world, column), {})


@shape
def long_tsv_with_index(world: World) -> Written:
    return Written("t.tsv", _long(world).to_csv(sep="\t"), {})


@shape
def long_swapped_columns(world: World) -> Written:
    frame = _long(world)
    return Written("t.csv", frame[[frame.columns[1], frame.columns[0], "metric", "value"]].to_csv(index=False), {})


@shape
def long_parquet(world: World) -> Written:
    stream = io.BytesIO()
    pl.DataFrame({name: _long(world)[name].tolist() for name in _long(world)}).write_parquet(stream)
    return Written("t.parquet", stream.getvalue(), {})


@shape
def long_arrow(world: World) -> Written:
    return Written("", pl.DataFrame({name: _long(world)[name].tolist() for name in _long(world)}).to_arrow(), {})


@shape
def long_json_records(world: World) -> Written:
    return Written("t.json", _long(world).to_json(orient="records"), {})


@shape
def long_json_split(world: World) -> Written:
    return Written("t.json", _long(world).to_json(orient="split"), {})


@shape
def long_json_lines(world: World) -> Written:
    return Written("t.jsonl", _long(world).to_json(orient="records", lines=True), {})


@shape
def wide_json_split(world: World) -> Written:
    return Written("t.json", world.named(world.wide()).to_json(orient="split"), ONE, (FIRST,))


@shape
def wide_json_columns(world: World) -> Written:
    return Written("t.json", world.wide().to_json(), ONE, (FIRST,))


@shape
def wide_json_columns_transposed(world: World) -> Written:
    return Written("t.json", world.wide().T.to_json(), ONE, (FIRST,))


def _nested(world: World, order: str) -> str:
    tree: dict[str, Any] = {}
    for (a, d, m), value in world.truth.items():
        first, second = (a, d) if order == "AD" else (d, a)
        tree.setdefault(first, {}).setdefault(second, {})[m] = value
    return json.dumps(tree)


@shape
def nested_json_by_algorithm(world: World) -> Written:
    return Written("t.json", _nested(world, "AD"), {})


@shape
def nested_json_by_dataset(world: World) -> Written:
    return Written("t.json", _nested(world, "DA"), {})


@shape
def compound_headers(world: World) -> Written:
    frame = world.both().unstack("D")
    frame.columns = [f"{d}_{m}" for m, d in frame.columns]
    return Written("t.csv", world.named(frame).to_csv(), {})


@shape
def compound_headers_of_algorithms(world: World) -> Written:
    frame = world.both().unstack("A")
    frame.columns = [f"{m} ({a})" for m, a in frame.columns]
    return Written("t.csv", world.named(frame).to_csv(), {})


@shape
def mean_and_deviation_columns(world: World) -> Written:
    frame = world.named(world.both()).reset_index()
    frame.insert(3, f"{FIRST} std", 0.01)
    frame[f"{SECOND} std"] = 0.02
    return Written("t.csv", frame.to_csv(index=False), {})


@shape
def mean_and_deviation_levels(world: World) -> Written:
    frame = pd.concat({"mean": world.both(), "std": world.both() * 0 + 0.01}, axis=1).swaplevel(axis=1)
    return Written("t.csv", world.named(frame.sort_index(axis=1)).to_csv(), {})


@shape
def deviations_in_the_cells(world: World) -> Written:
    return Written("t.csv", world.named(world.both().map(lambda v: f"{v:.4f}±0.02")).to_csv(), {})


@shape
def deviations_in_the_cells_of_a_wide_table(world: World) -> Written:
    return Written("t.csv", world.named(world.wide().map(lambda v: f"{v:.4f} (0.02)")).to_csv(), ONE, (FIRST,))


@shape
def percent_signs(world: World) -> Written:
    return Written("t.csv", world.named(world.both().map(lambda v: f"{100 * v:.2f}%")).to_csv(), {})


@shape
def percent_in_the_header(world: World) -> Written:
    frame = (100 * world.both()).round(2).rename(columns=lambda m: f"{m} (%)")
    return Written("t.csv", world.named(frame).to_csv(), {})


@shape
def decimal_commas(world: World) -> Written:
    return Written("t.csv", world.named(world.both().unstack("D")).to_csv(sep=";", decimal=","), {})


@shape
def decimal_commas_of_a_wide_table(world: World) -> Written:
    return Written("t.csv", world.named(world.wide().T).to_csv(sep=";", decimal=","), ONE, (FIRST,))


@shape
def bold_and_stars(world: World) -> Written:
    marked = world.wide().map(lambda v: f"**{v}**" if v > 0.7 else f"{v}*" if v > 0.4 else f"{v}")
    return Written("t.md", world.named(marked).to_markdown(disable_numparse=True), ONE, (FIRST,))


@shape
def sorted_by_score(world: World) -> Written:
    frame = world.named(world.wide()).sort_values(world.datasets[0], ascending=False)
    return Written("t.csv", frame.to_csv(), ONE, (FIRST,))


@shape
def with_average_column(world: World) -> Written:
    frame = world.wide()
    return Written("t.csv", world.named(frame.assign(Average=frame.mean(axis=1).round(4))).to_csv(), ONE, (FIRST,))


@shape
def with_average_row_over_datasets(world: World) -> Written:
    frame = world.wide().T
    frame.loc["Average"] = frame.mean().round(4)
    return Written("t.csv", world.named(frame).to_csv(), ONE, (FIRST,))


@shape
def with_average_row_over_algorithms(world: World) -> Written:
    frame = world.wide()
    frame.loc["Mean"] = frame.mean().round(4)
    return Written("t.csv", world.named(frame).to_csv(), ONE, (FIRST,))


@shape
def with_average_rank_row(world: World) -> Written:
    frame = world.wide().T
    frame.loc["Avg. rank"] = frame.rank(axis=1, ascending=False).mean()
    return Written("t.csv", world.named(frame).to_csv(), ONE, (FIRST,))


@shape
def with_rank_column(world: World) -> Written:
    frame = world.wide()
    frame["Rank"] = frame.mean(axis=1).rank(ascending=False).astype(int)
    return Written("t.csv", world.named(frame).to_csv(), ONE, (FIRST,))


@shape
def with_year_and_parameters(world: World) -> Written:
    frame = world.wide()
    frame.insert(0, "Year", 2024)
    frame["Params (M)"] = np.arange(len(frame)) + 7.5
    return Written("t.csv", world.named(frame).to_csv(), ONE, (FIRST,))


@shape
def with_a_setting_as_column(world: World) -> Written:
    frame = world.wide()
    frame["heads"] = [4, 8, 2, 16, 4, 8][: len(frame)]
    return Written("t.csv", world.named(frame).to_csv(), ONE, (FIRST,))


@shape
def with_improvement_row(world: World) -> Written:
    frame = world.wide().astype(object)
    frame.loc["Improv."] = "3.1%"
    return Written("t.csv", world.named(frame).to_csv(), ONE, (FIRST,))


@shape
def sheet_per_dataset(world: World) -> Written:
    sheets = {d: world.named(part.droplevel("D")) for d, part in world.both().groupby(level="D")}
    return Written("t.xlsx", _excel(**sheets), {})


@shape
def sheet_per_metric(world: World) -> Written:
    return Written("t.xlsx", _excel(**{m: world.named(world.wide(m)) for m in (FIRST, SECOND)}), {})


def _booktabs(world: World, outer: str, corner: str) -> str:
    """A table as papers set it: names over metrics, the corner merged over both rows of headers."""
    names = world.datasets if outer == "D" else world.algorithms
    rows = world.algorithms if outer == "D" else world.datasets
    word = world.algorithm_word if outer == "D" else world.dataset_word
    top = {"merged": rf"\multirow{{2}}{{*}}{{{word}}}", "above": word, "below": ""}[corner]
    bottom = word if corner == "below" else ""
    lines = [
        rf"\begin{{tabular}}{{l{'cc' * len(names)}}}", r"\toprule",
        " & ".join([top, *(rf"\multicolumn{{2}}{{c}}{{{n}}}" for n in names)]) + r" \\",
        r"\cmidrule(lr){2-3}", " & ".join([bottom, *[FIRST, SECOND] * len(names)]) + r" \\", r"\midrule",
    ]  # fmt: skip
    truth = world.truth
    for row in rows:
        cells = [truth[(row, n, m) if outer == "D" else (n, row, m)] for n in names for m in (FIRST, SECOND)]
        shown = [rf"\textbf{{{v}}}" if v > 0.8 else f"{v}" for v in cells]
        lines.append(" & ".join([row.replace("_", r"\_"), *shown]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


for _outer in ("D", "A"):
    for _corner in ("merged", "above", "below"):
        SHAPES[f"booktabs_{_outer}_{_corner}"] = lambda world, outer=_outer, corner=_corner: Written(
            "t.tex", _booktabs(world, outer, corner), {}
        )


@shape
def booktabs_multirow_index(world: World) -> Written:
    return Written("t.tex", world.named(world.both().swaplevel().sort_index()).to_latex(multirow=True), {})


@shape
def panels_of_datasets(world: World) -> Written:
    lines = [f"{world.algorithm_word},{FIRST},{SECOND}"]
    for d in world.datasets:
        lines.append(f"{d},,")
        lines += [f"{a},{world.truth[a, d, FIRST]},{world.truth[a, d, SECOND]}" for a in world.algorithms]
    return Written("t.csv", "\n".join(lines), {})


@shape
def several_seeds(world: World) -> Written:
    frame = world.named(world.both()).reset_index()
    both = pd.concat([frame.assign(seed=seed) for seed in (1, 2)])
    return Written("t.csv", both.to_csv(index=False), {})


@shape
def autorank_frame(world: World) -> Written:
    """Rows are datasets without names, columns are algorithms."""
    return Written("", world.wide().T.reset_index(drop=True).rename_axis(columns=None), ONE, (FIRST,), True)


@shape
def autorank_file(world: World) -> Written:
    return Written("t.csv", world.wide().T.reset_index(drop=True).to_csv(index=False), ONE, (FIRST,), True)


@shape
def numbered_datasets(world: World) -> Written:
    """A wide table whose row index is numbers, written with the index: the numbers name nothing."""
    return Written("t.csv", world.wide().T.reset_index(drop=True).to_csv(), ONE, (FIRST,), True)
