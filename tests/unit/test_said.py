"""What a subscription says is given back as it was said, or refused if a snapshot damaged it."""

from __future__ import annotations

import pytest

import nearcast as nc
from nearcast.said import read_said


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ('["flat -sold", null]', ("flat -sold", None)),
        ('[["flat", "balcony"], "price < 9"]', (["flat", "balcony"], "price < 9")),
        ("[null, \"type = 'é'\"]", (None, "type = 'é'")),
    ],
)
def test_keywords_and_where_are_read_as_they_were_written(said: str, wanted: object) -> None:
    assert read_said("s", said) == wanted


@pytest.mark.parametrize("said", ["", "[", "7", "{}", "[1, null]", '["a"]', '["a\x01", null]'])
def test_what_cannot_have_been_written_is_a_snapshot_error(said: str) -> None:
    with pytest.raises(nc.SnapshotError, match="subscription 's'"):
        read_said("s", said)
