"""A cell of a paper's table: its plain text, its number with the printed digits, and its marks."""

from __future__ import annotations

import re
from functools import lru_cache

from recassay.core.tables.printed import PrintedCell
from recassay.data.tables.cells import MISSING

_DROPPED = re.compile(
    r"\\(?:rowcolor|columncolor|[cC]ite\w*|footnote\w*|tnote|label|ref|hspace|vspace|rule|href|url|thanks|hphantom|"
    r"phantom|vphantom|raisebox|fontsize|selectfont|includegraphics|rotatebox|scalebox|adjustbox)\*?(?:\s*\[[^\]]*\])*"
    r"(?:\s*\{[^{}]*\})?"
)
_COLOURED = re.compile(r"\\(?:textcolor|color|cellcolor|colorbox)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_MARKS = {
    "bold": re.compile(r"\\(?:textbf|mathbf|bm|boldsymbol|bfseries|bf)(?![A-Za-z])"),
    "underline": re.compile(r"\\(?:underline|uline|ul|uuline|underbar)(?![A-Za-z])"),
    "italic": re.compile(r"\\(?:textit|mathit|itshape|it|emph|em)(?![A-Za-z])"),
    "star": re.compile(r"\*|\\(?:ast|star|bigstar)(?![A-Za-z])"),
    "dagger": re.compile(r"[†‡]|\\d?dag(?:ger)?(?![A-Za-z])"),
}
_SIGNS = {
    r"\pm": "±", r"\%": "%", r"\#": "#", r"\&": "&", r"\_": "_", r"\$": "$", r"\uparrow": "↑", r"\downarrow": "↓",
    r"\Delta": "Δ",
    r"\rightarrow": "→", r"\leftarrow": "←", r"\to": "→", r"\times": "×", r"\cdot": "·", r"\infty": "∞", r"\ldots": "…",
    r"\dots": "…", r"\alpha": "α", r"\beta": "β", r"\lambda": "λ", r"\gamma": "γ", r"\tau": "τ", r"\sim": "~",
}  # fmt: skip
_SIGN = re.compile("|".join(re.escape(sign) + ("(?![A-Za-z])" if sign[-1].isalpha() else "") for sign in _SIGNS))
_FORMATTING = re.compile(
    r"\\(?:textbf|textit|textsc|texttt|textrm|textsf|text|mathbf|mathrm|mathit|mathcal|mathtt|mathsf|boldsymbol|bm|bfseries|"
    r"bf|itshape|it|em|emph|underline|uline|uuline|ul|underbar|tt|rm|sc|sf|small|tiny|scriptsize|footnotesize|normalsize|large|Large|"
    r"centering|displaystyle|mbox|makebox|hbox|quad|qquad|left|right|ast|star|bigstar|dag|dagger|ddag|ddagger|dagger|xspace|"
    r"noindent|par|newline|textsuperscript|textsubscript|textnormal|ensuremath|arraystretch|hline|toprule|midrule)(?![A-Za-z])"
)
_SCRIPT = re.compile(r"([0-9)%]?)\s*\^\s*(?:\{([^{}]*)\}|(\\[A-Za-z]+|\S))")
_OWN = re.compile(r"\\([A-Za-z]+)(?![A-Za-z{\[])")
_WRAPPER = re.compile(r"\\([A-Za-z]+)\*?(?:\[[^\]]*\])?(?=\{)")
_TWO = re.compile(r"\\([A-Za-z]+)\{([^{}]*)\}\{([^{}]*)\}")

_NUM = r"(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][+-]?\d{1,2})?"
_NUMBER = re.compile(
    rf"^[(\[]?\s*[<>≤≥~≈]?\s*(?P<sign>[+-])?\s*(?P<value>(?=[\d.]){_NUM})\s*(?P<percent>%)?\s*"
    rf"(?P<unit>[KMBGTkx×hsd]|[KMG]B|ms|min|mins|sec|secs|hrs?|hours?|days?|years?)?\s*[)\]]?"
    rf"(?:\s*(?:±|\+/-|\+-)\s*(?P<deviation>{_NUM})\s*%?|\s*[(\[]\s*(?P<inside>[^()\[\]]*)[)\]])?\s*[↑↓▲▼]?$"
)


@lru_cache(maxsize=65_536)
def read_cell(raw: str) -> PrintedCell:
    """What a cell of LaTeX says."""
    marks = {name for name, mark in _MARKS.items() if mark.search(raw)}
    marks |= {f"colour {colour[1].strip()}" for colour in _COLOURED.finditer(raw)}
    text = plain_text(raw)
    bare = re.sub(r"[*†‡§¶]+", "", text).replace("−", "-").replace("–", "-").strip()
    parts = _NUMBER.match(bare) if len(bare) < 40 and bare.lower() not in MISSING else None
    if parts is None:
        return PrintedCell(text, marks=frozenset(marks))
    digits, _, power = parts["value"].replace(",", "").lower().partition("e")
    value = float(parts["value"].replace(",", "")) * (-1 if parts["sign"] == "-" else 1)
    half = 0.5 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    inside = re.fullmatch(rf"±?\s*({_NUM})", parts["inside"] or "")
    stated = parts["deviation"] or (inside[1] if inside and "." in inside[1] else "")
    deviation = float(stated.replace(",", "")) if re.search(r"\d", stated) else None
    return PrintedCell(
        text,
        value,
        half,
        bool(parts["percent"]),
        parts["sign"] is not None,
        parts["unit"] or "",
        deviation,
        frozenset(marks),
    )


def is_missing(cell: PrintedCell) -> bool:
    """Whether a cell stands for no value."""
    return cell.value is None and cell.text.lower().strip("()") in MISSING


def plain_text(raw: str) -> str:
    """A piece of LaTeX as text: formatting gone, names of unknown commands kept where they stand alone."""
    if not re.search(r"[\\$~{}^]", raw):
        return " ".join(raw.split())
    text = _COLOURED.sub("", _DROPPED.sub("", raw))
    text = _SIGN.sub(lambda sign: _SIGNS[sign[0]], text)
    text = re.sub(r"\\textsuperscript\s*(?=\{)", "^", text)
    text = _FORMATTING.sub(" ", text)
    # A superscript after a number is a footnote or a mark; in a name it belongs to it (S^3-Rec).
    text = _SCRIPT.sub(lambda found: found[1] or re.sub(r"[*†‡§¶\s]", "", found[2] or found[3] or ""), text)
    text = re.sub(r"_\s*\{\s*(?:±)\s*([^{}]*)\}", r"±\1", text).replace("\\_", "_")
    text = _TWO.sub(r"\1 \2 \3", text)
    text = _OWN.sub(r"\1", _WRAPPER.sub("", text))
    text = (
        re.sub(r"[${}]", "", re.sub(r"\\[,;:!>\-/ ]|\\\\", " ", text))
        .replace("~", " ")
        .replace("\\", "")
        .replace("``", '"')
        .replace("''", '"')
    )
    text = re.sub(r"(?<=\S)\s*_\s*(?=\S)", "_", text)
    return re.sub(r"\s+([.,;:)])", r"\1", " ".join(text.split())).strip("_ ")
