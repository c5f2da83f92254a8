"""Lists of other tools: every kind that is known, by small samples made as each tool writes them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.readings import expected, small_lists_reading
from tests.support.small_tables import SMALL_LISTS, lz4

from recassay.core.errors import InputError
from recassay.data.lists.judgements import read_judgements
from recassay.data.lists.nested import LZ4_MAGIC, lz4_table
from recassay.data.lists.read import read_lists
from recassay.data.lists.roles import list_roles

TRUE = Path(__file__).resolve().parents[1] / "samples" / "lists"

ROWS = [("u1", "i3", 1, 0.9), ("u1", "i1", 2, 0.5), ("u2", "i2", 1, 0.7)]
"""User, item, rank and score of the same three places in every sample."""


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def text(head: str, form: str) -> str:
    return head + "\n".join(form.format(u=u, i=i, r=r, s=s) for u, i, r, s in ROWS) + "\n"


SAMPLES = {
    "our own columns": ("a.csv", text("user,item,score,rank\n", "{u},{i},{s},{r}")),
    "LensKit, flat": ("a.csv", text("user_id,item_id,rank,score\n", "{u},{i},{r},{s}")),
    "WarpRec": ("EASE_15.11.2026_10-21-56.tsv", text("user_id\titem_id\trating\n", "{u}\t{i}\t{s}")),
    "Elliot, no header": ("a.tsv", text("", "{u}\t{i}\t{s}")),
    "RecBole's typed header": ("a.inter", text("user_id:token\titem_id:token\tscore:float\n", "{u}\t{i}\t{s}")),
    "TREC run": ("a.trec", text("", "{u} Q0 {i} {r} {s} mine")),
    "TREC run, tabs and blanks": ("run.txt", text("", " {u}\tQ0  {i} {r} {s} mine ")),
    "semicolons": ("a.csv", text("UserID;ItemID;Prediction\n", "{u};{i};{s}")),
    "ranx columns": ("a.csv", text("q_id,doc_id,score\n", "{u},{i},{s}")),
    "order alone": ("a.csv", text("user,item\n", "{u},{i}")),
    "four columns, no header": ("a.csv", text("", "{u},{i},{s},{r}")),
    "a list in each row, by another name": ("a.csv", 'user,recommendations\nu1,"[i3, i1]"\nu2,i2\n'),
    "a list in each row": ("a.csv", 'user,items\nu1,"[i3, i1]"\nu2,i2\n'),
    "ranx JSON": ("a.json", json.dumps({"u1": {"i3": 0.9, "i1": 0.5}, "u2": {"i2": 0.7}})),
    "ordered JSON": ("a.json", json.dumps({"u1": ["i3", "i1"], "u2": ["i2"]})),
    "records": ("a.json", json.dumps([{"user": u, "item": i, "score": s} for u, i, _, s in ROWS])),
    "pandas JSON (OmniRec)": (
        "a.json",
        json.dumps({n: {str(k): row[p] for k, row in enumerate(ROWS)} for p, n in enumerate(("user", "item", "rank"))}),
    ),
}


@pytest.mark.parametrize("name", SMALL_LISTS)
def test_small_lists_are_read_or_refused_as_they_were(name: str) -> None:
    """Every row and note, and the judgements that a file may be; `tests/support/readings.py` writes them again."""
    assert small_lists_reading(name) == expected()["lists"][name]


@pytest.mark.parametrize(("name", "content"), SAMPLES.values(), ids=SAMPLES)
def test_every_kind_gives_the_same_lists(tmp_path: Path, name: str, content: str) -> None:
    (found,) = read_lists(write(tmp_path, name, content))
    order = ["rank"] if "rank" in found.frame.columns else ["score"]
    ordered = found.frame.sort("user", *order, descending=[False, order == ["score"]])
    assert ordered.select("user", "item").rows() == [row[:2] for row in ROWS]
    assert all(dtype.is_numeric() for dtype in ordered.select(order).dtypes)
    assert found.name == {"a.trec": "mine", "run.txt": "mine"}.get(name, name.partition(".")[0].partition("_")[0])


@pytest.mark.parametrize("form", ["{u},{all}", "{u}\t{spaced}", "{u}: {all}", "{u} [{all}]"])
def test_a_user_and_the_list_on_a_line(tmp_path: Path, form: str) -> None:
    items = [[f"i{(u * 7 + place) % 50}" for place in range(6)] for u in range(4)]
    lines = [form.format(u=f"u{u}", all=",".join(one), spaced=" ".join(one)) for u, one in enumerate(items)]
    (found,) = read_lists(write(tmp_path, "a.txt", "\n".join(lines)))
    assert found.frame.rows() == [(f"u{u}", item, r) for u, one in enumerate(items) for r, item in enumerate(one, 1)]
    assert "each line was taken as a user" in found.notes[0]


def test_records_on_lines(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"user": u, "item": i, "score": s}) for u, i, _, s in ROWS)
    (found,) = read_lists(write(tmp_path, "a.json", lines))
    assert found.frame.select("user", "item").rows() == [row[:2] for row in ROWS]


def test_nested_parquet_of_lenskit_names_its_models(tmp_path: Path) -> None:
    items = [[{"item_id": i, "rank": r, "score": s} for u, i, r, s in ROWS if u == user] for user in ("u1", "u2")]
    frame = pl.DataFrame({"model": ["Pop", "KNN"], "user_id": ["u1", "u2"], "items": items})
    frame.write_parquet(tmp_path / "a.parquet")
    found = read_lists(tmp_path / "a.parquet")
    assert [one.name for one in found] == ["Pop", "KNN"]
    assert found[0].frame.rows() == [("u1", "i3", 1, 0.9), ("u1", "i1", 2, 0.5)]
    frame.drop("model").write_parquet(tmp_path / "b.parquet")
    assert read_lists(tmp_path / "b.parquet")[0].frame.height == 3


def test_a_folder_gives_every_file_and_a_frame_its_name(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        write(tmp_path, name, SAMPLES["our own columns"][1])
    write(tmp_path, "split.json", json.dumps({"fingerprint": "ab" * 32}))
    (tmp_path / "three.csv").mkdir()
    found = read_lists(tmp_path)
    assert [one.name for one in found] == ["one", "two"]
    assert [one.name for one in read_lists(tmp_path, name="mine")] == ["one", "two"], "one name would mix them up"
    assert {one.split for one in found} == {"ab" * 32}
    frame = pl.DataFrame(ROWS, schema=["user", "item", "rank", "score"], orient="row")
    assert read_lists(frame, name="mine")[0].name == "mine"


def test_lists_name_their_split_in_a_column_or_beside_them(tmp_path: Path) -> None:
    named = write(tmp_path, "a.csv", f"user,item,score,split\nu1,i1,1,{'0123456789ab'}\n")
    assert read_lists(named)[0].split == "0123456789ab"
    other = write(tmp_path, "b.csv", "user,item,score,split\nu1,i1,1,test\n")
    assert read_lists(other)[0].split is None
    for length, named_too in ((11, False), (12, True), (64, True), (65, False)):
        path = write(tmp_path, "d.csv", f"user,item,score,split\nu1,i1,1, {'A' * length}\nu2,i1,1,\n")
        assert read_lists(path)[0].split == ("a" * length if named_too else None)
    write(tmp_path, "b.split.json", '{"fingerprint": "cdcdcdcdcdcd"}')
    assert read_lists(other)[0].split == "cdcdcdcdcdcd"
    write(tmp_path, "a.split.json", '{"fingerprint": "cdcdcdcdcdcd"}')
    (own,) = read_lists(named)
    assert (own.split, own.named_in) == ("0123456789ab", f"the column 'split' of {named}"), "what they say themselves"
    write(tmp_path, "b.split.json", "{}")
    with pytest.raises(InputError, match="does not name their split"):
        read_lists(other)
    two = write(tmp_path, "c.csv", f"user,item,score,split\nu1,i1,1,{'a' * 12}\nu2,i1,1,{'b' * 12}\n")
    with pytest.raises(InputError, match="names 2 splits"):
        read_lists(two)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "the file is empty"),
        ("a.csv", "thing,other,score\n1,2,3\n", "no column is recognised as the user or the item"),
        ("a.csv", "user,item,score,score\n1,2,3,4\n", "'score' appears twice"),
        ("a.csv", "user,item,score\nu1,i1,good\n", "the score column holds 'good' in data row 1"),
        ("a.csv", "a,b,c,d,e\n1,2,3,4,5\n", "no column is recognised"),
        ("a.csv", "1,2,3,4,5\n1,2,3,4,5\n", "5 columns without a header"),
        ("a.json", "{", "is not JSON"),
        ("a.json", "{}", "holds no lists"),
        ("a.json", '{"u": {"i": "high"}}', "a score is not a number"),
        ("a.json", '{"u": {"i": 1}, "v": [1]}', "mixes lists and scores"),
        ("a.parquet", "PAR1 and no more", "not a readable Parquet"),
        ("a.lz4", "\x04no", "not a readable LZ4"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_lists(write(tmp_path, name, content))


def test_judgements_of_trec_and_ranx(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.trec", "u1 0 i1 2\nu1 0 i2 0\nu2 0 i1 1\n")
    found = read_judgements(qrels)
    assert found is not None
    assert found.rows() == [("u1", "i1", 2.0), ("u2", "i1", 1.0)]
    ranx = read_judgements(write(tmp_path, "q.json", '{"u1": {"i1": 2, "i2": 0}, "u2": {"i1": 1}}'))
    assert ranx is not None
    assert ranx.rows() == found.rows()
    assert read_judgements(write(tmp_path, "q.csv", "user,item\nu1,i1\n")) is None
    assert read_judgements(write(tmp_path, "t.txt", "1 0 7 5\n1 3 8 4\n")) is None
    for name in ("q.qrels", "q.qrel", "Q.TREC", "q.txt"):
        marked = read_judgements(write(tmp_path, name, "u1 Q0 i1 2\nu1 Q0 i2 -1\n\nu2 Q0 i1 1\n"))
        assert marked is not None
        assert marked.rows() == found.rows()
    ordered = read_judgements(write(tmp_path, "o.json", '{"u1": ["i1", "i2"]}'))
    assert ordered is not None
    assert ordered.rows() == [("u1", "i1", 1.0), ("u1", "i2", 1.0)], "a place in a list is not a degree of relevance"


@pytest.mark.parametrize("file", sorted(file.name for file in TRUE.iterdir() if file.suffix not in (".csv", ".gz")))
def test_files_that_the_tools_wrote(file: str) -> None:
    if file == "qrels.trec":
        assert read_judgements(TRUE / file) is not None
        return
    for found in read_lists(TRUE / file):
        assert found.frame.height >= 100
        assert found.frame.get_column("item").n_unique() > 10
        assert not found.frame.select("user", "item").null_count().sum_horizontal()[0]
        assert found.name in {"pop", "itemknn", "ranx_pop", "Pop", "ItemKNN", "ALS", "MostPop", "Random",
                              "lenskit-Pop-flat", "omnirec_predictions"}  # fmt: skip


def test_a_folder_of_a_run_has_its_lists_below_it(tmp_path: Path) -> None:
    (tmp_path / "recs").mkdir()
    (tmp_path / "evaluation").mkdir()
    write(tmp_path / "recs", "EASE.tsv", SAMPLES["Elliot, no header"][1])
    assert [one.name for one in read_lists(tmp_path)] == ["EASE"]


@pytest.mark.parametrize(("flags", "checksum"), [(0x40, b""), (0x50, b"sums")])
def test_blocks_of_lz4_with_and_without_checksums(flags: int, checksum: bytes) -> None:
    stored = [b"\xa1\x61u\xa1", b"\x61i\xf9\x3c\x00"]  # {"u": {"i": 1.0}} in two blocks that are not packed
    blocks = b"".join((len(part) | 1 << 31).to_bytes(4, "little") + part + checksum for part in stored)
    found = lz4_table(LZ4_MAGIC + bytes([flags, 0x40, 0]) + blocks + bytes(4), "run.lz4")
    assert found.rows() == [("u", "i", 1.0)]


@pytest.mark.parametrize(
    ("content", "packed", "reason"),
    [
        (bytes([0x10]) + b"\xa1" + bytes([9, 0]), True, "a copy reaches outside the content"),
        (bytes([0x10]) + b"\xa1" + bytes([0, 0]), True, "a copy reaches outside the content"),
        (b"\xa1\x61u\xa1\x61i\xf9\x3c\x00\x00", False, "bytes after its content"),
        (b"\xa1\x65u", False, "cut short"),
        (b"\x81" * 12 + b"\x01", False, "nested too deeply"),
        (b"\xc0\x01", False, "a value of kind 6"),
    ],
)
def test_what_is_wrong_with_a_compressed_file_is_told(content: bytes, packed: bool, reason: str) -> None:
    with pytest.raises(InputError, match=rf"x.lz4: is not a readable LZ4 file \({reason}\); save it as JSON"):
        lz4_table(lz4(content, packed=packed), "x.lz4")


def test_a_letter_that_the_sample_cuts_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "user,item,score\nu1,é,1\nu2,b,2\n"
    path = write(tmp_path, "a.csv", content)
    monkeypatch.setattr("recassay.data.lists.text._START", content.encode().index("é".encode()) + 1)
    assert read_lists(path)[0].frame.rows() == [("u1", "é", 1.0), ("u2", "b", 2.0)]
    path.write_text(content.replace("é", "\U0001f3b5"), encoding="utf-8")
    for cut in (1, 2, 3):
        monkeypatch.setattr("recassay.data.lists.text._START", content.encode().index("é".encode()) + cut)
        assert read_lists(path)[0].frame.rows() == [("u1", "\U0001f3b5", 1.0), ("u2", "b", 2.0)]
    monkeypatch.undo()
    path.write_bytes(b"user,item,score\nu1,\xff,1\nu2,b,2\n")
    with pytest.raises(
        InputError, match="is not text, and none of the other kinds of lists; give UTF-8 text, or Parquet"
    ):
        read_lists(path)


def test_lists_beside_lists_of_scores_keep_their_scores() -> None:
    frame = pl.DataFrame({"user": ["u1", "u2"], "items": [["a", "b"], ["c"]], "scores": [[0.5, 0.25], [0.75]]})
    (found,) = read_lists(frame)
    assert (found.name, found.format, found.where) == ("lists", "frame", "the frame")
    assert found.frame.rows() == [("u1", "a", 0.5), ("u1", "b", 0.25), ("u2", "c", 0.75)]
    (ranked,) = read_lists(frame.drop("scores"), name="mine")
    assert (ranked.name, ranked.frame.rows()) == ("mine", [("u1", "a", 1), ("u1", "b", 2), ("u2", "c", 1)])
    structs = pl.DataFrame({"user": ["u1", "u2"], "items": [[{"item": "a", "user": 9}, {"item": "b", "user": 9}], []]})
    assert read_lists(structs)[0].frame.rows() == [("u1", "a", 1), ("u1", "b", 2)]


def test_a_copy_from_the_very_start_of_a_block() -> None:
    block = bytes([0x40]) + b"\xa1\x62uv" + bytes([4, 0]) + bytes([0x30]) + b"\xf9\x3c\x00"  # {"uv": {"uv": 1.0}}
    assert lz4_table(lz4(block, packed=True), "x.lz4").rows() == [("uv", "uv", 1.0)]


def test_records_may_become_fractions_late(tmp_path: Path) -> None:
    rows = [{"user": "u", "item": f"i{n}", "score": 200 - n if n < 150 else 0.5} for n in range(151)]
    (found,) = read_lists(write(tmp_path, "a.json", json.dumps(rows)))
    assert found.frame.get_column("score").to_list()[-2:] == [51.0, 0.5]


def test_users_that_are_called_like_columns_are_users(tmp_path: Path) -> None:
    content = {"user": {"a": 0.5, "b": 0.25}, "item": {"c": 0.75}}
    (found,) = read_lists(write(tmp_path, "a.json", json.dumps(content)))
    assert found.frame.rows() == [("user", "a", 0.5), ("user", "b", 0.25), ("item", "c", 0.75)]


def test_a_score_beyond_64_bits_is_a_number(tmp_path: Path) -> None:
    path = write(
        tmp_path, "a.json", '[{"user": "u", "item": "a", "score": 1}, {"user": "u", "item": "b", "score": 9%s}]'
    )
    path.write_text(path.read_text() % ("0" * 30))
    assert read_lists(path)[0].frame.get_column("score").to_list() == [1, 9 * 10**30]
    frame = pl.DataFrame(
        {"user": ["u"] * 3, "item": list("abc"), "score": pl.Series([1, 10**30, None], dtype=pl.Object)}
    )
    assert read_lists(frame)[0].frame.get_column("score").to_list() == [1.0, 1e30, None]


def test_where_rows_stand_in_order_each_algorithm_has_ranks_of_its_own(tmp_path: Path) -> None:
    rows = "KNN,u1,i3\nPop,u1,i9\nKNN,u1,i1\nKNN,u2,i2\nPop,u1,i8\n"
    found = read_lists(write(tmp_path, "a.csv", f"model,user,item\n{rows}"))
    assert {one.name: one.frame.rows() for one in found} == {
        "KNN": [("u1", "i3", 1), ("u1", "i1", 2), ("u2", "i2", 1)],
        "Pop": [("u1", "i9", 1), ("u1", "i8", 2)],
    }


@pytest.mark.parametrize("above", ["\n", "\r\n\r\n", "  \n\t\n", "\ufeff\n \n"])
def test_blank_lines_above_a_header_say_nothing(tmp_path: Path, above: str) -> None:
    (found,) = read_lists(write(tmp_path, "a.csv", f"{above}user,item,score\nu1,i3,0.9\n\nu1,i1,0.5\n"))
    assert found.frame.rows() == [("u1", "i3", 0.9), ("u1", "i1", 0.5)]


def test_of_two_columns_of_whole_numbers_without_a_header_the_first_is_the_rank(tmp_path: Path) -> None:
    (found,) = read_lists(write(tmp_path, "a.csv", "u1,i3,1,9\nu1,i1,2,5\n"))
    assert found.frame.select("rank", "score").rows() == [(1, 9), (2, 5)]


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("17", 23), ("1818", 24), ("190100", 256), ("1a00010000", 65536), ("1b0000000100000000", 2**32),
        ("20", -1), ("3863", -100), ("390100", -257),
        ("f93c00", 1.0), ("fac0000000", -2.0), ("fb3fe0000000000000", 0.5),
    ],
)  # fmt: skip
def test_numbers_of_cbor(written: str, score: float) -> None:
    """One user with one item: a map of a map, with a score as RFC 8949 writes it."""
    table = lz4_table(bytes.fromhex(f"a16175a16169{written}"), "x.lz4")
    assert table.rows() == [("u", "i", score)]


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["rating", "Score", "item_id", "item", "user_id", "user"], {"user": "user", "item": "item", "score": "Score"}),
        (["value", "prediction", "qid", "docno"], {"user": "qid", "item": "docno", "score": "prediction"}),
        (["pos", "rank", "uid", "items"], {"user": "uid", "rank": "rank", "items": "items"}),
        (["session", "item", "recs"], {"user": "session", "item": "item"}),
        (["user:token", "item_list:token_seq", "run"], {"user": "user:token", "items": "item_list:token_seq",
                                                         "algorithm": "run"}),
    ],
)  # fmt: skip
def test_of_several_names_for_a_role_the_most_usual_is_taken(names: list[str], roles: dict[str, str]) -> None:
    assert list_roles(names, "x.csv") == roles


@pytest.mark.parametrize("written", ["[3, 1, 2]", "3|1|2", "('3', '1', '2')", " 3 1  2 ", '["3";"1";"2"]', "3,1,2"])
def test_a_list_in_a_cell_of_text_may_be_written_in_many_ways(written: str) -> None:
    (found,) = read_lists(pl.DataFrame({"user": ["u", "v"], "items": [written, "7"]}))
    assert found.frame.rows() == [("u", "3", 1), ("u", "1", 2), ("u", "2", 3), ("v", "7", 1)]


def test_ranks_begin_anywhere_and_are_not_negative() -> None:
    def ranks(*values: object) -> list[object]:
        frame = pl.DataFrame({"user": ["u"] * len(values), "item": list("abcd")[: len(values)], "rank": values})
        return read_lists(frame)[0].frame.get_column("rank").to_list()

    assert ranks(0, 1) == [0, 1]
    assert ranks(" 2", "7 ", None) == [2, 7, None]
    for wrong in ((1, -1), ("1", "-1"), (1.0, float("inf")), ("1", "first")):
        with pytest.raises(
            InputError, match=r"the rank column holds .* in data row 2; give it finite numbers from 1 on"
        ):
            ranks(*wrong)
    scored = pl.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "score": ["-1", " 0.5"]})
    assert read_lists(scored)[0].frame.get_column("score").to_list() == [-1.0, 0.5]
