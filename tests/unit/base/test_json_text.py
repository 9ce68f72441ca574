"""JSON that every reader of JSON reads."""

import json
import math

import numpy as np
import pytest

from prudent.base.json_text import to_json


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, None),
        (np.float64(math.inf), "inf"),
        ([1.5, (math.nan, {"a": math.inf})], [1.5, [None, {"a": "inf"}]]),
        ({"a": 1, "b": [True, None, "x"]}, {"a": 1, "b": [True, None, "x"]}),
    ],
)
def test_infinities_are_texts_that_float_reads_and_what_is_undefined_is_null(value, read):
    def refuse(word):
        raise AssertionError(word)

    assert json.loads(to_json(value), parse_constant=refuse) == read


def test_the_layout_is_kept():
    assert to_json({"ρ": math.inf}, indent=1, ensure_ascii=False) == '{\n "ρ": "inf"\n}'
