# ruff: noqa: E501
"""Tables as people export them: statistics in headers, plain long tables, panels, titles; each with its truth.

`EXPORTS` has every file or frame by name. One experiment (algorithms on datasets, two metrics, three seeds) is written by
pandas, in the forms of R's `write.csv` and `xtable`, by spreadsheets in German and French settings, as JSON, and as text
copied from a page. `python -m tests.support.exported` prints how each is read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

FIRST, SECOND = "NDCG@10", "Recall@20"
Truth = dict[tuple[str, str, str], float]


@dataclass(frozen=True)
class World:
    """One experiment: the names, and whether anybody knows them."""

    label: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per algorithm, dataset and seed, a column for each metric."""
        rng = np.random.default_rng(11)
        rows = [(a, d, seed) for a in self.algorithms for d in self.datasets for seed in (1, 2, 3)]
        frame = pd.DataFrame(rows, columns=["model", "dataset", "seed"])
        for i, metric in enumerate((FIRST, SECOND)):
            base = {(a, d): 0.1 + 0.3 * rng.random() for a in self.algorithms for d in self.datasets}
            noise = 0.004 + 0.004 * rng.random(len(frame))
            frame[metric] = [base[a, d] + 0.05 * i for a, d, _ in rows] + noise * rng.standard_normal(len(frame))
        return frame.round(5)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per algorithm and dataset: the means over seeds."""
        return self.runs.groupby(["model", "dataset"], sort=False)[[FIRST, SECOND]].mean().round(5).reset_index()

    @cached_property
    def spreads(self) -> pd.DataFrame:
        """The same with the standard deviations over seeds."""
        return self.runs.groupby(["model", "dataset"], sort=False)[[FIRST, SECOND]].std().round(5).reset_index()

    def wide(self, metric: str = FIRST) -> pd.DataFrame:
        """Means of one metric, algorithms in rows."""
        return self.cells.pivot(index="model", columns="dataset", values=metric)[list(self.datasets)].rename_axis(
            columns=None
        )

    def wide_spreads(self, metric: str = FIRST) -> pd.DataFrame:
        """Deviations of one metric, algorithms in rows."""
        return self.spreads.pivot(index="model", columns="dataset", values=metric)[list(self.datasets)].rename_axis(
            columns=None
        )


KNOWN = World("known", ("EASE", "ItemKNN", "BPR", "MostPop"), ("ML-1M", "Gowalla", "Yelp"))
NEUTRAL = World("neutral", ("Vorn", "Quill", "Mapp-X", "Jox"), ("Tarsk", "Oblo-2", "Fenn"))
WORLDS = (KNOWN, NEUTRAL)


@dataclass(frozen=True)
class Export:
    """A file or a frame in some shape: what makes its content, what the user says, and what it means."""

    world: World
    file: str
    """Its name; empty for a frame in memory."""
    made: Callable[[], Any]
    said: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=lambda: {FIRST: FIRST.lower(), SECOND: SECOND.lower()})
    """The metrics that it holds, and what they are called when read."""
    spread: bool = False
    """Whether it states standard deviations, which must be read."""
    names: Callable[[str], str] = str
    """How algorithms are called in it."""

    @cached_property
    def content(self) -> Any:
        """The text or bytes of the file, or the frame."""
        return self.made()

    def truth(self, frame: pd.DataFrame | None = None) -> Truth:
        """The value of each cell."""
        cells = self.world.cells if frame is None else frame
        return {(self.names(row.model), row.dataset, label): float(getattr(row, f"m{i}"))
                for i, (metric, label) in enumerate(self.metrics.items())
                for row in cells.rename(columns={metric: f"m{i}"}).itertuples()}  # fmt: skip

    def spreads(self) -> Truth:
        """The deviation of each cell."""
        return self.truth(self.world.spreads)


EXPORTS: dict[str, Export] = {}
ONE = {FIRST: FIRST.lower()}


def _add(name: str, world: World, file: str, content: Any, **more: Any) -> None:
    EXPORTS[f"{name}, {world.label}"] = Export(world, file, content if callable(content) else lambda: content, **more)


def excel(frame: pd.DataFrame, *, title: str = "", index: bool = True) -> bytes:
    """A workbook as pandas writes it, with a title above it where one is given (merged over the table)."""
    stream = io.BytesIO()
    with pd.ExcelWriter(stream, engine="openpyxl") as writer:
        frame.to_excel(writer, sheet_name="all", startrow=1 if title else 0, index=index)
        if title:
            sheet = writer.sheets["all"]
            sheet.cell(row=1, column=1, value=title)
            sheet.merge_cells(start_row=1, start_column=1, end_row=1, end_column=sheet.max_column)
    return stream.getvalue()


def workbook(rows: list[list[Any]], merged: tuple[str, ...] = ()) -> bytes:
    """A workbook as a person types it."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


FORMS: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
    "csv": ("csv", lambda f: f.to_csv()),
    "xlsx": ("xlsx", excel),
    "latex": ("tex", lambda f: f.to_latex()),
    "html": ("html", lambda f: f.to_html()),
    "frame": ("", lambda f: f),
}
PLAIN = {
    "csv": ("csv", lambda f: f.to_csv(index=False)),
    "tsv": ("tsv", lambda f: f.to_csv(index=False, sep="\t")),
    "semicolon csv": ("csv", lambda f: f.to_csv(index=False, sep=";")),
    "xlsx": ("xlsx", lambda f: excel(f, index=False)),
    "latex": ("tex", lambda f: f.to_latex(index=False)),
    "html": ("html", lambda f: f.to_html(index=False)),
    "markdown": ("md", lambda f: f.to_markdown(index=False)),
    "json": ("json", lambda f: f.to_json(orient="records")),
    "frame": ("", lambda f: f),
}


def _family(name: str, make: Callable[[World], pd.DataFrame], *, stem: str = "results", forms: Any = None, worlds: Any = WORLDS,
            **more: Any) -> None:  # fmt: skip
    for world in worlds:
        for form, (ending, write) in (forms or FORMS).items():
            said = dict(more.get("said", {}))
            if not ending and stem != "results":  # a frame has no name to say the metric
                said["metric"] = stem
            rest = {key: value for key, value in more.items() if key != "said"}
            _add(f"{name}, {form}", world, f"{stem}.{ending}" if ending else "",
                 lambda write=write, world=world: write(make(world)), said=said, **rest)  # fmt: skip


def _some(forms: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: forms[name] for name in names}


def _pivot(statistics: list[str], index: str = "model", values: Any = FIRST) -> Callable[[World], pd.DataFrame]:
    other = "dataset" if index == "model" else "model"
    return lambda world: world.runs.pivot_table(index=index, columns=other, values=values, aggfunc=statistics).round(5)


def _grouped(statistics: list[str]) -> Callable[[World], pd.DataFrame]:
    return lambda world: world.runs.groupby(["model", "dataset"], sort=False)[[FIRST, SECOND]].agg(statistics).round(5)


def _flat(frame: pd.DataFrame, pattern: str) -> pd.DataFrame:
    flat = frame.copy()
    flat.columns = [pattern.format(*name) for name in frame.columns]
    return flat


MEAN_STD = ["mean", "std"]
_family("pivot_table of mean and std", _pivot(MEAN_STD), stem="ndcg@10", metrics=ONE, spread=True)
_family("pivot_table of mean and std over two metrics", _pivot(MEAN_STD, values=[FIRST, SECOND]), spread=True)
_family("pivot_table of mean and std, datasets in rows", _pivot(MEAN_STD, "dataset"), stem="ndcg@10", metrics=ONE,
        spread=True, forms=_some(FORMS, "csv", "xlsx", "frame"))  # fmt: skip
_family("pivot_table of mean, std, min, max and count", _pivot(["mean", "std", "min", "max", "count"]), stem="ndcg@10",
        metrics=ONE, spread=True, forms=_some(FORMS, "csv", "html", "frame"))  # fmt: skip
_family("groupby of mean and std", _grouped(MEAN_STD), spread=True)
_family("groupby of mean, sem and count", _grouped(["mean", "sem", "count"]), forms=_some(FORMS, "csv", "latex"))
_family("groupby of mean and std, flattened", lambda w: _flat(_grouped(MEAN_STD)(w), "{0}_{1}").reset_index(), spread=True,
        forms=_some(PLAIN, "csv", "markdown", "json", "frame"))  # fmt: skip


def _pairs(value: str, spread: str, *, apart: bool = False) -> Callable[[World], pd.DataFrame]:
    """Columns in pairs: a dataset's means, and its deviations, under names that are made of the dataset's."""

    def make(world: World) -> pd.DataFrame:
        means, spreads = world.wide(), world.wide_spreads()
        left = {value.format(d): means[d] for d in world.datasets}
        right = {spread.format(d): spreads[d] for d in world.datasets}
        each = [pair for pairs in zip(left.items(), right.items(), strict=True) for pair in pairs]
        return pd.DataFrame(dict([*left.items(), *right.items()] if apart else each)).rename_axis("model").reset_index()

    return make


for value, spread in (("{}", "{} std"), ("{}", "±{}"), ("{} mean", "{} std"), ("mean {}", "std {}"), ("{}_avg", "{}_sd"),
                      ("mean_{}", "std_{}"), ("{}", "{} (std)"), ("{}", "{} ± std"), ("{} Mean", "{} Std. Dev."),
                      ("{}", "std({})"), ("{}.mean", "{}.sd"), ("avg({})", "stddev({})")):  # fmt: skip
    _family(f"columns {value} and {spread}", _pairs(value.replace("{}", "{0}"), spread), stem="ndcg@10", metrics=ONE,
            spread=True, forms=_some(PLAIN, "csv"))  # fmt: skip
_family("columns {} and {} std", _pairs("{}", "{} std"), stem="ndcg@10", metrics=ONE, spread=True,
        forms=_some(PLAIN, "xlsx", "latex", "markdown", "frame"), worlds=(NEUTRAL,))  # fmt: skip
_family("all means and then all deviations", _pairs("{}", "{} std", apart=True), stem="ndcg@10", metrics=ONE, spread=True,
        forms=_some(PLAIN, "csv"))  # fmt: skip


def _rows_of_statistics(world: World) -> pd.DataFrame:
    means, spreads = world.wide().rename(index="{} mean".format), world.wide_spreads().rename(index="{} std".format)
    order = [f"{a} {s}" for a in world.algorithms for s in MEAN_STD]
    return pd.concat([means, spreads]).loc[order].rename_axis("model")


_family("rows mean and std", _rows_of_statistics, stem="ndcg@10", metrics=ONE, spread=True,
        forms=_some(FORMS, "csv", "latex", "frame"))  # fmt: skip
_family("an index of mean and std", lambda w: _grouped(MEAN_STD)(w).stack(level=1, future_stack=True), spread=True,
        forms=_some(FORMS, "csv", "xlsx", "frame"))  # fmt: skip
_family("a column stat", lambda w: _grouped(MEAN_STD)(w).stack(level=1, future_stack=True).rename_axis(
    ["model", "dataset", "stat"]).reset_index(), spread=True, forms=_some(PLAIN, "csv", "markdown"))  # fmt: skip
_family("a column stat of a wide table", lambda w: _pivot(MEAN_STD)(w).stack(level=0, future_stack=True).rename_axis(
    ["model", "statistic"]).reset_index(), stem="ndcg@10", metrics=ONE, spread=True,
    forms=_some(PLAIN, "csv", "frame"))  # fmt: skip


def _long(names: tuple[str, str, str]) -> Callable[[World], pd.DataFrame]:
    return lambda world: world.cells[["model", "dataset", FIRST]].set_axis(list(names), axis=1)


for names in (("model", "dataset", "score"), ("algorithm", "dataset", "value"), ("Method", "Data", "Result")):
    own = {FIRST: names[2].lower()}
    forms = PLAIN if names[2] == "score" else _some(PLAIN, "csv", "xlsx", "json")
    _family(f"plain long {', '.join(names)}", _long(names), metrics=own, forms=forms,
            worlds=WORLDS if names[2] == "score" else (NEUTRAL,))  # fmt: skip
_family("long with mean and std", lambda w: w.cells.merge(w.spreads, on=["model", "dataset"], suffixes=("", " s"))[
    ["model", "dataset", FIRST, f"{FIRST} s"]].set_axis(["model", "dataset", "mean", "std"], axis=1),
    metrics={FIRST: "value"}, spread=True, forms=_some(PLAIN, "csv", "json"))  # fmt: skip


def _seeds(pattern: str) -> Callable[[World], pd.DataFrame]:
    def make(world: World) -> pd.DataFrame:
        runs = world.runs.pivot(index=["model", "dataset"], columns="seed", values=FIRST)
        return runs.rename(columns=pattern.format).rename_axis(columns=None).reset_index()

    return make


for pattern in ("seed{}", "seed_{}", "run {}", "Seed {}"):
    _family(f"columns {pattern}", _seeds(pattern), stem="ndcg@10", metrics=ONE, forms=_some(PLAIN, "csv"))
_family("metrics by seed", _seeds("NDCG@10_seed{}"), metrics=ONE, forms=_some(PLAIN, "csv"))


def _backbones(world: World) -> pd.DataFrame:
    frame = world.cells
    first = frame.model.map(dict(zip(world.algorithms, ("GRU", "GRU", "CNN", "CNN"), strict=True)))
    second = frame.model.map(dict(zip(world.algorithms, ("plain", "ours", "plain", "ours"), strict=True)))
    return pd.concat([first.rename("Backbone"), second.rename("Method"), frame.drop(columns="model")], axis=1)


for world in WORLDS:
    joined = dict(zip(world.algorithms, ("GRU + plain", "GRU + ours", "CNN + plain", "CNN + ours"), strict=True))
    for form in ("csv", "latex"):
        ending, write = PLAIN[form]
        _add(
            f"backbone and method, {form}",
            world,
            f"results.{ending}",
            write(_backbones(world)),
            names=joined.__getitem__,
        )

for extra, numbers in (("Time (s)", (12.5, 3.25, 118.0, 0.5)), ("Params", (1_200_000, 350_000, 2_000_000, 10)),
                       ("Params (M)", (1.2, 0.35, 2.0, 0.01)), ("Training time [s]", (12.5, 3.25, 118.0, 0.5))):  # fmt: skip
    _family(f"wide with {extra}", lambda w, e=extra, n=numbers: w.wide().assign(**{e: n}), stem="ndcg@10", metrics=ONE,
            forms=_some(FORMS, "csv", "latex") if extra == "Time (s)" else _some(FORMS, "csv"))  # fmt: skip


def _lines(rows: list[list[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def _typed(world: World) -> list[list[str]]:
    """Two levels of headers as rows of text: datasets, two metrics below each."""
    cells = world.cells.set_index(["model", "dataset"])
    head = ["", *(text for d in world.datasets for text in (d, ""))]
    below = ["Model", *([FIRST, SECOND] * len(world.datasets))]
    body = [[a, *(f"{cells.loc[(a, d), m]:.5f}" for d in world.datasets for m in (FIRST, SECOND))]
            for a in world.algorithms]  # fmt: skip
    return [head, below, *body]


def _aligned(rows: list[list[str]], gap: int = 2) -> str:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return "\n".join((" " * gap).join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                     for row in rows) + "\n"  # fmt: skip


for world in WORLDS:
    rows = _typed(world)
    title = "Table 2: Overall results"
    last = chr(ord("A") + len(rows[0]) - 1)
    merged = (f"A1:{last}1", "B2:C2", "D2:E2", "F2:G2")
    _add("two header levels aligned as text", world, "table.txt", _aligned(rows))
    _add("two header levels pasted from a web page", world, "table.txt", _lines(rows))
    _add("a title row over merged headers, xlsx", world, "table.xlsx", workbook([[title], *rows], merged))
    _add("a title row over merged headers, csv", world, "table.csv", pd.DataFrame(
        [[title, *[""] * (len(rows[0]) - 1)], *rows]).to_csv(index=False, header=False))  # fmt: skip
    spread_title = [[title] * len(rows[0]), [rows[0][max(j - 1 + j % 2, 0)] for j in range(len(rows[0]))], *rows[1:]]
    _add("a title written into each column, csv", world, "table.csv", pd.DataFrame(spread_title).to_csv(
        index=False, header=False))  # fmt: skip
    html = f"<table><tr><th colspan=7>{title}</th></tr><tr><th></th>" + "".join(
        f"<th colspan=2>{d}</th>" for d in world.datasets) + "</tr>" + "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:]) + "</table>"  # fmt: skip
    _add("a title row over merged headers, html", world, "table.html", html)
    tex = ("\\begin{tabular}{lcccccc}\n\\multicolumn{7}{c}{" + title + "} \\\\ \\hline\n & " + " & ".join(
        f"\\multicolumn{{2}}{{c}}{{{d}}}" for d in world.datasets) + " \\\\\n" + "".join(
        " & ".join(row) + " \\\\\n" for row in rows[1:]) + "\\end{tabular}\n")  # fmt: skip
    _add("a title row over merged headers, latex", world, "table.tex", tex)
    caption = "Table 2: Results on three datasets, NDCG and recall, all runs\n"
    _add("a caption with commas, csv", world, "table.csv", caption + world.cells.to_csv(index=False))
    _add("a caption with commas, wide csv", world, "ndcg@10.csv", caption + world.wide().to_csv(), metrics=ONE)
    panels = [row for d in world.datasets for row in (
        [d, "", ""], ["Model", FIRST, SECOND],
        *([a, *(f"{world.cells.set_index(['model', 'dataset']).loc[(a, d), m]:.5f}" for m in (FIRST, SECOND))]
          for a in world.algorithms))]  # fmt: skip
    _add("panels with their own headers, csv", world, "table.csv", "".join(",".join(row) + "\n" for row in panels))
    _add("panels with their own headers, xlsx", world, "table.xlsx", workbook(panels))
    _add("panels with their own headers, pasted", world, "table.txt", _lines(panels))
    _add("panels parted by blank lines, csv", world, "table.csv", "\n".join(
        "".join(",".join(row) + "\n" for row in panels[i : i + 6]) for i in range(0, len(panels), 6)))  # fmt: skip
    cut = world.cells.pivot(index="model", columns="dataset", values=[FIRST]).set_axis(
        [f"{d}@10" for d in sorted(world.datasets)], axis=1)  # fmt: skip
    _add(
        "datasets with the cut-off, metric said",
        world,
        "results.csv",
        cut.to_csv(),
        said={"metric": "ndcg"},
        metrics=ONE,
    )
    above = cut.copy()
    above.columns = pd.MultiIndex.from_tuples([("NDCG", name) for name in cut.columns])
    for form in ("csv", "frame"):
        ending, write = FORMS[form]
        _add(
            f"datasets with the cut-off below NDCG, {form}",
            world,
            f"r.{ending}" if ending else "",
            write(above),
            metrics=ONE,
        )

    # Spreadsheets in German and French settings, and R.
    percent = world.wide() * 100
    german = percent.map(lambda x: f"{x:.3f}".replace(".", ","))
    _add("German percentages of three decimals", world, "ndcg@10.csv", german.to_csv(sep=";"), metrics=ONE)
    _add("German shares", world, "ndcg@10.csv", world.wide().to_csv(sep=";", decimal=","), metrics=ONE)
    _add("German numbers of three decimals, long", world, "results.csv", world.cells.assign(**{
        m: (world.cells[m] * 100).map(lambda x: f"{x:.3f}".replace(".", ",")) for m in (FIRST, SECOND)}).to_csv(
        sep=";", index=False))  # fmt: skip
    french = percent.map(lambda x: f"{x:.3f}".replace(".", ",") + "\u00a0%")
    _add("French percentages with signs", world, "ndcg@10.csv", french.to_csv(sep=";"), metrics=ONE)
    both = world.wide().map(lambda x: f"{x:.5f}".replace(".", ",")) + " ± " + world.wide_spreads().map(
        lambda x: f"{x:.5f}".replace(".", ","))  # fmt: skip
    _add("French values with deviations", world, "ndcg@10.csv", both.to_csv(sep=";"), metrics=ONE, spread=True)
    numbered = world.cells.set_axis(range(1, len(world.cells) + 1))
    _add("write.csv of R", world, "results.csv", numbered.to_csv(quoting=2))
    mangled = numbered.rename(columns={FIRST: "NDCG.10", SECOND: "Recall.20"})
    _add("write.csv of R with its own names", world, "results.csv", mangled.to_csv(quoting=2))
    _add("write.csv2 of R", world, "results.csv", numbered.to_csv(quoting=2, sep=";", decimal=","))
    stats = world.runs.groupby(["model", "dataset"], sort=False)[[FIRST, SECOND]].agg(MEAN_STD).round(5)
    stats.columns = [f"{m}.{'mean' if s == 'mean' else 'sd'}" for m, s in stats.columns]
    _add("aggregate of R", world, "results.csv", stats.reset_index().set_axis(range(1, len(stats) + 1)).to_csv(quoting=2),
         spread=True)  # fmt: skip
    reshaped = world.wide().add_prefix("NDCG@10.").reset_index()
    _add("reshape of R", world, "results.csv", reshaped.set_axis(range(1, 5)).to_csv(quoting=2), metrics=ONE)
    xtable = ("% latex table generated in R 4.3.1 by xtable 1.8-4 package\n\\begin{table}[ht]\n\\centering\n"
              "\\begin{tabular}{rllrr}\n  \\hline\n & " + " & ".join(world.cells.columns) + " \\\\ \n  \\hline\n"
              + "".join(f"{i + 1} & " + " & ".join(map(str, row)) + " \\\\ \n"
                        for i, row in enumerate(world.cells.itertuples(index=False)))
              + "   \\hline\n\\end{tabular}\n\\end{table}\n")  # fmt: skip
    _add("xtable of R", world, "results.tex", xtable)
    statistics = stats.reset_index()
    xtable = ("\\begin{tabular}{rllrrrr}\n  \\hline\n & " + " & ".join(statistics.columns) + " \\\\ \n  \\hline\n" + "".join(
        f"{i + 1} & " + " & ".join(map(str, row)) + " \\\\ \n"
        for i, row in enumerate(statistics.itertuples(index=False))) + "\\end{tabular}\n")  # fmt: skip
    _add("xtable of means and deviations", world, "results.tex", xtable, spread=True)

    # JSON, and lines copied from a PDF.
    nested = {a: {d: {m: {"mean": float(w[m].mean().round(5)), "std": float(w[m].std().round(5))} for m in (FIRST, SECOND)}
                  for d, w in g.groupby("dataset")} for a, g in world.runs.groupby("model")}  # fmt: skip
    _add("nested JSON of mean and std", world, "results.json", json.dumps(nested), spread=True,
         said={"wide": True} if world is NEUTRAL else {})  # fmt: skip
    records = [{"model": a, "dataset": d, "scores": {m: {"mean": v["mean"], "std": v["std"]} for m, v in ms.items()}}
               for a, ds in nested.items() for d, ms in ds.items()]  # fmt: skip
    _add("JSON records with mean and std inside", world, "results.json", json.dumps(records), spread=True)
    _add("split JSON of pandas", world, "results.json", _grouped(MEAN_STD)(world).reset_index().to_json(orient="split"),
         spread=True)  # fmt: skip
    spaced = "\n".join([" ".join(["Method", *world.datasets]), *(" ".join([a, *(
        f"{v:.5f}±{s:.5f}" for v, s in zip(world.wide().loc[a], world.wide_spreads().loc[a], strict=True))])
        for a in world.algorithms)]) + "\n"  # fmt: skip
    _add("lines of a PDF with deviations", world, "ndcg@10.txt", spaced, metrics=ONE, spread=True)
    spaced = "\n".join(["Table 3: NDCG@10 on three datasets", " ".join(["Method", *world.datasets]), *(" ".join(
        [a, *(f"{v:.5f}" for v in world.wide().loc[a])]) for a in world.algorithms)]) + "\n"  # fmt: skip
    _add("lines of a PDF below a caption", world, "table.txt", spaced, metrics=ONE)
    phases = world.cells.rename(columns={FIRST: f"test_{FIRST}"}).drop(columns=SECOND)
    phases[f"val_{FIRST}"], phases[f"dev_{FIRST}"] = phases[f"test_{FIRST}"] + 0.01, phases[f"test_{FIRST}"] + 0.02
    _add("test, val and dev", world, "results.csv", phases.to_csv(index=False), metrics=ONE)
    spreads = world.cells[["model", "dataset", FIRST]].assign(**{
        f"{FIRST}_std": world.spreads[FIRST], f"{FIRST}_stderr": (world.spreads[FIRST] / 3**0.5).round(5)})  # fmt: skip
    _add("std beside stderr", world, "results.csv", spreads.to_csv(index=False), metrics=ONE, spread=True)
