"""Mistakes whose answers misled: each now says what is wrong, where, and what to type."""

import pytest

from recassay.cli.values import listed

GOOD = "algorithm,dataset,metric,value\nA,d,m,0.1\nA,e,m,0.3\nB,d,m,0.2\nB,e,m,0.1\n"
FILES = {
    "good.csv": GOOD,
    "field.csv": GOOD.replace("A,e,m,0.3", "A,e,m,0.3,9"),
    "quote.csv": GOOD.replace("B,d,m,0.2", 'B,"d,m,0.2'),
    "word.csv": GOOD.replace("0.2", "zero"),
}
CASES = {
    "strata good.csv": ["good.csv: is a file, and a study is needed"],
    "status good.csv": ["good.csv: is a file, and a study is a folder; name the folder of a study"],
    "advise good.csv": ["good.csv: is a results table, and advice is about a dataset", "go to --results"],
    "advise quote.csv": ["quote.csv: ", "is recognised as the user among 'algorithm', 'dataset'"],
    "rank field.csv": ["field.csv: line 3 has 5 fields, and the header has 4; remove field 5 ('9')"],
    "rank quote.csv": ["quote.csv: line 4, field 2: the quote that opens there is never closed"],
    "rank word.csv": ["the first 'zero' in data row 3 of the column 'value'"],
    "rank good.csv beta-max=2": ["there is no file 'beta-max=2'", "as an option it is --beta-max 2"],
    "rank x=y.csv": ["x=y.csv: no such file"],
    "rank good.csv missing=worst": ["there is no file 'missing=worst'", "as an option it is --missing worst"],
}


@pytest.mark.parametrize("command", CASES)
def test_a_mistake_is_named(cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    ran = cli(*command.split())
    assert ran.code == 2
    for words in CASES[command]:
        assert words in ran.err


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("EASE,ALS", ["EASE", "ALS"]),
        ('"EASE, tuned",ALS', ["EASE, tuned", "ALS"]),
        ('ALS, "EASE, tuned"', ["ALS", "EASE, tuned"]),
        ('"EASE, tuned > ALS"', ["EASE, tuned > ALS"]),
    ],
)
def test_a_name_with_a_comma_stands_in_quotes(text, names):
    assert listed(text, "--algorithms") == names
