"""Names come out of pdflatex as they went in."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recassay.reporting.latex import latex_label, latex_text, unprintable
from support.tex import needs_tex, set_pages

NAMES = [
    "a_b%c&d#e$f~g^h\\i{j}k",
    "EASEᴿ RP³β x₁",
    "naïve Çédille Ångström łódź Dvořák Ţ ș ą ğ İ ı ñ ő",
    "αβγ Δ λ μ Ω",
    "a--b ''q'' `x` \"q\" <a|b> ?`",
    "Đorđe ð þ «q» ß æ œ ø",
    "× ± ≤ → − … – — “x” ’",
    "Ế ậ ǖ 𝛼 Ｗ ﬁ ½ ™ ® €",
    "tab\tnew\nline \u200b x\u00a0y",
    "中文 🙂 Ж",
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_b%&#$", r"a\_b\%\&\#\$"),
        ("~^\\{}", r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}"),
        ("EASEᴿ", r"EASE\textsuperscript{R}"),
        ("x₁²", r"x\textsubscript{1}\textsuperscript{2}"),
        ("naïve", r"na\"{\i}ve"),
        ("Demšar", r"Dem\v{s}ar"),
        ("e\u0301", r"\'{e}"),
        ("ế", r"\ensuremath{\acute{\hat{\mathrm{e}}}}"),
        ("ậ", r"\d{\^{a}}"),
        ("ǖ", r"\ensuremath{\bar{\ddot{\mathrm{u}}}}"),
        ("a\u0302\u0309", "{[}U+1EA9{]}"),
        ("a\u0334", "{[}U+0061{]}{[}U+0334{]}"),
        ("β-VAE", r"\ensuremath{\beta}-VAE"),
        ("a--b", r"a-{}-b"),
        ("𝛼", r"\ensuremath{\alpha}"),
        ("two\nlines", "two lines"),
        ("plain (x) [y] @10", "plain (x) {[}y{]} @10"),
        ("ą", r"{\fontencoding{T1}\selectfont\k{a}}"),
        ("ǫ́", r"{\fontencoding{T1}\selectfont\k{\'{o}}}"),
        ("a\u0308\u030a", "{[}U+00E4{]}{[}U+030A{]}"),
        ("\u0301a", "{[}U+0301{]}a"),
        ("Ж\u0301", "{[}U+0416{]}{[}U+0301{]}"),
        ("ș ţ", r"\textcommabelow{s} \c{t}"),
        ("ʲ", r"\textsuperscript{j}"),
        ("ĵ ĩ", r"\^{\j} \~{\i}"),
        ("½ ﬁ", "1/2 fi"),
        ("''", "'{}'"),
        (",,", ",{},"),
        ("?`!`", r"?{}{\ttfamily\char96}!{}{\ttfamily\char96}"),
        ('"*"', r"{\ttfamily\char34}{*}{\ttfamily\char34}"),
        ("x\u00a0y\u200b\x7fz", "x~y z"),
        ("ı ȷ ſ", r"{\i} {\j} s"),
        ("a‐b‑c⁄d", "a-b-c/d"),
        ("• ☆ ⋆", r"\ensuremath{\bullet} \ensuremath{\star} \ensuremath{\star}"),
    ],
)
def test_a_name_becomes_the_commands_that_print_it(name, text):
    assert latex_text(name) == text


SIGNS = {
    "×": "times", "·": "cdot", "÷": "div", "±": "pm", "∓": "mp", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx",
    "≡": "equiv", "∼": "sim", "∞": "infty", "→": "rightarrow", "←": "leftarrow", "↔": "leftrightarrow", "↑": "uparrow",
    "↓": "downarrow", "⇒": "Rightarrow", "∈": "in", "∪": "cup", "∩": "cap", "⊂": "subset", "⊕": "oplus",
    "⊗": "otimes", "∘": "circ", "√": "surd", "∑": "sum", "∏": "prod", "∂": "partial", "∇": "nabla", "∅": "emptyset",
    "¬": "neg", "∀": "forall", "∃": "exists", "★": "star", "ℓ": "ell", "∗": "ast", "ε": "varepsilon", "ϵ": "epsilon",
    "ϑ": "vartheta", "ς": "varsigma", "φ": "varphi", "ϕ": "phi",
}  # fmt: skip
LETTERS = {
    "ß": r"{\ss}", "æ": r"{\ae}", "Æ": r"{\AE}", "œ": r"{\oe}", "Œ": r"{\OE}", "ø": r"{\o}", "Ø": r"{\O}",
    "ł": r"{\l}", "Ł": r"{\L}", "å": r"{\aa}", "Å": r"{\AA}", "–": r"\textendash{}", "—": r"\textemdash{}",
    "‘": r"\textquoteleft{}", "’": r"\textquoteright{}", "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}",
    "…": r"\ldots{}", "§": r"\S{}", "¶": r"\P{}", "†": r"\dag{}", "‡": r"\ddag{}", "©": r"\copyright{}",
    "£": r"\pounds{}", "€": r"\texteuro{}", "®": r"\textregistered{}", "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "à": r"\`{a}", "á": r"\'{a}", "â": r"\^{a}", "ã": r"\~{a}", "ā": r"\={a}", "ă": r"\u{a}", "ȧ": r"\.{a}",
    "ä": r'\"{a}', "ů": r"\r{u}", "ő": r"\H{o}", "č": r"\v{c}", "ḥ": r"\d{h}", "ç": r"\c{c}", "ḻ": r"\b{l}",
    **{letter: rf"{{\fontencoding{{T1}}\selectfont\{name}}}" for letter, name in (
        ("đ", "dj"), ("Đ", "DJ"), ("ð", "dh"), ("Ð", "DH"), ("þ", "th"), ("Þ", "TH"), ("ŋ", "ng"), ("Ŋ", "NG"),
        ("«", "guillemotleft"), ("»", "guillemotright"), ("‹", "guilsinglleft"), ("›", "guilsinglright"),
        ("„", "quotedblbase"), ("‚", "quotesinglbase"))},
}  # fmt: skip


def test_each_sign_and_letter_has_its_own_command():
    assert {sign: latex_text(sign) for sign in SIGNS} == {
        sign: rf"\ensuremath{{\{name}}}" for sign, name in SIGNS.items()
    }
    assert {letter: latex_text(letter) for letter in LETTERS} == LETTERS
    assert (latex_text("−3"), latex_text("5°"), latex_text("′")) == (
        r"\ensuremath{-}3", r"5\ensuremath{{}^{\circ}}", r"\ensuremath{'}"
    )  # fmt: skip


def test_greek_letters_have_the_commands_of_their_names():
    latin = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True)) | {"ο": "o"}
    small, large = "αβγδζηθικλμνξοπρστυχψω", "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
    for letter in small + large:
        _, case, _, name = unicodedata.name(letter).replace("LAMDA", "LAMBDA").split()
        command = name.lower() if case == "SMALL" else name.capitalize()
        inside = rf"\mathrm{{{latin[letter]}}}" if letter in latin else rf"\{command}"
        assert latex_text(letter) == rf"\ensuremath{{{inside}}}"


def test_what_has_no_letter_is_written_as_its_code_and_told():
    assert latex_text("中 a") == "{[}U+4E2D{]} a"
    assert unprintable("中 aЖ") == ["中", "Ж"]
    assert not any(unprintable(name) for name in NAMES[:-1])


def test_labels_have_no_commands():
    assert latex_label("tab", "ndcg@10 of_{x}") == "tab:ndcg-10-of-x"


@needs_tex
@pytest.mark.parametrize("encoding", ["OT1", "T1"])
def test_every_name_is_set(tmp_path, encoding):
    lines = "\n\n".join(rf"\noindent {latex_text(name)} \textbf{{{latex_text(name)}}}" for name in NAMES)
    head = rf"\documentclass{{article}}\usepackage[{encoding}]{{fontenc}}\begin{{document}}"
    (tmp_path / "main.tex").write_text(f"{head}\n{lines}\n\\end{{document}}\n")
    made = set_pages(tmp_path, references=False)
    assert made.pages == 1
    assert "Missing character" not in made.log
    if made.text is not None:
        assert all(word in made.text for word in ("EASE", "Dvo", "[U+4E2D]"))


@needs_tex
@settings(max_examples=8, deadline=None)
@given(names=st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=40, max_size=40))
def test_any_name_may_begin_a_row(names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tex")
    begins = ["[ours] EASE", "*starred", "中文 EASE", "🚀 Rocket", "]", "[", "\\\\[2pt]", "EASE [b]"]
    rows = "\n".join(rf"{latex_text(name)} & 1 \\" for name in [*begins, *names])
    table = rf"\begin{{tabular}}{{ll}}{rows}\end{{tabular}}"
    (folder / "main.tex").write_text(rf"\documentclass{{article}}\begin{{document}}{table}\end{{document}}")
    assert set_pages(folder, references=False).pages >= 1
