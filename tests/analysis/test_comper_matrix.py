"""ComPer's matrix: every printed table of its derivation, one's own matrix and labels, stems and Dice."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recassay
from recassay.analysis.comper.derive import (
    _definitions,
    derive_from_tables,
    dice,
    dice_table,
    features,
    labels_from_frame,
    matrix_from_frame,
    similarities_from_frame,
    stem,
)
from recassay.analysis.comper.matrix import (
    DICE_SIMILARITY,
    DIMENSIONS,
    OBJECTIVES,
    derive_matrix,
    label_table,
    letters,
    likert_labels,
    mean_label,
    published_matrix,
    similarity_labels,
)
from recassay.core.errors import InputError, UsageError
from support.tables import printed_table


def printed(number: int) -> list[list[str]]:
    """A printed table: a row per dimension, a column per objective."""
    table = printed_table("comper", f"Table {number}")
    return [[table[dimension, objective] for objective in OBJECTIVES] for dimension in DIMENSIONS]


def lettered(number: int) -> list[str]:
    return ["".join(row) for row in printed(number)]


TABLE_8 = [[float(cell) for cell in row] for row in printed(8)]


def marks(match):
    return ["".join("O" if cell else "X" for cell in row) for row in match]


def test_table_4_the_labels_of_the_similarities():
    assert letters(similarity_labels(np.array(DICE_SIMILARITY))) == lettered(4)


def test_table_5_matching_1():
    derived = derive_matrix()
    assert marks(derived.first_match) == lettered(5)
    assert derived.first_match.sum() == 13


def test_table_7_matching_2():
    derived = derive_matrix()
    assert marks(derived.second_match) == lettered(7)
    assert derived.second_match.sum() == 22


def test_table_8_the_matrix():
    derived = derive_matrix()
    assert np.round(derived.matrix.values, 3).tolist() == TABLE_8
    assert derived.matrix.values[1, 3] == pytest.approx(0.0659)
    assert published_matrix(printed=True).values.tolist() == TABLE_8
    assert published_matrix().values == pytest.approx(derived.matrix.values)
    scalability = DIMENSIONS.index("scalability")
    assert derived.final[scalability, OBJECTIVES.index("understand")] == 0
    assert derived.matrix.values[scalability, 1] == pytest.approx(0.039)


def test_every_table_is_a_frame():
    frames = derive_matrix().frames()
    assert next(iter(frames)) == "comper_matrix"
    assert all(frame.columns == ["dimension", *OBJECTIVES] and frame.height == 5 for frame in frames.values())
    derived = derive_matrix()
    for name, expected in (
        ("table_4_labels", lettered(4)), ("table_5_matching", lettered(5)), ("table_7_matching", lettered(7)),
        ("table_2_experts", letters(derived.expert)), ("table_6_fourth", letters(derived.fourth)),
        ("final_labels", letters(derived.final)),
    ):  # fmt: skip
        assert ["".join(row[1:]) for row in frames[f"comper_{name}"].rows()] == expected, name
    told = derived.to_dict()
    for name, labels in (("experts", derived.expert), ("similarity_labels", derived.from_similarity),
                         ("fourth", derived.fourth), ("final_labels", derived.final)):  # fmt: skip
        assert told[name] == dict(zip(DIMENSIONS, letters(labels), strict=True)), name
    assert (told["agree_after_matching_1"], told["agree_after_matching_2"]) == (13, 22)
    assert told["weights"] == pytest.approx(dict(zip(DIMENSIONS, derived.matrix.values.sum(axis=1), strict=True)))
    again = matrix_from_frame(frames["comper_matrix"])
    assert again.values == pytest.approx(published_matrix().values)


@given(st.lists(st.sampled_from("NPS"), min_size=3, max_size=3))
def test_the_mean_of_three_labels_is_what_two_share_else_p(said):
    found = letters(mean_label(label_table(said)[:, :, None]).reshape(1, 1))[0]
    shared = [label for label in said if said.count(label) > 1]
    assert found == (shared[0] if shared else "P")


def test_likert_ratings():
    found = likert_labels(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, np.nan]]))
    assert letters(found) == ["NPPPS-"]
    with pytest.raises(InputError, match="7 is not a rating"):
        likert_labels(np.array([7.0]))


def test_an_open_pair_must_be_asked():
    expert, dice_values = label_table(["PPPSSS"] * 5), np.array(DICE_SIMILARITY)
    with pytest.raises(InputError, match="the fourth expert says nothing of correctness and understand"):
        derive_matrix(expert, dice_values, np.full((5, 6), -1))
    with pytest.raises(UsageError, match="differ in shape"):
        derive_matrix(expert[:, :5], dice_values, expert)
    with pytest.raises(InputError, match="an expert label is missing"):
        derive_matrix(label_table(["-PPSSS"] * 5), dice_values, expert)


# Porter 1980: the examples of his paper, after all five steps.
STEMS = {
    "caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre", "plastered": "plaster",
    "motoring": "motor", "sing": "sing", "conflated": "conflat", "sized": "size", "hopping": "hop", "falling": "fall",
    "filing": "file", "happy": "happi", "sky": "sky", "relational": "relat", "rational": "ration", "digitizer": "digit",
    "operator": "oper", "decisiveness": "decis", "sensibiliti": "sensibl", "triplicate": "triplic",
    "electrical": "electr", "hopefulness": "hope", "goodness": "good", "revival": "reviv", "replacement": "replac",
    "adoption": "adopt", "bowdlerize": "bowdler", "probate": "probat", "rate": "rate", "cease": "ceas",
    "controll": "control", "roll": "roll", "generalizations": "gener", "oscillators": "oscil",
}  # fmt: skip


@pytest.mark.parametrize("word", STEMS)
def test_porters_stems(word):
    assert stem(word) == STEMS[word]


def test_short_words_are_their_own_stems():
    assert [stem(word) for word in ("as", "us", "by")] == ["as", "us", "by"]


def test_dice_of_definitions_by_hand():
    assert features("The users, using a SYSTEM; system of recommendations") == {"user", "us", "system", "recommend"}
    assert features("x users or Y items, n times") == {"user", "item", "time"}, "single letters are not words"
    assert features("AI by id") == {"ai", "id"}, "two letters are a word"
    assert features("USERS of Systems") == {"user", "system"}
    frame = pl.DataFrame({"name": ["use", "joy", "use"], "definition": ["of items", None, "by users"]})
    assert {name: text.split() for name, text in _definitions(frame, "w.csv").items()} == {
        "use": ["of", "items", "by", "users"], "joy": []
    }  # fmt: skip
    assert dice(frozenset("abc"), frozenset("bcde")) == pytest.approx(4 / 7)
    assert dice(frozenset(), frozenset()) == 0
    words = dict.fromkeys(DIMENSIONS, "quality of items") | {"coverage": "items that are retrieved"}
    table, objectives = dice_table(words | {"remember": "retrieving knowledge", "make": "new qualities"})
    assert objectives == ("remember", "make")
    assert table[1].tolist() == pytest.approx([2 * 1 / 4, 0])
    assert table[0].tolist() == pytest.approx([0, 2 * 1 / 4])


def test_function_words_are_no_features():
    assert features(
        """
        I am we are he is they were it was she has been you had be, being having have do does did doing; can could may
        might must ought shall should will would a an the this that these those which what who whom whose when where why
        how whether if because while until as than then there here once ever yet again also just only rather so such
        too very more most few all any both each either else no nor not some same other own or and but however about
        above after at before below between by down during for from further in into like of off on out over per through
        to under up upon with within without me my myself mine us our ours ourselves your yours yourself yourselves him
        his himself her hers herself its itself them their theirs themselves
        """
    ) == {"mine"}


def test_names_of_dimensions_and_objectives_are_known_however_they_are_written():
    words = dict(zip(("Correctness", "COVERAGE", "diversity", "Robustness", "scalability"), ["alpha"] * 5, strict=True))
    table, objectives = dice_table(words | {"Use": "alpha beta"})
    assert (objectives, table.tolist()) == (("Use",), [[pytest.approx(2 / 3)]] * 5)
    rated, _ = grid(joy=["1", " ", "5", " - ", "3"], use=["5", "2", "", "1", "1"])
    assert letters(labels_from_frame(rated)[0]) == ["NS", "-P", "S-", "-N", "PN"]
    assert letters(labels_from_frame(rated, ("USE", "joy"))[0]) == ["SN", "P-", "-S", "N-", "NP"]


def test_the_columns_of_every_table_follow_the_first_one():
    """Similarities have use before joy; the experts and the fourth name joy first."""
    similarities = grid(use=[0.9, 0.5, 0.1, 0.9, 0.5], joy=[0.1, 0.1, 0.1, 0.0, 0.1])
    experts = grid(joy=list("NNNNN"), use=list("SPNSN"))
    fourth = grid(joy=list("-----"), use=["-", "-", "-", "-", "P"])
    found = derive_from_tables(similarities=similarities, experts=[experts], fourth=fourth)
    assert found.matrix.objectives == ("use", "joy")
    assert letters(found.expert) == ["SN", "PN", "NN", "SN", "NN"]
    assert letters(found.fourth) == ["--", "--", "--", "--", "P-"]
    assert found.second_match.all()
    assert found.matrix.values[:, 0].tolist() == [0.9, 0.5, 0.1, 0.9, 0.5]
    three = [experts, grid(joy=list("SSSSS"), use=list("SPNSN")), grid(joy=list("NNNNN"), use=list("SSSSS"))]
    merged = derive_from_tables(
        similarities=similarities, experts=three, fourth=grid(joy=list("NNNNN"), use=list("PPPPP"))
    )
    assert letters(merged.expert) == ["SN", "PN", "NN", "SN", "NN"], "what two of three say"


def test_the_printed_definitions_cannot_give_table_3():
    """Section III.A and Table 1 share no stem, so Table 3 rests on the longer, unpublished definitions."""
    remember = features("the ability to retrieve knowledge from memory")
    coverage = features("The proportion of items (or users) that the system can recommend")
    assert dice(remember, coverage) == 0
    assert np.array(DICE_SIMILARITY)[1, 0] == 0.047


def own(**changes):
    columns = {"dimension": list(DIMENSIONS), "use": [1.0, 2.0, 3.0, 4.0, 5.0], "joy": [0.0] * 5}
    return pl.DataFrame(columns | changes)


def test_ones_own_matrix_in_any_order_of_rows():
    given_order = own(dimension=["Scalability", "robustness", "Diversity", "coverage", "correctness"])
    read = matrix_from_frame(given_order)
    assert read.objectives == ("use", "joy")
    assert read.weights.tolist() == [5, 4, 3, 2, 1]
    assert matrix_from_frame(given_order, where="mine.csv").name == "mine.csv"


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (own()[:4], "no row for scalability"),
        (own(dimension=["novelty", *DIMENSIONS[1:]]), "unknown dimension 'novelty'"),
        (pl.concat([own(), own()[:1]]), "two rows"),
        (own(use=["1", "x", "3", "4", "5"]), "'x' at coverage, use is not a number"),
        (own(use=["1", "x", "y", "z", "5"], joy=["w"] * 5), "'x' at coverage, use is not a number"),
        (own(use=[1.0, 2.0, np.inf, 4.0, 5.0]), "'inf' at diversity, use is not a number"),
        (own(use=["1", "2", "3", "", "5"]), "'' at robustness, use is not a number"),
        (own(use=["1", "2", "3", "4", "-"]), "'-' at scalability, use is not a number"),
        (own(use=[-1.0, 2.0, 3.0, 4.0, 5.0]), "-1 is below 0"),
        (own(use=[0.0] * 5), "all values are 0"),
        (own()[["dimension"]], "no column of an objective"),
    ],
)
def test_a_wrong_matrix_is_refused(frame, message):
    with pytest.raises(InputError, match=message):
        matrix_from_frame(frame)


def test_labels_from_tables():
    frame = pl.DataFrame({"dimension": list(DIMENSIONS), "a": list("NPSPN"), "b": ["s", "", "-", None, "P"]})
    found, objectives = labels_from_frame(frame)
    assert letters(found) == ["NS", "P-", "S-", "P-", "NP"]
    assert objectives == ("a", "b")
    turned, _ = labels_from_frame(frame, ("B", "a"))
    assert letters(turned) == ["SN", "-P", "-S", "-P", "PN"]
    rated, _ = labels_from_frame(frame.with_columns(a=pl.Series(["1", "5", "3", "", "2"]), b=pl.lit("")))
    assert letters(rated) == ["N-", "S-", "P-", "--", "P-"]
    with pytest.raises(InputError, match="mixes letters and ratings"):
        labels_from_frame(frame.with_columns(b=pl.lit("3")))
    with pytest.raises(InputError, match="mixes letters and ratings"):
        labels_from_frame(frame.with_columns(a=pl.lit("N"), b=pl.lit("3")))
    for objectives in (("a", "c"), ("a",), ("a", "b", "c")):
        with pytest.raises(InputError, match="the objectives are a, b"):
            labels_from_frame(frame, objectives)


def tables_of(derived):
    return {name.removeprefix("comper_"): frame for name, frame in derived.frames().items()}


def test_the_verb_derives_from_given_tables():
    frames = tables_of(derive_matrix())
    derived = recassay.comper_matrix(
        experts=[frames["table_2_experts"]] * 3,
        similarities=frames["table_3_similarity"],
        fourth=frames["table_6_fourth"],
    )
    assert np.round(derived.matrix.values, 3).tolist() == TABLE_8
    with pytest.raises(UsageError, match="2 tables of experts"):
        recassay.comper_matrix(experts=[frames["table_2_experts"]] * 2)
    with pytest.raises(UsageError, match="exclude each other"):
        recassay.comper_matrix(similarities=frames["table_3_similarity"], definitions=frames["table_3_similarity"])


def test_the_command(cli, tmp_path):
    shown = cli("comper", "--derive-matrix", "--json").json()
    assert shown["agree_after_matching_2"] == 22
    assert shown["matrix"]["correctness"]["remember"] == 0.075
    assert shown["similarity_labels"]["coverage"] == "PNPSSS"
    assert "weight" in cli("comper", "--derive-matrix", "--out", tmp_path, "--all").out
    written = tmp_path / "tables" / "comper_matrix.csv"
    assert matrix_from_frame(pl.read_csv(written)).weights.sum() == pytest.approx(published_matrix().weights.sum())
    (tmp_path / "words.csv").write_text("name,definition\ncorrectness,close items\n")
    wrong = cli("comper", "--derive-matrix", "--definitions", tmp_path / "words.csv")
    assert wrong.code == 2
    assert "no definition of coverage" in wrong.err


def test_definitions_end_to_end(cli, tmp_path):
    lines = ["name,definition"]
    lines += [f"{name},alpha beta gamma {'delta' if d % 2 else 'epsilon'}" for d, name in enumerate(DIMENSIONS)]
    lines += ["remember,alpha delta", "create,omega epsilon alpha beta"]
    (tmp_path / "words.csv").write_text("\n".join(lines))
    labels = "\n".join(["dimension,create,remember", *(f"{name},S,S" for name in DIMENSIONS)])
    (tmp_path / "labels.csv").write_text(labels)
    shown = cli("comper", "--derive-matrix", "--definitions", tmp_path / "words.csv",
                "--experts", tmp_path / "labels.csv", "--fourth", tmp_path / "labels.csv", "--json")  # fmt: skip
    assert shown.code == 0, shown.err
    found = shown.json()
    assert found["objectives"] == ["remember", "create"]
    assert found["matrix"]["coverage"]["remember"] == pytest.approx(2 * 2 / 6)
    assert len(found["input"]) == 3


def grid(**columns) -> tuple[pl.DataFrame, str]:
    """A table of the five dimensions, and what to call it."""
    return pl.DataFrame({"dimension": list(DIMENSIONS), **columns}), "t.csv"


WORDS = {name: "alpha beta" for name in DIMENSIONS}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"similarities": grid(a=[0.1, 0.2, 1.5, 0.1, 0.1])}, "t.csv: a similarity is not between 0 and 1"),
        ({"similarities": grid(a=[0.1, 0.2, -0.5, 0.1, 0.1])}, "t.csv: a similarity is not between 0 and 1"),
        ({"similarities": grid(a=[0.1, None, 0.5, 0.1, 0.1])}, "t.csv: None at coverage, a is not a number"),
        ({"experts": [grid(a=[1.0, 6.0, 3.0, 3.0, 3.0])]}, "6 is not a rating from 1 to 5"),
        ({"experts": [grid(a=[1.0, 0.5, 3.0, 3.0, 3.0])]}, "0.5 is not a rating from 1 to 5"),
        ({"experts": [grid(a=["N", "-", "S", "S", "S"])]}, "an expert label is missing; give N, P or S for every pair"),
        ({"experts": [grid(a=list("NPSPN"))]}, r"labels \(5, 1\), similarities \(5, 6\) and fourth labels \(5, 6\)"),
        ({"definitions": (pl.DataFrame({"name": list(WORDS), "definition": list(WORDS.values())}), "w.csv")},
         "no objective is defined"),
        ({"definitions": (pl.DataFrame({"name": [*WORDS, "use"], "definition": [*WORDS.values(), "of the"]}), "w.csv")},
         "the definition of use has no word left"),
        ({"definitions": (pl.DataFrame({"word": list(WORDS)}), "w.csv")}, "w.csv: has no columns name and definition"),
    ],
)  # fmt: skip
def test_a_wrong_table_of_a_derivation_is_refused(given, message):
    with pytest.raises((InputError, UsageError), match=message):
        derive_from_tables(**given)
    values, objectives = similarities_from_frame(*grid(a=[0.0, 1.0, 0.5, 0.5, 0.5]))
    assert (values[:, 0].tolist(), objectives) == ([0.0, 1.0, 0.5, 0.5, 0.5], ("a",))


def test_open_pairs_take_the_mean_similarity_of_their_label():
    """By equation 2, d = 0.9: up to 0.3 N, from 0.6 S. The fourth expert settles the second pair; two stay open."""
    similarity = np.array([[1.0], [0.4], [0.1], [0.7], [0.5]])
    expert, fourth = label_table(["S", "N", "S", "N", "P"]), label_table(["-", "P", "P", "N", "N"])
    found = derive_matrix(expert, similarity, fourth, objectives=("use",))
    assert letters(found.from_similarity) == ["S", "P", "N", "S", "P"]
    assert found.first_match[:, 0].tolist() == [True, False, False, False, True]
    assert found.second_match[:, 0].tolist() == [True, True, False, False, True]
    assert letters(found.final) == ["S", "P", "P", "N", "P"]
    assert letters(found.fourth) == ["-", "P", "P", "N", "-"]
    assert found.matrix.values[:, 0] == pytest.approx([1.0, 0.4, 0.45, 0.1, 0.5])
    with pytest.raises(
        InputError, match=r"says nothing of diversity and use, where experts and similarity differ \(2 such"
    ):
        derive_matrix(expert, similarity, label_table(["-", "P", "-", "-", "-"]), objectives=("use",))
    with pytest.raises(InputError, match="an open pair is N, and no similarity is"):
        derive_matrix(label_table(["N"] * 5), np.full((5, 1), 0.5), label_table(["N"] * 5), objectives=("use",))
    edge = np.array([[0.9], [0.3], [0.6], [0.0], [0.301]])
    assert letters(similarity_labels(edge)) == ["S", "N", "S", "N", "P"]
