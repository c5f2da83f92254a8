"""Bundles that others hand in: made, checked, run again, shown on a page; and every way in which one is altered."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import struct
import subprocess
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from shipping import export_benchmark

import recassay
from recassay.api.publish.boards import items_of
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.data.published.benchmark import open_benchmark
from recassay.recommenders.bench import value_of, windows_of
from recassay.recommenders.bundle import form
from recassay.recommenders.bundle.check import check_bundle
from recassay.recommenders.bundle.form import CONTENT, pack, read_bundle, sampled_places
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.seal import digest, without_checksum
from support.in_process import without_processes

OWN = '''
import numpy as np

from recassay import Real


class Mine:
    """Pairs of items that are seen together; popular ones count less."""

    space = {"power": Real(0.0, 1.0, default=0.3)}

    def __init__(self, power=0.3):
        self.power = power

    def fit(self, train):
        self.seen = train.csr()
        pairs = (self.seen.T @ self.seen).toarray()
        self.pairs = pairs / np.maximum(np.diag(pairs), 1)[None, :] ** self.power

    def score(self, users):
        return self.seen[users] @ self.pairs
'''
DATASETS = ["synthetic:dense-small", "synthetic:few-items"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small benchmark, an algorithm of one's own on it, and its bundle."""
    folder = tmp_path_factory.mktemp("board")
    spec = recassay.make_study(
        DATASETS, ["MostPop", "EASE"], trials=3, metrics=["ndcg@10", "recall@20", "hitrate@10", "mrr@10", "coverage@10"]
    )
    with without_processes():
        recassay.run(spec, folder / "study", workers=1)
    export_benchmark([folder / "study"], folder / "shipped", name="small")
    (folder / "mine.py").write_text(OWN)
    lines = []
    with without_processes():
        recassay.bench(
            f"{folder / 'mine.py'}:Mine", benchmark=folder / "shipped", fetch=False, folder=folder / "own", workers=1,
            bundle=folder / "result.zip", told=lines.append,
        )  # fmt: skip
    return SimpleNamespace(folder=folder, bundle=folder / "result.zip", shipped=folder / "shipped", lines=lines)


def opened(made):
    """The content of the bundle as it is, and its arrays."""
    with zipfile.ZipFile(made.bundle) as archive:
        arrays = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(arrays.pop(CONTENT)), arrays


def resealed(content, arrays):
    """A careful forger's bundle: every hash is made again, that of cells, of the seal and of the content."""
    ids = {}
    for cell in content["cells"]:
        try:
            ids[cell["id"]] = CellSpec.model_validate(cell["spec"]).id
        except ValueError:
            continue
        cell["id"] = ids[cell["id"]]
    seal = content["seal"]
    if isinstance(seal.get("cells"), dict):
        seal["cells"]["digest"] = digest(sorted(cell["id"] for cell in content["cells"]))
    seal["sha256"] = digest(without_checksum(seal))
    return pack(stripped(content), arrays)


def stripped(content):
    """The content without what `pack` adds."""
    return {key: value for key, value in content.items() if key not in ("recassay_bundle", "files", "sha256")}


def floats(arrays, name):
    return np.frombuffer(arrays[name], dtype="<f4").copy()


class Alter:
    """Alterations of the content and the arrays."""

    @staticmethod
    def value(content, arrays):
        content["cells"][0]["metrics"]["ndcg@10"] *= 1.1

    @staticmethod
    def coverage(content, arrays):
        content["cells"][0]["metrics"]["coverage@10"] = 0.01

    @staticmethod
    def above(content, arrays):
        content["cells"][0]["metrics"]["coverage@10"] = 1.2

    @staticmethod
    def users(content, arrays):
        values = floats(arrays, "users/0000")
        values[:10] += 0.1
        arrays["users/0000"] = values.tobytes()

    @staticmethod
    def both(content, arrays):
        """The value and those of users agree, but users without a hit now have a gain."""
        cell, values = content["cells"][0], floats(arrays, "users/0000").reshape(4, -1)
        values[0] = np.minimum(values[0] + 0.05, 1)
        cell["metrics"]["ndcg@10"] = float(values[0].astype(float).mean())
        arrays["users/0000"] = values.tobytes()

    @staticmethod
    def infinite(content, arrays):
        values = floats(arrays, "users/0000")
        values[3] = np.inf
        arrays["users/0000"] = values.tobytes()

    @staticmethod
    def fewer_users(content, arrays):
        content["cells"][0]["judged"] -= 1
        arrays["users/0000"] = floats(arrays, "users/0000").reshape(4, -1)[:, 1:].tobytes()

    @staticmethod
    def parameters(content, arrays):
        content["cells"][0]["parameters"]["power"] = 0.123

    @staticmethod
    def validation(content, arrays):
        content["cells"][0]["validation"] += 0.1

    @staticmethod
    def trials(content, arrays):
        tried = content["cells"][0]["trials"]
        tried.remove(min(tried, key=lambda trial: trial["value"]))

    @staticmethod
    def more_trials(content, arrays):
        content["cells"][0]["trials"] *= 2

    @staticmethod
    def versions(content, arrays):
        content["versions"]["recassay"] = "0.0.1"

    @staticmethod
    def split(content, arrays):
        content["cells"][0]["split"] = "0" * 64

    @staticmethod
    def code(content, arrays):
        content["cells"][0]["spec"]["code"] = "another"

    @staticmethod
    def all_code(content, arrays):
        for cell in content["cells"]:
            cell["spec"]["code"] = "another"

    @staticmethod
    def protocol(content, arrays):
        content["cells"][0]["spec"]["split"]["protocol"]["ratios"] = [0.6, 0.2, 0.2]

    @staticmethod
    def tuning(content, arrays):
        for cell in content["cells"]:
            cell["spec"]["tuning"]["trials"] = 100
        content["seal"]["plan"]["tuning"]["trials"] = 100

    @staticmethod
    def seed(content, arrays):
        for cell in content["cells"]:
            cell["spec"]["seed"] = 7

    @staticmethod
    def gone(content, arrays):
        del content["cells"][1], arrays["users/0001"], arrays["lists/0001"]
        content["seal"]["cells"]["count"] = 2

    @staticmethod
    def twice(content, arrays):
        content["cells"].append(content["cells"][0])
        content["seal"]["cells"]["count"] = 3

    @staticmethod
    def seal(content, arrays):
        content["seal"]["made"] = "2999-01-01T00:00:00+00:00"

    @staticmethod
    def no_seal(content, arrays):
        content["seal"] = {}

    @staticmethod
    def time(content, arrays):
        content["cells"][0]["finished"] = "yesterday"

    @staticmethod
    def seconds(content, arrays):
        content["cells"][0]["seconds_fit"] = 1000.0

    @staticmethod
    def lists(content, arrays):
        items = np.frombuffer(arrays["lists/0000"], dtype="<i4").copy()
        items[1] = items[0]
        arrays["lists/0000"] = items.tobytes()

    @staticmethod
    def other_items(content, arrays):
        items = np.frombuffer(arrays["lists/0000"], dtype="<i4").copy()
        arrays["lists/0000"] = (items + 100_000).astype("<i4").tobytes()

    @staticmethod
    def shuffled(content, arrays):
        items = np.frombuffer(arrays["lists/0000"], dtype="<i4").reshape(-1, 20)
        arrays["lists/0000"] = items[:, ::-1].tobytes()

    @staticmethod
    def short(content, arrays):
        arrays["lists/0000"] = arrays["lists/0000"][:-2]

    @staticmethod
    def extra(content, arrays):
        arrays["data.csv"] = b"user,item\n"

    @staticmethod
    def benchmark(content, arrays):
        content["benchmark_sha256"] = "0" * 64

    @staticmethod
    def nothing(content, arrays):
        for cell in content["cells"]:
            cell["status"] = "failed"


CAUGHT = {
    "value": "dense-small.*ndcg@10 is .*, and the mean of its users' values is",
    "coverage": "its sampled lists name more items than coverage@10 allows",
    "above": r"coverage@10 is 1\.2, and it lies between 0 and 1",
    "users": "ndcg@10 is .*, and the mean of its users' values|a user's ndcg@10 does not lie",
    "both": "ndcg@10 and hitrate@10 do not agree on which users have a hit",
    "infinite": "a user's ndcg@10 does not lie between 0 and 1",
    "fewer_users": "the mean of its users' values|it says that .* users were judged; on the board it is",
    "parameters": "its parameters are not those of its best trial",
    "validation": "its validation is not that of its best trial",
    "trials": "of its 3 trials 1 are gone",
    "more_trials": "it had 6 trials, and the board allows 3",
    "versions": r"it was sealed with RecAssay .* and run with 0\.0\.1",
    "split": "the hash of its split is not that of the board: other data",
    "code": "its cells are not all of one algorithm with one code",
    "all_code": "the code of its algorithm is not that of its seal",
    "protocol": "its protocol is not that of the board",
    "tuning": "its metrics or its tuning are not those of the board",
    "seed": "the board has no seed 7",
    "gone": "its cells are not those of its seal",
    "twice": "its cells are not those of its seal|two of its cells are the same one|is missing",
    "seal": "a cell was finished before the plan was sealed",
    "no_seal": "its seal cannot be used",
    "time": "a time in it cannot be read",
    "seconds": "its parts took longer than the whole",
    "lists": "a list names an item twice, or has a gap",
    "other_items": "a list names an item that the dataset does not have",
    "shuffled": "its sampled lists do not come to the (ndcg@10|mrr@10) that it states",
    "short": "lists/0000 is missing or cut short",
    "benchmark": "it is of a benchmark 'small' whose rules are not those",
    "nothing": "none of its cells has a value",
}
"""By alteration whose hashes were all made again, what is said of it."""


def test_a_bundle_of_one_folder_is_sound_in_another(made, tmp_path):
    with without_processes():
        found = recassay.add_bundle(
            made.bundle, board=tmp_path / "bundles", benchmark=made.shipped, workers=1, draw=3,
            algorithm=f"{made.folder / 'mine.py'}:Mine",
        )  # fmt: skip
    assert found.sound
    assert (found.algorithm, found.benchmark, found.cells, found.done, found.held, found.late) == (
        "Mine",
        "small",
        2,
        2,
        2,
        0,
    )
    assert {cell.state for cell in found.rerun} == {"same"}
    assert len(found.rerun) == 2, "with two cells, as many as catch one"
    assert found.verdict()[0] == "Nothing in the bundle of Mine on small contradicts itself or the board's rules."
    assert sorted(path.name for path in (tmp_path / "bundles").iterdir()) == [
        f"Mine-{found.sha256[:12]}.checked.json", f"Mine-{found.sha256[:12]}.zip",
    ]  # fmt: skip
    built = recassay.build_board(tmp_path / "bundles", out=tmp_path / "site", benchmarks=[str(made.shipped)])
    assert built.to_frame().rows() == [("Mine", "small", 2)]
    page = built.page.read_text()
    assert "2 cells were run again" in page
    assert '"device":"own"' in page.replace(" ", ""), "its seconds are those of another machine"
    assert str(made.folder) not in page


@pytest.fixture(scope="module")
def seeded(made):
    """A board with three seeds that share a search, an algorithm with chance in it, and its bundle."""
    folder = made.folder / "seeded"
    shutil.copytree(made.shipped, folder / "shipped")
    stated = json.loads((folder / "shipped" / "benchmark.json").read_text())
    stated |= {"seeds": [1, 2, 3], "tuning": stated["tuning"] | {"seed": 1}}
    (folder / "shipped" / "benchmark.json").write_text(json.dumps(stated))
    noise = "        self.pairs += 0.3 * rng.standard_normal(pairs.shape)\n\n    def score"
    text = OWN.replace("def fit(self, train)", "def fit(self, train, *, rng)").replace("\n    def score", noise)
    (folder / "mine.py").write_text(text)
    with without_processes():
        result = recassay.bench(
            f"{folder / 'mine.py'}:Mine", benchmark=folder / "shipped", fetch=False, folder=folder / "own", workers=1,
            seeds=3, bundle=folder / "result.zip",
        )  # fmt: skip
    return SimpleNamespace(folder=folder, bundle=folder / "result.zip", shipped=folder / "shipped", result=result)


def test_a_bundle_has_all_seeds_and_they_share_a_search(seeded, tmp_path):
    content, _ = opened(seeded)
    of_one = [cell for cell in content["cells"] if cell["spec"]["dataset"] == "few-items"]
    assert [cell["spec"]["seed"] for cell in of_one] == [1, 2, 3]
    assert len({json.dumps(cell["trials"]) for cell in of_one}) == 1
    assert len({cell["metrics"]["ndcg@10"] for cell in of_one}) == 3, "the final fits have chance of their own"
    with without_processes():
        found = recassay.add_bundle(
            seeded.bundle, board=tmp_path / "bundles", benchmark=seeded.shipped, workers=1, draw=3, rerun=2,
            algorithm=f"{seeded.folder / 'mine.py'}:Mine",
        )  # fmt: skip
    assert {cell.state for cell in found.rerun} == {"same"}
    assert any(cell.seed > 1 for cell in found.rerun), "with the search of the first seed"
    built = recassay.build_board(tmp_path / "bundles", out=tmp_path / "site", benchmarks=[str(seeded.shipped)])
    data = json.loads(re.search(r'id="board-data"[^>]*>(.*?)</script>', built.page.read_text(), re.DOTALL)[1])
    (board,) = data["boards"]
    place = list(board["datasets"]).index("few-items")
    values = [cell["metrics"]["ndcg@10"] for cell in of_one]
    assert board["values"]["ndcg@10"]["Mine"][place] == pytest.approx(np.mean(values), abs=5e-5)
    assert board["spread"]["ndcg@10"]["Mine"][place] == pytest.approx(np.std(values, ddof=1), rel=0.05)
    assert list(board["spread"]["ndcg@10"]) == ["Mine"], "the baselines have one seed"
    matrix = seeded.result.results.matrix("ndcg@10")
    row, column = matrix.algorithms.index("Mine"), matrix.datasets.index("few-items")
    assert matrix.values[row, column] == pytest.approx(np.mean(values), abs=1e-6)


def test_the_seconds_of_a_shared_search_belong_to_one_of_its_cells(seeded, tmp_path):
    content, arrays = opened(seeded)
    for cell in content["cells"]:
        for trial in cell["trials"]:
            trial["seconds"] += 10.0
        cell["seconds"] += 30.0 * (cell["spec"]["seed"] == 1)
    (tmp_path / "slow.zip").write_bytes(resealed(content, arrays))
    assert recassay.add_bundle(tmp_path / "slow.zip", benchmark=seeded.shipped, rerun=0).sound
    content["cells"][1]["trials"][0]["seconds"] += 1.0
    (tmp_path / "forged.zip").write_bytes(resealed(content, arrays))
    with pytest.raises(InputError, match="its trials are not those of the other seeds, which share its search"):
        recassay.add_bundle(tmp_path / "forged.zip", benchmark=seeded.shipped, rerun=0)


def test_without_the_algorithm_lists_are_held_against_the_data_and_nothing_is_run(made):
    found = recassay.add_bundle(made.bundle, benchmark=made.shipped)
    assert (found.held, found.rerun, found.why_not) == (2, (), "its algorithm is not at hand")
    assert "No cell was run again: its algorithm is not at hand." in found.verdict()


def test_a_bundle_has_no_data_no_place_and_the_same_bytes_again(made):
    content, arrays = opened(made)
    text = json.dumps(content)
    assert str(made.folder) not in text
    assert "mine.py" not in text
    assert {cell["spec"]["dataset"] for cell in content["cells"]} == {"dense-small", "few-items"}
    assert set(arrays) == {"users/0000", "users/0001", "lists/0000", "lists/0001"}
    assert content["cells"][0]["judged"] * 4 * 4 == len(arrays["users/0000"]), "four metrics have values of users"
    assert pack(stripped(content), arrays) == made.bundle.read_bytes()
    assert made.lines[:2] == ["Mine on 2 of 2 datasets of small; nothing has run yet.",
                              "Embedded (2): dense-small, few-items."]  # fmt: skip


@pytest.mark.parametrize("how", CAUGHT)
def test_an_altered_bundle_is_caught_although_its_hashes_were_made_again(made, how, tmp_path):
    content, arrays = opened(made)
    getattr(Alter, how)(content, arrays)
    (tmp_path / "forged.zip").write_bytes(resealed(content, arrays))
    with pytest.raises(InputError, match=CAUGHT[how]) as caught:
        recassay.add_bundle(tmp_path / "forged.zip", benchmark=made.shipped, rerun=0)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("how", [*CAUGHT, "extra"])
def test_an_altered_bundle_is_caught_by_its_hashes(made, how, tmp_path):
    content, arrays = opened(made)
    getattr(Alter, how)(content, arrays)
    with zipfile.ZipFile(tmp_path / "altered.zip", "w") as archive:
        for name, data in {CONTENT: json.dumps(content).encode(), **arrays}.items():
            archive.writestr(name, data)
    words = "changed after it was made|is not part of it|is missing|is not a bundle"
    with pytest.raises(InputError, match=words):
        read_bundle(tmp_path / "altered.zip")


@pytest.mark.slow
def test_what_agrees_with_itself_is_caught_by_running_it_again(made, tmp_path):
    """Users' values and all that follows are improved together: only a rerun shows it."""
    content, arrays = opened(made)
    cell = content["cells"][1]
    values = floats(arrays, "users/0001").reshape(4, -1)
    keep = sampled_places(cell["judged"])
    improved = values[0].copy()
    improved[values[0] > 0] = np.minimum(values[0][values[0] > 0] * 1.3, 1)
    improved[keep] = values[0][keep]  # what lists could show stays
    values[0] = improved
    cell["metrics"]["ndcg@10"] = float(improved.astype(float).mean())
    arrays["users/0001"] = values.tobytes()
    (tmp_path / "forged.zip").write_bytes(resealed(content, arrays))
    asked = {"benchmark": made.shipped, "board": tmp_path / "bundles"}
    assert recassay.add_bundle(tmp_path / "forged.zip", benchmark=made.shipped, rerun=0).sound, "nothing contradicts it"
    with without_processes():
        found = recassay.add_bundle(
            tmp_path / "forged.zip", algorithm=f"{made.folder / 'mine.py'}:Mine", workers=1, **asked
        )
    assert not found.sound
    assert found.verdict()[0].startswith("Do not take the bundle of Mine")
    assert not (tmp_path / "bundles").exists()


def test_another_code_is_refused(made, tmp_path):
    (tmp_path / "mine.py").write_text(OWN.replace("popular ones", "some"))
    with without_processes(), pytest.raises(InputError, match="the code of Mine here is not that of the bundle"):
        recassay.add_bundle(made.bundle, benchmark=made.shipped, algorithm=f"{tmp_path / 'mine.py'}:Mine", workers=1)
    with without_processes(), pytest.raises(InputError, match="EASE is not Mine, of which the bundle is"):
        recassay.add_bundle(made.bundle, benchmark=made.shipped, algorithm="EASE", workers=1)


def zipped(*members):
    """A zip of (name or ZipInfo, data)."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that stands twice
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def link(name):
    member = zipfile.ZipInfo(name)
    member.create_system, member.external_attr = 3, 0o120777 << 16
    return member


def lying():
    """A member that says it is smaller than it is."""
    data = bytearray(zipped((CONTENT, b"[]" * 5000)))
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 3)
    return bytes(data)


HOSTILE = {
    "empty": b"",
    "no zip": b"PK but no zip at all",
    "cut": zipped((CONTENT, b"{}"))[:-30],
    "nothing inside": zipped(),
    "no content": zipped(("other.json", b"{}")),
    "large": zipped((CONTENT, b"0" * (33 << 20))),
    "leaves the folder": zipped(("../outside", b"x"), (CONTENT, b"{}")),
    "absolute": zipped(("/tmp/outside", b"x")),
    "drive": zipped(("C:\\outside", b"x")),
    "twice": zipped((CONTENT, b"{}"), (CONTENT, b"[]")),
    "twice but for case": zipped((CONTENT, b"{}"), (CONTENT.upper(), b"[]")),
    "link": zipped((link(CONTENT), b"/etc/passwd")),
    "many": zipped(*((f"f{n}", b"") for n in range(form.MOST_FILES + 1))),
    "lying size": lying(),
    "list": zipped((CONTENT, b"[]")),
    "text": zipped((CONTENT, b"hello")),
    "deep": zipped((CONTENT, b"[" * 200_000)),
    "nan": zipped((CONTENT, b'{"recassay_bundle": NaN}')),
    "huge number": zipped((CONTENT, b'{"recassay_bundle": 1' + b"0" * 9000 + b"}")),
    "key twice": zipped((CONTENT, b'{"recassay_bundle": 1, "recassay_bundle": 2}')),
    "half a character": zipped((CONTENT, b'{"recassay_bundle": 1, "algorithm": "\\ud800"}')),
    "newer": zipped((CONTENT, b'{"recassay_bundle": 2}')),
    "wrong types": zipped((CONTENT, json.dumps(dict.fromkeys(form.BundleContent.model_fields, "x")).encode())),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_bundle_is_one_line(how, tmp_path):
    file = tmp_path / "hostile.zip"
    file.write_bytes(HOSTILE[how])
    with pytest.raises(RecAssayError) as caught:
        recassay.add_bundle(file, benchmark="published:board")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert len(str(caught.value)) < 1500
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize("reference", ["{folder}/evil.py:Mine", "./evil.py:Mine", "../here/evil.py:Mine", "evil.toml"])
def test_no_file_that_a_bundle_names_is_executed(reference, made, tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "evil.py").write_text(f"from pathlib import Path\nPath({str(tmp_path / 'mark')!r}).touch()\n{OWN}")
    (here / "evil.toml").write_text('[study]\nalgorithms = ["./evil.py:Mine"]\n')
    content, arrays = opened(made)
    content["reference"] = reference.format(folder=here)
    (tmp_path / "forged.zip").write_bytes(resealed(content, arrays))
    with without_processes():
        found = recassay.add_bundle(tmp_path / "forged.zip", benchmark=made.shipped, rerun=1)
    assert not (tmp_path / "mark").exists()
    assert (found.rerun, found.why_not) == ((), "its algorithm is not at hand")


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    (tmp_path / "bomb.zip").write_bytes(zipped((CONTENT, b"0" * (form.MOST_BYTES + 1))))
    with pytest.raises(InputError, match=r"bomb\.zip: unpacks to more than|looks? like a decompression bomb"):
        read_bundle(tmp_path / "bomb.zip")


ODD = (None, -1, "x", "\u202e", [[]], {"x": {}}, True, 10**40, "9" * 400)


UNCHECKED = {
    "machine", "versions", "reference", "reason", "joules", "memory", "finished", "validation", "value", "done_before",
    "claims", "made", "name", "seeds", "folds", "protocol", "budget", "comper", "multiverse", "analysis", "alpha",
    "metric", "data", "settings", "seconds", "seconds_predict", "parameters", "id", "digest",
}  # fmt: skip
"""Parts for which some odd value may stand: nothing else says what they were, or they are made again."""


@pytest.mark.long
def test_whatever_stands_in_a_bundle_is_taken_or_refused_in_one_line(made, tmp_path):
    """Every key of every part with values of other kinds, all hashes made again."""
    whole, arrays = opened(made)
    shipped = open_benchmark(made.shipped)
    places = [(), ("cells", 0), ("cells", 0, "spec"), ("cells", 0, "trials", 0), ("cells", 0, "metrics"),
              ("seal",), ("seal", "plan"), ("seal", "cells"), ("cells", 0, "spec", "split"), ("machine",),
              ("versions",)]  # fmt: skip
    tried, taken = 0, set()
    for place in places:
        for odd in ODD:
            for key in set(_part(whole, place)) - {"recassay_bundle", "files", "sha256"}:
                content = json.loads(json.dumps(whole))
                _part(content, place)[key] = odd
                tried += 1
                try:
                    forged = resealed(content, arrays)
                except (KeyError, TypeError, AttributeError, ValueError):
                    forged = pack(stripped(content), arrays)
                (tmp_path / "odd.zip").write_bytes(forged)
                try:
                    check_bundle(read_bundle(tmp_path / "odd.zip"), shipped, items_of(shipped))
                    taken.add(place[-1] if place and place[-1] in ("machine", "versions") else key)
                except InputError as error:
                    assert "\n" not in str(error)  # noqa: PT017
    assert tried > 500
    assert taken <= UNCHECKED


def _part(content, place):
    for key in place:
        content = content[key]
    return content


def test_two_of_one_name_stand_beside_each_other_and_gaps_have_no_place(made, tmp_path):
    content, arrays = opened(made)
    second = json.loads(json.dumps(content))
    second["cells"][1] |= {"status": "timeout", "reason": "over 60 s", "metrics": {}}
    folder = tmp_path / "bundles"
    folder.mkdir()
    (folder / "a.zip").write_bytes(made.bundle.read_bytes())
    (folder / "b.zip").write_bytes(resealed(second, {k: v for k, v in arrays.items() if k.endswith("0000")}))
    built = recassay.build_board(folder, out=tmp_path / "site", benchmarks=[str(made.shipped)])
    names = [row[0] for row in built.submitted]
    assert names[0] == "Mine"
    assert names[1].startswith("Mine (")
    assert [row[2] for row in built.submitted] == [2, None]
    page = built.page.read_text()
    assert "over 60 s: few-items" in page
    (folder / "c.zip").write_bytes(b"no bundle")
    with pytest.raises(InputError, match=r"c\.zip: is not a bundle"):
        recassay.build_board(folder, out=tmp_path / "site", benchmarks=[str(made.shipped)])
    with pytest.raises(InputError, match="it is of the benchmark 'small', which is not on this board"):
        recassay.build_board(folder, out=tmp_path / "site", benchmarks=["published:open"])
    with pytest.raises(UsageError, match="this folder does not exist"):
        recassay.build_board(tmp_path / "nowhere")
    with pytest.raises(InputError, match="it is of the benchmark 'small', which is not shipped"):
        recassay.add_bundle(made.bundle)


@pytest.mark.slow
def test_a_trial_is_offline_and_has_no_place(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with without_processes():
        result = recassay.bench(f"{made.folder / 'mine.py'}:Mine", trial=True, workers=1)
    assert result.headline().startswith("A trial on 3 datasets, too few for a verdict: Mine would be number ")
    assert result.to_dict()["trial"]
    assert result.folder == "bench-Mine-try"
    assert len(result.judgement.algorithms) == 11
    with pytest.raises(UsageError, match="a trial has its own data and no place"):
        recassay.bench("EASE", trial=True, data=tmp_path)


@pytest.mark.skipif(shutil.which("git") is None, reason="git not found")
@pytest.mark.parametrize(("handed_in", "code"), [("a.zip", 0), ("a.checked.json", 1)])
def test_the_board_to_copy_refuses_records_of_checks_in_pull_requests(handed_in, code, tmp_path):
    workflow = Path(__file__).resolve().parents[2] / "examples" / "board" / ".github" / "workflows" / "board.yml"
    steps = yaml.safe_load(workflow.read_text())["jobs"]["board"]["steps"]
    (script,) = (step["run"] for step in steps if step.get("name", "").startswith("Refuse records"))

    def run(*command, **more):
        return subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, **more).returncode

    who = ("-c", "user.name=Someone", "-c", "user.email=someone@example.org")
    assert run("git", "init", "-q") == 0
    assert run("git", *who, "commit", "-q", "--allow-empty", "-m", "begin") == 0
    assert run("git", "update-ref", "refs/remotes/origin/main", "HEAD") == 0
    (tmp_path / "bundles").mkdir()
    (tmp_path / "bundles" / handed_in).write_bytes(b"x")
    assert run("git", "add", "-A") == 0
    assert run("git", *who, "commit", "-q", "-m", "hand in") == 0
    assert run("bash", "-e", "-c", script, env={**os.environ, "BASE": "main"}) == code


def test_a_time_board_has_windows(made):
    cells = [
        SimpleNamespace(dataset="films", seed=1, fold=fold, metrics={"ndcg@10": value})
        for fold, value in ((2, 0.3), (0, 0.1), (1, 0.2))
    ]
    ((key, windows),) = windows_of(cells).items()
    assert key == ("films", 1)
    assert [cell.fold for cell in windows] == [0, 1, 2]
    assert value_of(windows, "ndcg@10") == pytest.approx(0.2)
    windows[1].metrics["ndcg@10"] = None
    assert value_of(windows, "ndcg@10") is None


def test_the_page_of_a_bundle_cannot_be_written_by_it(made, tmp_path):
    content, arrays = opened(made)
    content["algorithm"] = "</script><b>x"
    for cell in content["cells"]:
        cell["spec"]["algorithm"] = "</script><b>x"
    (tmp_path / "odd.zip").write_bytes(resealed(content, arrays))
    with pytest.raises(InputError, match=r"is not a bundle \(algorithm"):
        read_bundle(tmp_path / "odd.zip")


@pytest.mark.slow
def test_the_board_to_copy_builds_a_page_without_bundles_and_its_commands_exist(tmp_path, cli):
    example = Path(__file__).resolve().parents[2] / "examples" / "board"
    texts = [path.read_text() for path in (example / "README.md", example / ".github" / "workflows" / "board.yml")]
    assert yaml.safe_load(texts[1])["permissions"] == {"contents": "read"}
    helps = {}
    for line in "\n".join(texts).splitlines():
        for command, rest in re.findall(r"recassay ((?:board |data )?[a-z]+)(.*)", line):
            if command not in helps:
                helps[command] = cli(*command.split(), "--help")
                assert helps[command].code == 0, command
            for option in re.findall(r" (--[a-z]+)", rest.partition(" #")[0]):
                assert option in helps[command].out, (command, option)
    assert {"bench", "board add", "board build", "data fetch"} <= set(helps)
    assert [path.name for path in (example / "bundles").iterdir()] == [".gitkeep"]
    built = cli("board", "build", example / "bundles", "--out", tmp_path / "site")
    assert built.code == 0, built.err
    assert (tmp_path / "site" / "index.html").read_text().count("<title>") == 1
