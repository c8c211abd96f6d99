from __future__ import annotations

import json
from math import log

import pytest

from nearcast.errors import InvalidParameterError
from nearcast.weights import Weights, read_weights


def test_a_word_that_is_not_listed_weighs_most() -> None:
    weights = Weights(3, {"a": 3, "b": 1})
    assert weights.idf("a") == 1
    assert weights.idf("b") == log(4 / 2) + 1
    assert weights.idf("c") == log(4) + 1


def test_file_reads_as_written(tmp_path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"documents": 2, "df": {"é": 2}}))
    assert read_weights(path) == Weights(2, {"é": 2})


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"documents": 1}',
        '{"documents": 1, "df": []}',
        '{"documents": -1, "df": {}}',
        '{"documents": true, "df": {}}',
        '{"documents": 1, "df": {"a": 2}}',
        '{"documents": 1, "df": {"a": 0.5}}',
        '{"documents": 1, "df": {}, "more": 1}',
        "[" * 100_000,
    ],
)
def test_wrong_file_is_refused(tmp_path, content) -> None:
    path = tmp_path / "weights.json"
    path.write_text(content)
    with pytest.raises(InvalidParameterError):
        read_weights(path)
