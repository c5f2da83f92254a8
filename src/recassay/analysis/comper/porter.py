"""Word stems by Porter's algorithm (M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980)."""

from __future__ import annotations

from itertools import pairwise

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case English word; words of one or two letters are their own."""
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    word = _stripped(word)
    return _tidy(word)


def _plural(word: str) -> str:
    """Step 1a: -sses, -ies and -s."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b: -eed, -ed and -ing, and what the bare stem then needs."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        bare = word.removesuffix(suffix)
        if bare != word and _has_vowel(bare):
            if bare.endswith(("at", "bl", "iz")):
                return bare + "e"
            if _double_consonant(bare) and bare[-1] not in "lsz":
                return bare[:-1]
            return bare + "e" if _measure(bare) == 1 and _short_end(bare) else bare
    return word


def _replaced(word: str, rules: dict[str, str]) -> str:
    """Steps 2 and 3: the longest suffix that fits, replaced where a measure above 0 is left before it."""
    suffix = max((s for s in rules if word.endswith(s)), key=len, default="")
    if suffix and _measure(word.removesuffix(suffix)) > 0:
        return word.removesuffix(suffix) + rules[suffix]
    return word


def _stripped(word: str) -> str:
    """Step 4: the longest suffix that fits, taken off where a measure above 1 is left; -ion only after s or t."""
    suffix = max((s for s in _STEP_4 if word.endswith(s)), key=len, default="")
    bare = word.removesuffix(suffix)
    if not suffix or _measure(bare) <= 1 or (suffix == "ion" and not bare.endswith(("s", "t"))):
        return word
    return bare


def _tidy(word: str) -> str:
    """Step 5: a final e, and -ll."""
    bare = word.removesuffix("e")
    if bare != word and (_measure(bare) > 1 or (_measure(bare) == 1 and not _short_end(bare))):
        word = bare
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _vowels(word: str) -> list[bool]:
    """Which letters are vowels: a, e, i, o, u, and y after a consonant."""
    found: list[bool] = []
    for letter in word:
        found.append(letter in "aeiou" or (letter == "y" and bool(found) and not found[-1]))
    return found


def _measure(word: str) -> int:
    """m of [C](VC)^m[V]: how often a consonant follows a vowel."""
    vowel = _vowels(word)
    return sum(a and not b for a, b in pairwise(vowel))


def _has_vowel(word: str) -> bool:
    return any(_vowels(word))


def _double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and not _vowels(word)[-1]


def _short_end(word: str) -> bool:
    """Whether the end is consonant, vowel, consonant, the last not w, x or y."""
    return len(word) > 2 and _vowels(word)[-3:] == [False, True, False] and word[-1] not in "wxy"
