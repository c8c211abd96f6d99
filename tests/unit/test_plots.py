"""Plots are small, valid, the same each time, and a contender looks the same in all of them."""

from __future__ import annotations

from xml.etree import ElementTree

from nearcast.bench.plots import COLOURS, OUR_COLOUR, Line, Panel, _styles, draw


def values(*medians):
    return tuple(None if m is None else (m, m * 0.9, m * 1.1) for m in medians)


def panels():
    words = Panel(
        "a: words",
        "words in a message",
        "µs",
        (6.0, 12.0, 20.0),
        (Line("auto", values(1, 2, None)), Line("ap-tree", values(5, 50, 5_000))),
    )
    data = Panel("b: data", "", "bytes", ("TWEETS", "GN"), (Line("auto", values(3, 4)),))
    return words, data


def test_a_plot_is_valid_small_and_the_same_each_time() -> None:
    svg = draw("P0 Fig. 7: probes", panels(), "one")
    ElementTree.fromstring(svg)
    assert len(svg) < 15_000
    assert svg == draw("P0 Fig. 7: probes", panels(), "one")


def test_a_plot_has_its_titles_axes_and_contenders() -> None:
    svg = draw("P0 Fig. 7: probes", panels(), "one")
    for text in ("P0 Fig. 7: probes", "a: words", "words in a message", "µs", "ap-tree", "GN"):
        assert f">{text}<" in svg
    for tick in ("6", "12", "20", "10", "1k"):
        assert f">{tick}<" in svg


def test_ids_of_two_plots_on_one_page_differ() -> None:
    ids = [
        {e.get("id") for e in ElementTree.fromstring(draw("x", panels(), name)).iter()} - {None}
        for name in ("one", "two")
    ]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


def test_a_contender_has_the_same_colour_whatever_else_is_there() -> None:
    alone = _styles(["ap-tree"])["ap-tree"]
    assert _styles(["auto", "lfilter", "something", "ap-tree"])["ap-tree"] == alone
    assert _styles(["auto"])["auto"][0] == OUR_COLOUR
    many = _styles([f"kind {number}" for number in range(len(COLOURS))])
    assert len({colour for colour, _ in many.values()}) == len(COLOURS)
