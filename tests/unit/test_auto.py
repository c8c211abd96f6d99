"""`auto` is a name for the kind that the library chooses: one row of each registry says which."""

from __future__ import annotations

from typing import Any

import pytest

import nearcast as nc

BOX = (0.0, 0.0, 10.0, 10.0)


def chosen(kinds):
    """Return the row of `auto`, and the kind that it stands for."""
    named = {kind.name: kind for kind in kinds}
    return named["auto"], named[named["auto"].stands_for]


def test_auto_has_the_parameters_and_capabilities_of_the_kind_it_stands_for() -> None:
    auto, kind = chosen(nc.indexes())
    assert kind.stands_for == ""
    assert kind.name in auto.summary
    assert [spec.name for spec in auto.parameters] == [spec.name for spec in kind.parameters]
    assert auto.capabilities == kind.capabilities


def test_auto_brings_the_expiry_that_it_stands_for() -> None:
    (arrival, _), (_, expiry) = chosen(nc.topk_kinds()), chosen(nc.expiry_kinds())
    assert arrival.expiry == expiry.name


@pytest.mark.parametrize("mode", ["match", "rank"])
def test_a_matcher_says_which_kind_auto_is(mode) -> None:
    _, kind = chosen(nc.indexes())
    assert nc.Matcher("auto", mode=mode).index == kind.name
    assert nc.Matcher(mode=mode).index == kind.name


@pytest.mark.parametrize("mode", ["match", "rank"])
def test_a_snapshot_of_auto_holds_the_kind(mode, tmp_path) -> None:
    """What `auto` stands for may change; what was saved must open as what it is."""
    _, kind = chosen(nc.indexes())
    terms: dict[str, Any] = {"alpha": 0.5, "threshold": 0.5} if mode == "rank" else {}
    matcher = nc.Matcher("auto", mode=mode, index_parameters={"small_list": 4})
    matcher.subscribe("s", keywords=["tea"], area=BOX, **terms)
    matcher.save(tmp_path / "saved")
    assert kind.name.encode() in (tmp_path / "saved").read_bytes()
    opened = nc.Matcher.open(tmp_path / "saved")
    assert (opened.index, len(opened)) == (kind.name, 1)


def test_a_snapshot_of_a_hub_holds_the_kinds_of_its_top_lists(tmp_path) -> None:
    hub = nc.Hub(window=nc.Window(count=5))
    hub.subscribe("t", mode="top", keywords=["tea"], at=(1, 1), k=2, alpha=0.5)
    hub.publish("m", "tea", at=(1, 1))
    hub.save(tmp_path / "saved")
    written = (tmp_path / "saved").read_bytes()
    for kinds in (nc.indexes(), nc.topk_kinds(), nc.expiry_kinds()):
        assert chosen(kinds)[1].name.encode() in written
    opened = nc.Hub.open(tmp_path / "saved")
    assert [message for message, _ in opened.results("t")] == ["m"]


def test_an_unknown_name_is_refused_with_a_list_of_names_and_kinds() -> None:
    auto, kind = chosen(nc.indexes())
    with pytest.raises(nc.InvalidParameterError, match=f"one of {auto.name}, {kind.name}, "):
        nc.Matcher("best")
    with pytest.raises(nc.InvalidParameterError, match="one of auto, bounded-lists, "):
        nc.Hub(topk="best")
    with pytest.raises(nc.InvalidParameterError, match="one of auto, slack, "):
        nc.Hub(expiry="best")
