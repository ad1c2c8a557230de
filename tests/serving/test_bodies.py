import pytest

from countmorl.errors import DataError
from countmorl.serving.bodies import MOST_ROWS, Asked, read_body


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        (b'{"obs": [1, 2.5]}', Asked(numbers=True, several=False, what=[[1, 2.5]])),
        (b'{"obs": [[1], [2]]}', Asked(numbers=True, several=True, what=[[1], [2]])),
        (b'{"row": {"a": "x"}}', Asked(numbers=False, several=False, what=[{"a": "x"}])),
        (b'{"rows": [{"a": null}]}', Asked(numbers=False, several=True, what=[{"a": None}])),
    ],
)
def test_what_is_understood(body, asked):
    assert read_body(body) == asked


BAD = {
    "nothing": (b"", "is not JSON"),
    "no JSON": (b"{obs: 1}", "is not JSON"),
    "cut off": (b'{"obs": [1, 2', "is not JSON"),
    "other text": (b'\xff\xfe{"', "not text in UTF-8"),
    "NaN": (b'{"obs": [NaN]}', "holds NaN, which is no number of JSON"),
    "infinity": (b'{"obs": [-Infinity]}', "holds -Infinity"),
    "too large": (b'{"obs": [1e999]}', "holds 1e999, which is more"),
    "too many digits": (b'{"obs": [' + b"9" * 5000 + b"]}", "is not JSON"),
    "too deep": (b'{"obs": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "."),
    "said twice": (b'{"obs": [1], "obs": [2]}', "'obs' is said twice"),
    "said twice in a row": (b'{"row": {"dose": 1, "dose": 2}}', "'dose' is said twice"),
    "two things": (b'{"obs": [1], "row": {}}', "got keys 'obs', 'row'"),
    "something else": (b'{"state": [1]}', "Wanted"),
    "no table": (b"[1, 2]", "Wanted"),
    "a text": (b'{"obs": "1, 2"}', "must be a list"),
    "numbers as text": (b'{"obs": ["1", "2"]}', "holds '1' at place 0; wanted a number"),
    "true": (b'{"obs": [true]}', "holds True at place 0"),
    "null": (b'{"obs": [null]}', "holds None at place 0"),
    "no rows": (b'{"rows": []}', "has 0 entries"),
    "a row that is none": (b'{"rows": [1]}', "`rows[0]` must hold values by the names"),
    "a row that is a list": (b'{"row": [1]}', "`row` must hold values"),
    "mixed": (b'{"obs": [[1], 2]}', "`obs[1]` must be a list of numbers"),
    "too many": (b'{"obs": [' + b"[1]," * MOST_ROWS + b"[1]]}", "has 1,001 entries"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case):
    body, said = BAD[case]
    with pytest.raises(DataError) as error:
        read_body(body)
    assert said in str(error.value)
    assert len(str(error.value)) < 400
