"""Text for LaTeX: whatever a name holds, pdflatex prints it and reads none of it as a command.

Works under the encodings OT1 (LaTeX's default) and T1, with no package beyond the kernel of 2020.
"""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"{\ttfamily\char34}", "`": r"{\ttfamily\char96}", "\u00a0": "~",
    "[": "{[}", "]": "{]}", "*": "{*}", "\0": "{}",
}  # fmt: skip
"""What LaTeX would read as a command, as an argument of the end of a row (`[`, `*`), or as another character."""

_LIGATURES = re.compile(r"(?<=-)-|(?<=')'|(?<=,),|(?<=[?!])`")
"""The second of two characters that a font would join into a third: an en dash, a closing quotation mark."""

_LETTERS = {
    "ß": r"{\ss}", "æ": r"{\ae}", "Æ": r"{\AE}", "œ": r"{\oe}", "Œ": r"{\OE}", "ø": r"{\o}", "Ø": r"{\O}",
    "ł": r"{\l}", "Ł": r"{\L}", "ı": r"{\i}", "ȷ": r"{\j}", "Å": r"{\AA}", "å": r"{\aa}",
    "–": r"\textendash{}", "—": r"\textemdash{}", "‐": "-", "‑": "-", "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}", "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}", "…": r"\ldots{}",
    "§": r"\S{}", "¶": r"\P{}", "†": r"\dag{}", "‡": r"\ddag{}", "©": r"\copyright{}", "•": r"\ensuremath{\bullet}",
    "£": r"\pounds{}", "€": r"\texteuro{}", "®": r"\textregistered{}", "⁄": "/", "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}", "ſ": "s",
}  # fmt: skip
"""Letters and signs that have a command of their own in every encoding."""

_T1 = {
    "đ": r"\dj", "Đ": r"\DJ", "ð": r"\dh", "Ð": r"\DH", "þ": r"\th", "Þ": r"\TH", "ŋ": r"\ng", "Ŋ": r"\NG",
    "«": r"\guillemotleft", "»": r"\guillemotright", "‹": r"\guilsinglleft", "›": r"\guilsinglright",
    "„": r"\quotedblbase", "‚": r"\quotesinglbase",
}  # fmt: skip
"""Letters that only the encoding T1 has."""

_MATHS = {
    "×": r"\times", "·": r"\cdot", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "−": "-", "≤": r"\leq", "≥": r"\geq",
    "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "∞": r"\infty", "→": r"\rightarrow",
    "←": r"\leftarrow", "↔": r"\leftrightarrow", "↑": r"\uparrow", "↓": r"\downarrow", "⇒": r"\Rightarrow",
    "∈": r"\in", "∪": r"\cup", "∩": r"\cap", "⊂": r"\subset", "⊕": r"\oplus", "⊗": r"\otimes", "∘": r"\circ",
    "√": r"\surd", "∑": r"\sum", "∏": r"\prod", "∂": r"\partial", "∇": r"\nabla", "∅": r"\emptyset", "¬": r"\neg",
    "∀": r"\forall", "∃": r"\exists", "°": r"{}^{\circ}", "′": "'", "★": r"\star", "☆": r"\star", "⋆": r"\star",
    "ℓ": r"\ell", "∗": r"\ast",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ϵ": r"\epsilon",
    "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "ϑ": r"\vartheta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda",
    "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "ο": r"\mathrm{o}", "π": r"\pi", "ρ": r"\rho", "ς": r"\varsigma",
    "σ": r"\sigma", "τ": r"\tau", "υ": r"\upsilon", "φ": r"\varphi", "ϕ": r"\phi", "χ": r"\chi", "ψ": r"\psi",
    "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi",
    "Σ": r"\Sigma", "Υ": r"\Upsilon", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega",
    **{greek: rf"\mathrm{{{latin}}}" for greek, latin in zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True)},
}  # fmt: skip
"""Signs of mathematics and Greek letters."""

_ABOVE = {
    "\u0300": ("`", "grave"), "\u0301": ("'", "acute"), "\u0302": ("^", "hat"), "\u0303": ("~", "tilde"),
    "\u0304": ("=", "bar"), "\u0306": ("u", "breve"), "\u0307": (".", "dot"), "\u0308": ('"', "ddot"),
    "\u030a": ("r", ""), "\u030b": ("H", ""), "\u030c": ("v", "check"),
}  # fmt: skip
"""The command of each mark above a letter; and the one of mathematics, which can set marks above one another."""

_BELOW = {"\u0323": "d", "\u0326": "textcommabelow", "\u0327": "c", "\u0331": "b", "\u0328": "k"}
"""The command of each mark below a letter; that of an ogonek is known in T1 alone."""


_CODE = "{[}U+"
"""How a character begins that is written as its code."""

_DOTLESS = {"i": r"\i", "j": r"\j"}


def latex_text(text: str) -> str:
    """Text for LaTeX, as pdflatex prints it.

    What LaTeX reads as commands is escaped; accents, Greek letters, superscripts (`EASEᴿ`) and the usual signs become
    their commands. A character that pdflatex has no glyph for (Chinese, an emoji) is written as its code, `[U+4E2D]`:
    see `unprintable`.
    """
    return "".join(map(_letter, _letters(text)))


def unprintable(text: str) -> list[str]:
    """The characters of a text that `latex_text` can only write as their codes."""
    return [letter for letter in _letters(text) if _letter(letter).startswith(_CODE)]


def latex_label(*names: str) -> str:
    """A label for references: letters, digits, colons and hyphens alone."""
    return ":".join(re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-") for name in names)


def _letters(text: str) -> list[str]:
    """The letters of a text, each with the marks that combine with it, spaces instead of control characters."""
    letters: list[str] = []
    spaced = _LIGATURES.sub(lambda again: "\0" + again[0], re.sub(r"[\0-\x1f\x7f-\x9f\u2028\u2029]+", " ", text))
    for character in unicodedata.normalize("NFC", spaced):
        if letters and unicodedata.combining(character):
            letters[-1] += character
        elif unicodedata.category(character) != "Cf":
            letters.append(character)
    return letters


def _letter(letter: str) -> str:
    """One letter with its marks."""
    for known in (_SPECIAL, _LETTERS):
        if letter in known:
            return known[letter]
    if letter in _MATHS:
        return rf"\ensuremath{{{_MATHS[letter]}}}"
    if letter in _T1:
        return rf"{{\fontencoding{{T1}}\selectfont{_T1[letter]}}}"
    if letter.isascii():
        return letter
    parts_of = unicodedata.normalize("NFD", letter)
    base, marks = parts_of[0], list(parts_of[1:])
    if marks:
        return _accented(base, marks) or _code(letter)
    kind, _, parts = unicodedata.decomposition(letter).partition("> ")
    if not parts:
        return _code(letter)
    inner = "".join(_letter(chr(int(part, 16))) for part in parts.split())
    return rf"\text{kind[1:]}script{{{inner}}}" if kind in ("<super", "<sub") else inner


def _accented(base: str, marks: list[str]) -> str | None:
    """A letter with its marks, those above it first; None where one of them has no command."""
    made = _letter(base)
    above = [_ABOVE[mark] for mark in marks if mark in _ABOVE]
    if made.startswith(_CODE) or any(mark not in _ABOVE and mark not in _BELOW for mark in marks):
        return None
    if len(above) > 1:
        if not all(stacked for _, stacked in above):
            return None
        made = rf"\mathrm{{{made}}}"
        for _, stacked in above:
            made = rf"\{stacked}{{{made}}}"
        made = rf"\ensuremath{{{made}}}"
    elif above:
        made = rf"\{above[0][0]}{{{_DOTLESS.get(base, made)}}}"
    for mark in marks:
        if mark in _BELOW:
            made = rf"\{_BELOW[mark]}{{{made}}}"
    return rf"{{\fontencoding{{T1}}\selectfont{made}}}" if "\u0328" in marks else made


def _code(letter: str) -> str:
    return "".join(f"{_CODE}{ord(character):04X}{{]}}" for character in letter)
