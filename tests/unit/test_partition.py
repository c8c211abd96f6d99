"""Routing never loses a pair, in any mechanism and mode; cuts are balanced; plans are files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import strategies as some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import OracleRejects, matches, read_message, read_subscription
from oracle.scores import top_score

import nearcast as nc
from nearcast.bench.workloads.generate import messages as generated_messages
from nearcast.bench.workloads.generate import subscriptions as generated_subscriptions
from nearcast.bench.workloads.presets import find_preset
from nearcast.errors import InvalidParameterError
from nearcast.events import Subscribe, event_from
from nearcast.keywords import parse
from nearcast.partition import (
    MECHANISMS,
    Plan,
    held_out,
    make_plan,
    measure_plan,
    wants_of_events,
    wants_of_table,
)
from nearcast.partition.bounds import area_bounds
from nearcast.partition.covers import word_groups
from nearcast.partition.keyword_cuts import cut_words, range_cost
from nearcast.partition.plan import is_first, pack
from nearcast.partition.space_cuts import cut_space, touches
from nearcast.partition.wants import prefix_mask, text_share
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Iterable

many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORDS = ("a", "b", "c", "coffee", "d", "e")


def is_accepted(event):
    try:
        read_subscription(event)
    except OracleRejects:
        return False
    return True


_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
_written = st.sampled_from(
    (
        *("co*", "-a", "a -b", '"a b"', '"coffee a" OR c', "(a OR b) (c OR d)", "-(a OR -b)"),
        *("a (b OR co*)", "-co*", "(a OR b OR c) -d", '-"a b" coffee', "a OR (b -c)", "-(-a -b)"),
    )
)
_wheres = st.sampled_from(("price <= 3", "type = 'flat'", "NOT price EXISTS"))
_match = st.fixed_dictionaries(
    {},
    optional={
        "keywords": st.one_of(_words, some.expressions, _written),
        "area": some.areas,
        "where": _wheres,
        "except": some.bboxes,
    },
).filter(lambda fields: is_accepted({"op": "subscribe", "id": "s", **fields}))
_rank = st.fixed_dictionaries(
    {
        "mode": st.just("rank"),
        "keywords": _words,
        "area": some.bboxes,
        "alpha": st.sampled_from((0, 0.3, 0.5, 0.9, 1)),
        "threshold": st.sampled_from((1e-9, 0.25, 0.3, 0.5, 0.65, 0.7, 0.9, 1)),
    }
)
_top = st.fixed_dictionaries(
    {
        "mode": st.just("top"),
        "keywords": _words,
        "at": some.coordinates,
        "alpha": st.sampled_from((0, 0.3, 0.5, 0.9, 1)),
        "k": st.just(1),
    }
)
_epochs = st.one_of(
    st.none(),
    st.dictionaries(st.sampled_from(WORDS), st.integers(0, 50)).map(lambda df: nc.Weights(50, df)),
)
_attributes = st.fixed_dictionaries(
    {}, optional={"price": st.integers(1, 5), "type": st.sampled_from(("flat", "house"))}
)
_messages = st.builds(
    lambda publish, said: {**publish, "attributes": said}, some.publish_events(), _attributes
)
_plans = st.tuples(st.sampled_from(MECHANISMS), st.integers(1, 9))


def numbered(fields):
    return [{"op": "subscribe", "id": f"s{row}", **one} for row, one in enumerate(fields)]


def read(fields: Iterable[dict[str, Any]]) -> list[Subscribe]:
    events = [event_from(one) for one in fields]
    return [event for event in events if isinstance(event, Subscribe)]


def message_table(publishes):
    """Return messages as routing takes them: every place as a box."""
    places = [m["bbox"] if "bbox" in m else [*m["at"], *m["at"]] for m in publishes]
    tokens = [DEFAULT_ANALYZER.analyze(m["text"]) for m in publishes]
    sides = zip(("west", "south", "east", "north"), np.array(places, float).T, strict=True)
    return pa.table({"tokens": pa.array(tokens, pa.list_(pa.string())), **dict(sides)})


def plan_for(plan, wants, table, weights=None):
    mechanism, partitions = plan
    sample = table.slice(0, max(1, table.num_rows // 2))
    return make_plan(mechanism, partitions, wants, sample, weights=weights)


def ids_of(events):
    return pa.array([event["id"] for event in events])


# ---- no pair is lost -------------------------------------------------------------------------


@many
@given(
    st.lists(_match, min_size=1, max_size=6),
    st.lists(_messages, min_size=1, max_size=6),
    _plans,
)
def test_every_match_happens_in_a_partition_that_has_both(subscriptions, publishes, plan) -> None:
    given = numbered(subscriptions)
    events = read(given)
    wants, table = wants_of_events(events), message_table(publishes)
    made = plan_for(plan, wants, table)
    placed, seen = made.place(wants, ids_of(given)), made.route(table)
    assert placed.any(axis=1).all()
    for row, publish in enumerate(publishes):
        for number, fields in enumerate(given):
            if matches(fields, publish):
                assert (placed[number] & seen[row]).any(), (fields, made.mechanism)


@many
@given(
    st.lists(_rank, min_size=1, max_size=6),
    st.lists(some.publish_events(), min_size=1, max_size=6),
    _plans,
    _epochs,
)
def test_every_ranked_pair_is_in_a_partition_that_has_both(
    subscriptions, publishes, plan, weights
) -> None:
    ranker = nc.Matcher(mode="rank")
    ranker.set_weights(weights)
    events = read(numbered(subscriptions))
    for event, fields in zip(events, subscriptions, strict=True):
        ranker.subscribe(event.id, **{key: fields[key] for key in fields if key != "mode"})
    wants, table = wants_of_events(events, "rank"), message_table(publishes)
    made = plan_for(plan, wants, table, weights)
    placed, seen = made.place(wants, ids_of(numbered(subscriptions))), made.route(table)
    for row, publish in enumerate(publishes):
        place = {key: publish[key] for key in ("at", "bbox") if key in publish}
        for id_, _ in ranker.rank(publish["text"], **place):
            assert (placed[int(str(id_)[1:])] & seen[row]).any(), (id_, made.mechanism)


@many
@given(
    st.lists(_top, min_size=1, max_size=6),
    st.lists(some.publish_events(), min_size=1, max_size=6),
    _plans,
    st.sampled_from((-np.inf, 0.0, 0.4, 0.8, 0.95, 1.0)),
)
def test_a_message_that_reaches_the_kth_score_is_seen_by_a_top_subscription(
    subscriptions, publishes, plan, kth_score
) -> None:
    events = read(numbered(subscriptions))
    wants, table = wants_of_events(events, "top"), message_table(publishes)
    alphas = np.array([event.alpha for event in events])
    wants = wants.with_shares(text_share(alphas, np.full(len(events), kth_score)))
    made = plan_for(plan, wants, table)
    placed, seen = made.place(wants, ids_of(numbered(subscriptions))), made.route(table)
    for row, publish in enumerate(publishes):
        message = read_message(publish)
        for number, fields in enumerate(numbered(subscriptions)):
            held = read_subscription(fields)
            if held.tokens & message.tokens.keys():
                args = (held.tokens, held.at, held.alpha, Counter(message.tokens), message.place)
                if round(top_score(*args) * 1e9) >= round(max(kth_score, -9) * 1e9):
                    assert (placed[number] & seen[row]).any()


@many
@given(st.lists(some.areas, min_size=1, max_size=4), st.lists(some.coordinates, min_size=1))
def test_a_box_around_an_area_holds_every_point_of_it(areas, points) -> None:
    matcher = nc.Matcher()
    for row, area in enumerate(areas):
        matcher.subscribe(row, area=area)
    boxes = np.array(
        [area_bounds(event.area) for event in read(numbered({"area": a} for a in areas))]
    )
    for lon, lat in points:
        inside = touches(boxes, np.array([[lon, lat, lon, lat]], float))[:, 0]
        assert all(inside[int(row)] for row in matcher.match([], at=(lon, lat)))


def test_one_partition_answers_for_each_pair() -> None:
    rng = np.random.default_rng(3)
    subscriptions, messages = (rng.random((200, 19)) < 0.3 for _ in range(2))
    answers = np.zeros(200, int)
    for partition in range(19):
        has_both = subscriptions[:, partition] & messages[:, partition]
        answers += has_both & is_first(partition, pack(subscriptions), pack(messages))
    assert (answers == (subscriptions & messages).any(axis=1)).all()


# ---- cuts ------------------------------------------------------------------------------------


def test_words_are_cut_into_consecutive_ranges_of_about_equal_cost() -> None:
    rng = np.random.default_rng(1)
    rows = np.repeat(np.arange(5_000), 3)
    words = np.minimum(rng.zipf(1.3, 15_000), 400) - 1
    pairs = rows, words
    for parts in (2, 4, 7):
        homes = cut_words(pairs, pairs, 400, parts)
        assert (np.diff(homes) >= 0).all()
        assert set(homes) == set(range(parts))
    two = range_cost(pairs, pairs, cut_words(pairs, pairs, 400, 2), 2)
    best = min(
        abs(np.diff(range_cost(pairs, pairs, (np.arange(400) >= cut).astype(np.int32), 2))[0])
        for cut in range(1, 400)
    )
    assert abs(two[0] - two[1]) == best


def test_fewer_words_than_parts_still_have_a_home_each() -> None:
    pairs = np.array([0, 1]), np.array([0, 1])
    assert cut_words(pairs, pairs, 2, 5).tolist() in ([0, 2], [1, 3], [0, 3], [1, 2])


def test_leaves_cover_the_world_and_balance_subscriptions_times_messages() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(4_000, 2)) * [40, 20]
    messages = rng.normal(size=(4_000, 2)) * [10, 10]
    for parts in (1, 4, 6):
        leaves = cut_space(points, messages, parts)
        sizes = (leaves[:, 2] - leaves[:, 0]) * (leaves[:, 3] - leaves[:, 1])
        assert sizes.sum() == pytest.approx(360 * 180)
    costs = [touches(np.hstack([one, one]), leaves).mean(axis=0) for one in (points, messages)]
    assert (costs[0] * costs[1]).max() < 3 * (costs[0] * costs[1]).mean()


def test_a_prefix_is_the_shortest_that_leaves_too_little() -> None:
    offsets = np.array([0, 4, 5])
    weights = np.array([4.0, 3.0, 2.0, 1.0, 1.0])
    shares = np.array([0.35, 1.0])
    found = prefix_mask(weights, offsets, shares, is_norm=False)
    assert found.tolist() == [True, True, False, False, True]
    exact = prefix_mask(weights, offsets, np.array([0.3, 1.0]), is_norm=False)
    assert exact.tolist() == [True, True, True, False, True]  # strictly below
    nothing_known = prefix_mask(weights, offsets, np.array([-np.inf, 0.0]), is_norm=True)
    assert nothing_known.all()


@pytest.mark.parametrize(
    ("keywords", "groups"),
    [
        ("a b -c", [{"a", "b"}]),
        ('"a b" c', [{"a", "b", "c"}]),
        ("a OR b OR a", [{"a"}, {"b"}]),
        ("(a OR b OR c) (d OR e) -f", [{"d"}, {"e"}]),
        ("(a OR b) c co*", [{"c"}]),
        ("(a OR b) co*", [{"a"}, {"b"}]),
        ("a OR co*", None),
        ("-a -b", None),
        ("-(-a OR -b)", [{"a", "b"}]),
        ("-(-a -b)", [{"a"}, {"b"}]),
        ("a -a", [{"a"}]),
    ],
)
def test_keywords_are_covered_by_groups_of_words(keywords, groups) -> None:
    found = word_groups(parse(keywords))
    assert (None if found is None else list(found)) == groups


def test_covers_do_not_multiply() -> None:
    parts = [f"({' OR '.join(f'w{i}x{j}' for j in range(9))})" for i in range(9)]
    assert len(word_groups(parse(" AND ".join(parts))) or ()) == 9


# ---- plans -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tweets():
    preset = find_preset("tweets")
    table = generated_subscriptions(preset, 20_000, 1)
    return table, generated_messages(preset, 6_000, 1)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_plan_costs_what_it_predicts(mechanism, tweets) -> None:
    table, messages = tweets
    wants = wants_of_table(table)
    plan = make_plan(mechanism, 8, wants, messages.slice(0, 3_000))
    ids = table.column("id")
    predicted = measure_plan(plan, wants, ids, held_out(messages.slice(0, 3_000)))
    measured = measure_plan(plan, wants, ids, messages.slice(3_000))
    assert measured.communication == pytest.approx(predicted.communication, rel=0.1)
    assert measured.replication == predicted.replication
    assert sum(measured.subscriptions) >= table.num_rows
    if mechanism == "hash":
        assert (measured.communication, measured.replication) == (8, 1)
    if mechanism == "prefix":
        assert measured.replication == 1  # one word stands for a conjunction
        assert measured.communication < 5


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_plan_is_the_same_after_a_file(mechanism, tweets) -> None:
    table, messages = tweets
    wants = wants_of_table(table)
    weights = nc.Weights(9, {"w1": 3})
    plan = make_plan(mechanism, 6, wants, messages, weights=weights)
    again = Plan.from_buffer(plan.to_buffer())
    assert (again.mechanism, again.partitions, again.weights) == (mechanism, 6, weights)
    ids = table.column("id")
    assert (again.place(wants, ids) == plan.place(wants, ids)).all()
    assert (again.route(messages) == plan.route(messages)).all()


def test_words_that_nobody_planned_for_have_a_home(tweets) -> None:
    table, messages = tweets
    plan = make_plan("prefix", 6, wants_of_table(table), messages)
    late = wants_of_events(read(numbered([{"keywords": "brandnew"}])))
    message = message_table([{"text": "brandnew w1", "at": [0, 0]}])
    placed = plan.place(late, pa.array(["s"]))
    assert (placed & plan.learn(late.words).route(message)).any()
    assert (placed == plan.learn(late.words).place(late, pa.array(["s"]))).all()
    assert not (placed & plan.route(message)).any()  # no subscription had the word before


def test_wrong_plans_are_refused() -> None:
    unknown: Any = "alphabet"
    with pytest.raises(InvalidParameterError, match="mechanism"):
        Plan(unknown, "match", 2)
    with pytest.raises(InvalidParameterError, match="partitions"):
        Plan("hash", "match", 0)
    events = read(numbered([{"keywords": "a"}]))
    with pytest.raises(InvalidParameterError, match="another mode"):
        wants_of_events(events, "top")
