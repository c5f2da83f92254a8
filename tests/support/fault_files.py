"""The files of the table of faults: good ones, and ones that are broken in a single way. All are tiny."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import polars as pl

ALGORITHMS, DATASETS = ("EASE", "ItemKNN", "Pop", "BPR"), ("films", "songs", "books", "games", "shops")
HEAD = "algorithm,dataset,metric,value\n"


def _value(i: int, j: int) -> float:
    return round(0.10 + 0.05 * ((i * 7 + j * 3) % 5) + 0.01 * i + 0.002 * j, 4)


ROWS = [f"{a},{d},ndcg@10,{_value(i, j)}\n" for j, d in enumerate(DATASETS) for i, a in enumerate(ALGORITHMS)]
GOOD = HEAD + "".join(ROWS)
WIDE = "algorithm," + ",".join(DATASETS) + "\n" + "".join(
    f"{a},{','.join(str(_value(i, j)) for j in range(len(DATASETS)))}\n" for i, a in enumerate(ALGORITHMS)
)  # fmt: skip
ANSWERS = "who,a,b,c,d,e\n" + "".join(f"p{n},{n & 1},{n >> 1 & 1},{n >> 2 & 1},1,{n % 3 == 0:d}\n" for n in range(12))
EVENTS = "user,item,rating,timestamp\n" + "".join(
    f"u{u},i{(u * 5 + n * 7) % 17},{1 + (u + n) % 5},{1_600_000_000 + 86_400 * n + u}\n"
    for u in range(20)
    for n in range(12)
)  # fmt: skip
CLASSES = "height,colour,kind\n" + "".join(f"{n},{'red' if n % 3 else 'blue'},{'ab'[n % 2]}\n" for n in range(24))
ARFF = (
    "@relation t\n@attribute height numeric\n@attribute colour {red,blue}\n@attribute kind {a,b}\n@data\n"
    + "".join(f"{n},{'red' if n % 3 else 'blue'},{'ab'[n % 2]}\n" for n in range(24))
)  # fmt: skip
LISTS = "user,item,rank\n" + "".join(f"u{u},i{(u * 5 + 84 + r) % 17},{r + 1}\n" for u in range(20) for r in range(5))
TRAIN, TEST = (
    "user,item\n" + "".join(f"u{u},i{(u * 5 + n * 7) % 17}\n" for u in range(20) for n in part)
    for part in (range(8), range(8, 12))
)
ITEMS = "item,discrimination,difficulty,guessing\na,1,0,0\nb,1.2,-1,0\nc,0.8,1,0\nd,1,0.5,0\ne,1,-0.5,0\n"
PROPERTIES = "dataset,users,items\n" + "".join(f"{d},{10 * (n + 1)},{5 * n + 3}\n" for n, d in enumerate(DATASETS))
STUDY = (
    '[study]\nname = "tiny"\nseed = 1\ndatasets = ["./events.csv"]\nalgorithms = ["MostPop"]\nmetrics = ["ndcg@10"]\n'
    '[protocol]\nsplit = "random"\nfilter = "none"\n[tuning]\ntrials = 0\n'
)
CLASSIFY = (
    '[study]\nname = "classes"\ndatasets = ["./classes.csv"]\nclassifiers = ["optimal", "pessimal"]\n'
)  # fmt: skip


def study(old: str = "", new: str = "", *, more: str = "") -> str:
    """The good study with one thing changed, or something added."""
    assert old in STUDY
    return STUDY.replace(old, new) + more


def parquet(frame: pl.DataFrame) -> bytes:
    """A frame as a Parquet file."""
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def changed(row: int, old: str, new: str, table: list[str] = ROWS, head: str = HEAD) -> str:
    """The good results with one row changed."""
    rows = list(table)
    assert old in rows[row]
    rows[row] = rows[row].replace(old, new)
    return head + "".join(rows)


def _objects() -> bytes:
    frame = pl.DataFrame({"algorithm": ["a", "b"], "dataset": ["x", "x"], "metric": ["m", "m"]})
    return parquet(frame.with_columns(pl.Series("value", [[1.0, 2.0], [3.0]])))


QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"


def packed_eval(header: bytes = b"{}", *, method: int = 0) -> bytes:
    """A log of Inspect whose members claim to be packed by `method` (93 is Zstandard)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if len(header) > 100 else zipfile.ZIP_STORED) as archive:
        archive.writestr("header.json", header)
        archive.writestr("summaries.json", b"[]")
    data = stream.getvalue()
    for signature, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.find(signature) if method else -1
        while at >= 0:
            data = data[: at + place] + method.to_bytes(2, "little") + data[at + place + 2 :]
            at = data.find(signature, at + 4)
    return data


FILES: dict[str, str | bytes] = {
    "good.csv": GOOD,
    "wide.csv": WIDE,
    "answers.csv": ANSWERS,
    "events.csv": EVENTS,
    "classes.csv": CLASSES,
    "classes.arff": ARFF,
    "lists.csv": LISTS,
    "train.csv": TRAIN,
    "test.csv": TEST,
    "items.csv": ITEMS,
    "properties.csv": PROPERTIES,
    "study.toml": STUDY,
    "classify.toml": CLASSIFY,
    # Bytes that are not a table
    "empty.csv": b"",
    "blank.csv": b"\n \n\n",
    "bom.csv": b"\xef\xbb\xbf",
    "nul.csv": GOOD.replace("EASE", "EA\0SE", 1),
    "latin.csv": GOOD.replace("EASE", "Caf\xe9").encode("latin-1"),
    "utf16.csv": GOOD.encode("utf-16"),
    "binary.csv": bytes(range(256)) * 20,
    "notparquet.parquet": b"PAR1 this is no Parquet file PAR1",
    "cut.parquet": parquet(pl.DataFrame({"algorithm": ["a"], "value": [1.0]}))[:-9],
    "nested.parquet": _objects(),
    "binary.parquet": parquet(
        pl.DataFrame({"algorithm": [b"\xff\xfe", b"b"], "dataset": ["x", "x"], "metric": ["m", "m"], "value": [1, 2]})
    ),
    "struct.parquet": parquet(pl.DataFrame({"algorithm": ["a", "b"], "value": [{"x": 1}, {"x": 2}]})),
    "text.csv.gz": b"not gzip at all",
    "cut.csv.gz": gzip.compress(GOOD.encode())[:-12],
    "tail.csv.gz": gzip.compress(GOOD.encode()) + b"garbage",
    "members.csv.gz": gzip.compress(GOOD[:200].encode()) + gzip.compress(GOOD[200:].encode()),
    "zip.csv": b"PK\x03\x04" + b"\0" * 60,
    "noise.xlsx": b"PK\x03\x04" + bytes(range(200)),
    "pdf.csv": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "deep.json": "[" * 3000 + "]" * 3000,
    "open.json": '{"EASE": {"films": {"ndcg@10": 0.1}',
    "scalar.json": "3",
    "strings.json": json.dumps({"a": "b"}),
    "hugecell.csv": HEAD + "x" * 300_000 + ",films,ndcg@10,0.1\nb,films,ndcg@10,0.2\n",
    "hugevalue.csv": changed(3, "0.", "9" * 5000 + "0."),
    # Results tables with one fault
    "headeronly.csv": HEAD,
    "onecolumn.csv": "algorithm\nEASE\nPop\n",
    "novalue.csv": "algorithm,dataset,metric\nEASE,films,ndcg@10\n",
    "twice.csv": "algorithm,algorithm,dataset,value\na,b,c,1\n",
    "duplicate.csv": GOOD + ROWS[0].replace("0.", "1."),
    "emptyname.csv": changed(0, "EASE", ""),
    "emptydataset.csv": changed(0, "films", ""),
    "emptymetric.csv": changed(0, "ndcg@10", ""),
    "words.csv": changed(2, ROWS[2].rsplit(",", 1)[1], "good\n"),
    "infinite.csv": changed(2, ROWS[2].rsplit(",", 1)[1], "inf\n"),
    "nan.csv": changed(2, ROWS[2].rsplit(",", 1)[1], "nan\n"),
    "enormous.csv": HEAD + "".join(r.rsplit(",", 1)[0] + f",{n + 1}e306\n" for n, r in enumerate(ROWS)),
    "huge.csv": HEAD + "".join(r.rsplit(",", 1)[0] + f",{1 + n / 100}e307\n" for n, r in enumerate(ROWS)),
    "tiny.csv": HEAD + "".join(r.rsplit(",", 1)[0] + f",{n + 1}e-320\n" for n, r in enumerate(ROWS)),
    "constant.csv": HEAD + "".join(r.rsplit(",", 1)[0] + ",0.5\n" for r in ROWS),
    "zeros.csv": HEAD + "".join(r.rsplit(",", 1)[0] + ",0\n" for r in ROWS),
    "negative.csv": HEAD + "".join(r.rsplit(",", 1)[0] + f",-{n + 1}\n" for n, r in enumerate(ROWS)),
    "onealgorithm.csv": HEAD + "".join(r for r in ROWS if r.startswith("EASE")),
    "onedataset.csv": HEAD + "".join(r for r in ROWS if ",films," in r),
    "missing.csv": HEAD + "".join(ROWS[:-1]),
    "ragged.csv": GOOD + "EASE,films,ndcg@10,0.1,0.2,0.3\n",
    "openquote.csv": GOOD + '"EASE,films,recall@10,0.1\nPop,films,recall@10,0.2\n',
    "control.csv": GOOD.replace("EASE", "EA\x1b[31mSE"),
    "newline.csv": GOOD.replace("EASE", '"EA\nSE"'),
    "hostile.csv": GOOD.replace("EASE", "constructor").replace("Pop", "toString").replace("BPR", "__proto__"),
    "ffff.csv": GOOD.replace("EASE", "EA\uffffSE"),
    "script.csv": GOOD.replace("EASE", "<script>alert(1)</script>"),
    "atzero.csv": GOOD.replace("ndcg@10", "ndcg@0"),
    "atminus.csv": GOOD.replace("ndcg@10", "ndcg@-3"),
    "atten.csv": GOOD.replace("ndcg@10", "ndcg@ten"),
    "athuge.csv": GOOD.replace("ndcg@10", "ndcg@" + "9" * 30),
    "atnothing.csv": GOOD.replace("ndcg@10", "ndcg@"),
    "unknown.csv": GOOD.replace("ndcg@10", "sparkle"),
    "wideword.csv": WIDE.replace("0.1,", "zero,", 1),
    # Answers
    "answers2.csv": ANSWERS.replace(",1,", ",2,", 1),
    "answersword.csv": ANSWERS.replace(",1,", ",maybe,", 1),
    "answersnobody.csv": ANSWERS.replace("p3,", ",", 1),
    "answerstwice.csv": ANSWERS.replace("p3,", "p4,", 1),
    "answersmissing.csv": "who,a,b\n" + "".join(f"p{n},,\n" for n in range(6)),
    "answersone.csv": "who,a\np1,1\n",
    "answersnoitems.csv": "who\np1\np2\n",
    "answersall.csv": "who,a,b\n" + "".join(f"p{n},1,1\n" for n in range(6)),
    "itemstwice.csv": ITEMS + "a,1,0,0\n",
    "itemsnan.csv": ITEMS.replace("1.2", "nan"),
    "itemsword.csv": ITEMS.replace("1.2", "steep"),
    "itemsinf.csv": ITEMS.replace("1.2", "inf"),
    "itemsguess.csv": ITEMS.replace("a,1,0,0\n", "a,1,0,7\n"),
    "itemsother.csv": "item,discrimination,difficulty,guessing\nz,1,0,0\n",
    # Properties and characteristics
    "propertiestwice.csv": PROPERTIES + "films,1,2\n",
    "propertiesnan.csv": PROPERTIES.replace("films,10", "films,nan"),
    "propertiesword.csv": PROPERTIES.replace("films,10", "films,many"),
    "propertiesinf.csv": PROPERTIES.replace("films,10", "films,inf"),
    "propertiesnone.csv": "dataset,colour\nfilms,red\n",
    "propertiesother.csv": "dataset,users\nzebra,1\n",
    "propertiesblank.csv": PROPERTIES.replace("films,10", ",10"),
    # Interactions
    "oneuser.csv": "user,item\nu1,i1\n",
    "noitem.csv": "user\nu1\nu2\n",
    "badrating.csv": EVENTS.replace(",1,", ",one,", 1),
    "badtime.csv": EVENTS.replace("1600000000", "yesterday", 1),
    "emptyuser.csv": EVENTS.replace("u3,", ",", 1),
    "infrating.csv": EVENTS.replace(",1,", ",inf,", 1),
    "eventtypes.csv": "user,item,event\nu1,i1,view\nu1,i2,cart\nu2,i1,view\nu2,i3,buy\n",
    "nulevents.csv": EVENTS.replace("u3,", "u\0,", 1),
    "hugetime.csv": EVENTS.replace("1600000000", "1" + "0" * 40, 1),
    # Classification tables
    "nulclasses.csv": CLASSES.replace("red", "re\0d", 1),
    "oneclass.csv": CLASSES.replace(",b\n", ",a\n"),
    "noclass.csv": CLASSES.replace(",b\n", ",\n", 1),
    "fewrows.csv": "height,kind\n1,a\n2,b\n",
    "undeclared.arff": ARFF.replace("4,red", "4,green"),
    "openquote.arff": ARFF.replace("4,red", "4,'red"),
    "wordnumber.arff": ARFF.replace("\n4,", "\nfour,"),
    "norows.arff": ARFF.partition("@data")[0] + "@data\n",
    "nodata.arff": ARFF.partition("@data")[0],
    "twice.arff": ARFF.replace("@attribute colour {red,blue}", "@attribute height numeric"),
    "badattribute.arff": ARFF.replace("@attribute height numeric", "@attribute height"),
    "badtype.arff": ARFF.replace("height numeric", "height colourful"),
    "short.arff": ARFF + "1,red\n",
    "long.arff": ARFF + "1,red,a,b\n",
    "sparse.arff": ARFF + "{9 1}\n",
    "opensparse.arff": ARFF + "{0 1\n",
    # Lists
    "liststrange.csv": LISTS.replace("u", "stranger"),
    "listsnan.csv": "user,item,score\n" + "".join(f"u{u},i1,nan\n" for u in range(20)),
    "listsempty.csv": "user,item,rank\n",
    "liststwice.csv": LISTS + "u0,i16,1\n",
    "testempty.csv": "user,item\n",
    "testother.csv": "user,item\nzz,yy\n",
    # Studies
    "notoml.toml": "[study\nname = ",
    "deep.toml": "[study]\nname = " + "[" * 2000 + "]" * 2000,
    "emptystudy.toml": "",
    "nostudy.toml": "[protocol]\nsplit = 'random'\n",
    "seedtwice.toml": study("seed = 1", "seed = [1, 1]"),
    "seedtrue.toml": study("seed = 1", "seed = true"),
    "seedmixed.toml": study("seed = 1", "seed = [1, true]"),
    "seedword.toml": study("seed = 1", 'seed = "one"'),
    "seedfloat.toml": study("seed = 1", "seed = 1.5"),
    "seednegative.toml": study("seed = 1", "seed = -1"),
    "seedempty.toml": study("seed = 1", "seed = []"),
    "seedhuge.toml": study("seed = 1", "seed = 99999999999999999999999"),
    "caseTwice.toml": study('["MostPop"]', '["MostPop", "mostpop"]'),
    "sametwice.toml": study('["MostPop"]', '["MostPop", "MostPop"]'),
    "datatwice.toml": study('["./events.csv"]', '["./events.csv", "./events.csv"]'),
    "ratiosnan.toml": study(more="", old='filter = "none"', new='filter = "none"\nratios = [nan, 0.1, 0.1]'),
    "ratiosinf.toml": study(more="", old='filter = "none"', new='filter = "none"\nratios = [inf, 0.1, 0.1]'),
    "ratiostwo.toml": study(more="", old='filter = "none"', new='filter = "none"\nratios = [0.9, 0.1]'),
    "ratiossum.toml": study(more="", old='filter = "none"', new='filter = "none"\nratios = [0.9, 0.9, 0.9]'),
    "thresholdnan.toml": study(more="", old='filter = "none"', new='filter = "none"\npositive_threshold = nan'),
    "folds.toml": study('split = "random"', 'split = "kfold"\nfolds = 1000000'),
    "foldsone.toml": study('split = "random"', 'split = "kfold"\nfolds = 1'),
    "atzero.toml": study("ndcg@10", "ndcg@0"),
    "atminus.toml": study("ndcg@10", "ndcg@-3"),
    "atten.toml": study("ndcg@10", "ndcg@ten"),
    "athuge.toml": study("ndcg@10", "ndcg@100000000000"),
    "noname.toml": study('["ndcg@10"]', '[""]'),
    "metricstwice.toml": study('["ndcg@10"]', '["ndcg@10", "NDCG@10"]'),
    "unknownmetric.toml": study("ndcg@10", "sparkle@10"),
    "unknownalgorithm.toml": study("MostPop", "MostPoop"),
    "unknowndata.toml": study("./events.csv", "evnts"),
    "nofile.toml": study("./events.csv", "./nothere.csv"),
    "noalgorithms.toml": study('["MostPop"]', "[]"),
    "algorithmsword.toml": study('["MostPop"]', '"MostPop"'),
    "memoryinf.toml": study(more="[budget]\nmemory_gb = inf\n"),
    "memorynan.toml": study(more="[budget]\nmemory_gb = nan\n"),
    "secondsinf.toml": study(more="[budget]\nseconds_per_cell = inf\n"),
    "secondsnan.toml": study(more="[budget]\nseconds_per_cell = nan\n"),
    "secondszero.toml": study(more="[budget]\nseconds_per_cell = 0\n"),
    "trialsnegative.toml": study("trials = 0", "trials = -1"),
    "trialstrue.toml": study("trials = 0", "trials = true"),
    "trialshuge.toml": study("trials = 0", "trials = 100000000000000"),
    "unknownkey.toml": study(more="colour = 3\n"),
    "unknownsection.toml": study(more="[colours]\nred = 1\n"),
    "settingnan.toml": study(more="[algorithm.MostPop]\npower = nan\n"),
    "unknownsetting.toml": study(more="[algorithm.MostPop]\npower = 3\n"),
    "weightsnegative.toml": study(more='[dataset.events.read.event_weights]\nview = -1\n'),
    "weightsnan.toml": study(more='[dataset.events.read.event_weights]\nview = nan\n'),
    "sectionword.toml": 'study = "films"\n',
    "nametoolong.toml": study('name = "tiny"', f'name = "{"n" * 300}"'),
    "nameslash.toml": study('name = "tiny"', 'name = "a/../../b"'),
    "namenul.toml": study('name = "tiny"', 'name = "a\\u0000b"'),
    "classifyempty.toml": '[study]\nname = "c"\n',
    "classifyunknown.toml": CLASSIFY.replace("optimal", "optimum"),
    "classifytwice.toml": CLASSIFY.replace('"optimal", "pessimal"', '"optimal", "Optimal"'),
    "classifynul.toml": CLASSIFY.replace("./classes.csv", "./nulclasses.csv"),
    "classifyshare.toml": CLASSIFY + "[protocol]\ntest_share = nan\n",
    "classifyshare2.toml": CLASSIFY + "[protocol]\ntest_share = 1.5\n",
    "classifyseed.toml": CLASSIFY.replace('name = "classes"', 'name = "classes"\nseed = [1, 1]'),
    "classifytrue.toml": CLASSIFY.replace('name = "classes"', 'name = "classes"\nseed = true'),
    "battleself.csv": "model_a,model_b,winner\na,a,tie\n",
    "battlewho.csv": "model_a,model_b,winner\na,b,nobody\n",
    "battlegap.jsonl": '{"model_a": "a", "model_b": null, "winner": "tie"}\n',
    "battleone.csv": "winner,loser\na,b\n",
    "mteb.json": '{"mteb_version": "1", "task_name": "x", "scores": {"test": [3]}}',
    "mtebempty.json": '{"mteb_version": "1", "task_name": "x", "scores": {"test": []}}',
    "swe.json": '{"resolved_ids": ["a"], "submitted_ids": ["a"]}',
    "sweids.json": '{"resolved_ids": [[1]], "submitted_ids": [{}]}',
    "helminstances.json": '[{"instance_id": "i", "stats": [3]}]',
    "helmnone.json": '[{"instance_id": "i", "stats": []}]',
    "eee.jsonl": '{"schema_version": "instance_level_eval_0.2.2"}\n',
    "eeehalf.jsonl": '{"schema_version": "instance_level_eval_0.2.2", "x": [\n',
    "openml.arff": "@relation openml_task_1_predictions\n@attribute row_id numeric\n@attribute prediction {a}\n@data\n",
    "openmlrow.arff": "@relation openml_task_1_predictions\n@attribute row_id numeric\n@data\n1,2,3\n",
    "answerstwo.csv": "classifier,q1,q2,q3\na,0,1,2\nb,1,1,0\n",
    "answersgap.csv": "classifier,q1,q2,q3\na,,,\nb,,,\n",
    "zstd.eval": packed_eval(method=93),
    "bomb.eval": packed_eval(b" " * (80 << 20)),
    "half.eval": packed_eval()[:60],
    "notold.eval": packed_eval(b"[1, 2]"),
    "badyaml.yaml": "study: [1, 2\n",
    "bomb.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join('*' + a for _ in range(9))}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ),
}  # fmt: skip


FOLDERS = {
    "trectwice": {"a.run": "q1 Q0 d1 1 3 a\nq1 Q0 d1 2 2 a\n", "x.qrels": QRELS},
    "trecnan": {"a.run": "q1 Q0 d1 1 nan a\n", "x.qrels": QRELS},
    "trecother": {"a.run": "q9 Q0 d1 1 3 a\n", "x.qrels": QRELS},
    "trectwo": {"a.run": "q1 Q0 d1 1 3 a\n", "x.qrels": QRELS, "y.qrels": QRELS},
    "trecragged": {"a.run": "q1 Q0 d1 1 3 a\n" * 70 + "q1 Q0 d2 1\n", "x.qrels": QRELS},
    "trecgrade": {"a.run": "q1 Q0 d1 1 3 a\n", "x.qrels": "q1 0 d1 1\n" * 70 + "q2 0 d1 high\n"},
    "trecnothing": {"a.run": "q1 Q0 d1 1 3 a\n", "x.qrels": "q1 0 d1 0\n"},
    "trecalone": {"a.run": "q1 Q0 d1 1 3 a\n"},
}
"""Folders with their files."""


def write_files(folder: Path) -> None:
    """All of them, into `folder`, with a folder, a broken link, a loop of links and a pipe beside them."""
    import os

    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, files in FOLDERS.items():
        (folder / name).mkdir()
        for file, content in files.items():
            (folder / name / file).write_text(content)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "nowhere").symlink_to("not-there")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.csv")
        os.mkfifo(folder / "pipe.toml")


def small_files(folder: Path) -> Path:
    """The folder, with a results table, events and a study of them in it."""
    for name, content in (("good.csv", GOOD), ("events.csv", EVENTS), ("study.toml", STUDY)):
        (folder / name).write_text(content)
    return folder
