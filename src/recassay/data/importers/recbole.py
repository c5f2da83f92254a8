"""RecBole: the log of a run, and the dictionaries that `run_recbole` returns, as JSON or as printed.

The numbers of a log are those of its `test result`; `best valid` is what tuning saw. Several runs in one process write
into the first log and leave the others empty. RecBole computes its own Shannon entropy as a mean over the recommended
items, and its `Pop` counts an item that repeats within a batch once, which makes it weaker than popularity is
(RecBole issue 2198).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from recassay.core import columns as c
from recassay.core.system.lines import lines_of
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.conventions import BINARY, BY_MIN, COUNT, SHARE, Known, accuracy, with_conventions
from recassay.data.importers.instances import mapping
from recassay.data.importers.literals import literals_in
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.labels import sampling

METRICS = accuracy(
    ndcg=BINARY,
    map=BY_MIN,
    coverage=Known("coverage", SHARE),
    popularity=Known("popularity", COUNT),
    gini=Known("gini", "recbole: over all items of the catalogue"),
    entropy=Known("entropy_mean", "recbole: the mean over recommended items of -p ln p, not their sum"),
    tailpercentage=Known("longtail", "recbole: the tail are the least popular tenth, unless tail_ratio says otherwise"),
)
_NAME = re.compile(r"^(?P<model>.+?)-(?P<dataset>.+)-[A-Z][a-z]{2}-\d{2}-\d{4}_\d{2}-\d{2}-\d{2}(?:-[0-9a-f]+)?$")
_SHORT_NAME = re.compile(r"^(?P<model>[A-Za-z][A-Za-z0-9+]*)[-_](?P<dataset>[A-Za-z].*)$")
_SETTING = re.compile(r"^(?P<name>\w+)\s*=\s*(?P<value>.*)$")
_RESULT = re.compile(r"(?:best_)?test[ _]result['\"]?\s*[:=]", re.IGNORECASE)
_LABEL = re.compile(
    r"^\W*(?P<what>model|dataset|seed)\W*[:=]\s*['\"]?(?P<name>[\w.+\-]+)['\"]?\s*,?\s*$", re.IGNORECASE
)
_BEFORE = re.compile(
    r"^[\s\[(>*-]*(?P<name>[A-Za-z][\w.+-]*)(?:\s*(?:on|/|,|@|\|)\s*(?P<dataset>[\w.+-]+))?\s*[:=,]?\s*(?=\{|OrderedDict)"
)
_KEYS = ("test_result", "best_test_result", "test result")


def recognise(file: OpenedFile) -> Kind | None:
    """A log with RecBole's settings, or a dictionary with `test_result`."""
    if isinstance(file.json, (dict, list)):
        return "results" if any(True for _ in _documents(file.json)) else None
    if "General Hyper Parameters" in file.head or "test result: OrderedDict" in file.head:
        return "results"
    if file.suffix == ".log" and _NAME.match(file.stem) and ("INFO" in file.head or not file.head.strip()):
        return "results"
    return "results" if re.search(r"test[ _]result['\"]?\s*[:=]\s*(?:OrderedDict|\{)", file.head) else None


def read(file: OpenedFile) -> Imported:
    """One row for each metric of each run's test result."""
    rows: list[dict[str, Any]] = [
        {**names, c.METRIC: f"{metric}{way}", c.VALUE: None if value is None or math.isinf(value) else float(value)}
        for names, result in (_documents(file.json) if isinstance(file.json, (dict, list)) else _logged(file.text))
        for way in [_ranked_among(names.get(c.PROTOCOL, ""))]
        for metric, value in result.items()
        if value is None or isinstance(value, (int, float))
    ]
    if not rows:
        fix = "give the log of a run that ended; several runs of one process write into the first log"
        raise file.refused("holds no test result of RecBole", fix=fix)
    named = _NAME.match(file.stem) or _SHORT_NAME.match(file.stem)
    model, dataset = (named["model"], named["dataset"]) if named else (file.stem, None)
    notes = []
    if not all(row.get(c.ALGORITHM) for row in rows):
        notes.append(f"the model is not in it: {model!r} of the file's name was taken")
    for row in rows:
        if not row.get(c.DATASET):
            row[c.DATASET] = dataset if dataset or row.get(c.ALGORITHM) else file.folder()
        row.setdefault(c.ALGORITHM, model)
    frame = with_conventions(long_frame(rows), METRICS, framework="RecBole")
    if "Pop" in frame.get_column(c.ALGORITHM).to_list():
        notes.append("RecBole's Pop counts an item that repeats within a batch once (issue 2198), so it may be weaker "
                     "than popularity is")  # fmt: skip
    return Imported(frame, tuple(notes))


def _ranked_among(protocol: str) -> str:
    """What the metrics of a run are called besides their names, where its test ranked items among drawn ones."""
    mode = re.search(r"'mode':\s*(?:\{[^}]*'test':\s*)?'(?P<mode>\w+)'", protocol)
    words = sampling(mode["mode"]) if mode else ""
    return f"[{words}]" if words else ""


def _documents(document: Any) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """What a JSON document says about each run, and its test result."""
    if isinstance(document, list):
        for part in document:
            yield from _documents(part)
    elif isinstance(document, dict):
        key = next((name for name in _KEYS if isinstance(document.get(name), dict)), None)
        if key is not None:
            both = {**mapping(document.get("config")), **document}
            index = {c.ALGORITHM: both.get("model"), c.DATASET: both.get("dataset"), c.SEED: both.get("seed")}
            index[c.PROTOCOL] = f"RecBole {both['eval_args']}" if both.get("eval_args") else None
            yield {role: value for role, value in index.items() if isinstance(value, (str, int))}, document[key]
            return
        for name, part in document.items():
            inside = mapping(part)
            is_run = any(isinstance(inside.get(key), dict) for key in _KEYS)
            if is_run or any(isinstance(inner, dict) and set(_KEYS) & set(inner) for inner in inside.values()):
                for names, result in _documents(part):
                    yield {c.ALGORITHM if is_run else c.DATASET: str(name), **names}, result


def _logged(text: str) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
    """What a log, or what somebody printed, says about each run, and its test result: settings and names come first."""
    settings: dict[str, str] = {}
    runs: list[tuple[dict[str, Any], Mapping[str, Any]]] = []
    for line in lines_of(text):
        setting = _SETTING.match(line)
        named = _LABEL.match(line)
        if "General Hyper Parameters" in line:
            settings = {}
        elif named:
            settings[{"dataset": "data_path"}.get(named["what"].lower(), named["what"].lower())] = named["name"]
        elif setting and not _RESULT.search(line):
            settings[setting["name"]] = setting["value"].strip()
        model = re.search(r"(?:INFO\s+|^)(?P<name>[A-Z]\w+)\((?:\))?$", line)
        if model:
            settings["model"] = model["name"]
        if re.search(r"\[Evaluation\]:.*eval_args", line):
            settings["protocol"] = line.partition("eval_args:")[2].strip(" []")
        if _RESULT.search(line):
            # A whole dictionary of `run_recbole`, perhaps with a name before it, or what follows the words.
            names = _from_log(settings)
            whole = [run for literal in literals_in(line) for run in _documents(literal)]
            before = _BEFORE.match(line) if whole else None
            if before and before["name"] not in ("OrderedDict", "dict"):
                names |= {c.ALGORITHM: before["name"], **({c.DATASET: before["dataset"]} if before["dataset"] else {})}
            if not whole:
                whole = [({}, literal) for literal in literals_in(_RESULT.split(line, maxsplit=1)[1])[:1]]
            runs += [({**names, **settled}, result) for settled, result in whole]
    if not runs:
        whole = [run for literal in literals_in(text) for run in _documents(literal)]
        runs = [({**_from_log(settings), **settled}, result) for settled, result in whole]
    return runs


def _from_log(settings: Mapping[str, str]) -> dict[str, Any]:
    """What the settings of a log say of its result, where they say it."""
    seed, protocol = settings.get("seed", ""), settings.get("protocol")
    names = {
        c.ALGORITHM: settings.get("model"),
        c.DATASET: re.split(r"[/\\]", settings.get("data_path", "").rstrip("/\\"))[-1],
        c.SEED: seed if seed.isdigit() else None,
        c.PROTOCOL: f"RecBole {protocol}" if protocol else None,
    }
    return {role: name for role, name in names.items() if name}


IMPORTER = Importer(
    "recbole",
    "RecBole",
    "logs (log/MODEL/MODEL-DATASET-DATE.log) and the dictionary of run_recbole as JSON or text",
    recognise,
    read,
)
