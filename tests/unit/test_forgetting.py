"""Words are known as long as something uses them; their numbers are used again."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import nearcast as nc

BOX = [0, 0, 10, 10]
INSIDE = (5.0, 5.0)


def words_of(hub):
    return hub.stats()["vocabulary"]


@pytest.mark.parametrize(
    "fields",
    [
        {"keywords": "coffee"},
        {"keywords": "coffee tea -milk", "area": BOX},
        {"keywords": "(coffee OR tea) -milk -coffee"},
        {"keywords": "coffee OR tea", "live": True, "area": BOX},
        {"keywords": ["coffee", "tea"], "mode": "rank", "alpha": 0.5, "threshold": 0.5},
        {"keywords": ["coffee", "tea"], "mode": "top", "k": 3, "alpha": 0.5, "at": INSIDE},
    ],
    ids=str,
)
@pytest.mark.parametrize("safe_region", [False, True])
def test_a_subscription_that_goes_takes_its_words_along(fields, safe_region) -> None:
    hub = nc.Hub(window=nc.Window(count=10), safe_region=safe_region)
    if fields.get("mode") == "rank":
        fields = {**fields, "area": BOX}
    for _ in range(3):
        hub.subscribe("s", **fields)
        assert words_of(hub) > 0
        hub.check_invariants()
        hub.unsubscribe("s")
        assert words_of(hub) == 0
        hub.check_invariants()


def test_a_message_takes_its_words_along_however_it_goes() -> None:
    hub = nc.Hub(window=nc.Window(count=2))
    hub.publish("m1", "tea tea tea coffee", at=INSIDE)
    hub.publish("m2", "tea milk", at=INSIDE)
    assert words_of(hub) == 3
    hub.publish("m3", "sugar", at=INSIDE)  # m1 falls out of the window
    assert words_of(hub) == 3
    hub.retract("m2")
    assert words_of(hub) == 1
    hub.publish("m4", "sugar cake", at=INSIDE, expires=5)
    hub.retract("none", time=5)
    assert words_of(hub) == 1
    hub.check_invariants()


def test_a_message_that_is_not_kept_makes_no_word_known() -> None:
    hub = nc.Hub()
    hub.publish("m", "tea", at=INSIDE)
    assert words_of(hub) == 0


def test_a_word_is_known_until_its_last_use_ends() -> None:
    hub = nc.Hub(window=nc.Window(count=5))
    hub.subscribe("match", keywords="tea")
    hub.subscribe("top", keywords=["tea"], mode="top", k=1, alpha=0.5, at=INSIDE)
    hub.publish("m", "tea", at=INSIDE)
    hub.set_weights(nc.Weights(documents=9, df={"tea": 3}))
    for end in (
        lambda: hub.unsubscribe("match"),
        lambda: hub.unsubscribe("top"),
        lambda: hub.set_weights(None),
    ):
        end()
        assert words_of(hub) == 1
        hub.check_invariants()
    hub.retract("m")
    assert words_of(hub) == 0


def test_an_epochs_words_keep_their_weights_when_numbers_are_used_again() -> None:
    hub = nc.Hub()
    weights = nc.Weights(documents=99, df={"rare": 1, "common": 99, "unseen": 0})
    hub.set_weights(weights)
    assert words_of(hub) == 2  # what no document has weighs what an unknown word weighs
    rank: dict[str, Any] = {"mode": "rank", "area": BOX, "alpha": 0, "threshold": 0.01}
    for i in range(9):
        hub.subscribe(f"s{i}", keywords=[f"other{i}"], **rank)
        hub.unsubscribe(f"s{i}")
    hub.subscribe("s", keywords=["new", "common"], **rank)
    fresh = nc.Hub(weights=weights)
    fresh.subscribe("s", keywords=["new", "common"], **rank)
    change, expected = (each.publish("m", "new", at=INSIDE) for each in (hub, fresh))
    assert change == expected
    hub.set_weights(nc.Weights(documents=9, df={"rare": 2}))
    hub.unsubscribe("s")
    assert words_of(hub) == 1
    hub.check_invariants()


@pytest.mark.parametrize("mode", ["match", "rank"])
def test_a_refused_table_leaves_no_words(mode) -> None:
    matcher = nc.Matcher(mode=mode)
    rows = {"id": ["a", "b", "a"], "keywords": [["x", "y"], ["y", "y"], ["z"]]}
    rows |= {name: [1.0] * 3 for name in ("west", "south", "east", "north")}
    if mode == "rank":
        rows |= {"alpha": [0.5] * 3, "threshold": [0.5] * 3}
    with pytest.raises(nc.DuplicateIdError):
        matcher.subscribe_table(pa.table(rows))
    assert matcher.stats()["vocabulary"] == 0
    matcher.subscribe_table(pa.table(rows).slice(0, 2))
    assert matcher.stats()["vocabulary"] == 2
    matcher.check_invariants()
    matcher.unsubscribe_table(["a", "b"])
    assert matcher.stats()["vocabulary"] == 0
    matcher.check_invariants()


def test_a_refused_subscription_leaves_no_words() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="tea")
    for fields in ({"keywords": "milk"}, {"keywords": ["milk"], "mode": "top", "k": 1}):
        with pytest.raises(nc.NearcastError):
            hub.subscribe("s", **fields)
    assert words_of(hub) == 1


def coded(*rows):
    lists = pa.array(rows, pa.list_(pa.string()))
    return pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode())


def test_of_a_dictionary_only_the_words_in_use_become_known() -> None:
    matcher = nc.Matcher()
    keywords = coded(["a"], ["b", "b"], ["c"]).slice(0, 2)
    matcher.subscribe_table(pa.table({"id": [1, 2], "keywords": keywords}))
    assert matcher.stats()["vocabulary"] == 2
    matcher.check_invariants()


def test_a_dictionary_is_looked_up_again_when_its_words_have_other_numbers() -> None:
    matcher = nc.Matcher()
    matcher.subscribe("a", keywords="a")
    messages = pa.table({"tokens": coded(["a"], ["b"]), "lon": [0.0] * 2, "lat": [0.0] * 2})
    assert matcher.match_table(messages).to_pylist() == [{"message": 0, "subscription": "a"}]
    matcher.unsubscribe("a")
    matcher.subscribe("b", keywords="b")  # under the number that "a" had; as many words as before
    assert matcher.match_table(messages).to_pylist() == [{"message": 1, "subscription": "b"}]


def test_a_sample_holds_its_words_until_the_next_one() -> None:
    matcher = nc.Matcher("ap-tree")
    place = {"lon": [0.0, 0.0], "lat": [0.0, 0.0]}
    matcher.learn_table(pa.table({"tokens": [["a", "b"], ["b", "b"]], **place}))
    assert matcher.stats()["vocabulary"] == 2
    matcher.check_invariants()
    matcher.learn_table(pa.table({"tokens": coded(["c"], ["b"]), **place}))
    assert matcher.stats()["vocabulary"] == 2
    matcher.check_invariants()


@pytest.mark.parametrize("length", [1, 18, 19, 20, 21, 40, 300])
def test_words_of_every_length_come_and_go_in_the_same_memory(length) -> None:
    matcher = nc.Matcher()
    seen = set()
    for round_ in range(9):
        words = [f"{round_}{i}".rjust(length, "x")[-length:] for i in range(8)]
        for word in dict.fromkeys(words):
            matcher.subscribe(word, keywords=[word])
        for word in dict.fromkeys(words):
            assert matcher.match([word], at=INSIDE) == [word]
            assert nc.Matcher.match(matcher, [word + "x"], at=INSIDE) == []
        matcher.check_invariants()
        for word in dict.fromkeys(words):
            matcher.unsubscribe(word)
        if round_ > 1:
            seen.add(matcher.stats()["vocabulary_bytes"])
    assert len(seen) == 1


def test_free_numbers_are_used_again_none_one_or_many() -> None:
    matcher = nc.Matcher()
    for count in (1, 2, 64, 3, 65, 0, 64):
        for i in range(count):
            matcher.subscribe(i, keywords=[f"{count}w{i}"])
        matcher.check_invariants()
        for i in range(count):
            assert matcher.match([f"{count}w{i}"], at=INSIDE) == [i]
            matcher.unsubscribe(i)
        matcher.check_invariants()


def test_new_words_in_a_window_take_no_more_memory(tmp_path) -> None:
    hub = nc.Hub(window=nc.Window(count=100))
    hub.subscribe("live", keywords="known", live=True)
    hub.subscribe("top", keywords=["known"], mode="top", k=3, alpha=0.5, at=INSIDE)
    hub.subscribe(
        "rank", keywords=["known"], mode="rank", area=BOX, alpha=0, threshold=0.5, live=True
    )
    sizes = []
    for start in range(0, 8000, 2000):
        texts = [f"new{i} known other{i}withmanyletters" for i in range(start, start + 2000)]
        hub.apply(
            [
                {"op": "publish", "id": f"m{start + i}", "text": text, "at": INSIDE}
                for i, text in enumerate(texts)
            ]
        )
        path = tmp_path / "hub"
        hub.save(path)
        sizes.append((hub.stats(), path.stat().st_size))
    assert words_of(hub) == 201
    assert sizes[1:] == [sizes[1]] * 3
    hub.check_invariants()


def test_terms_of_rank_subscriptions_are_forgotten_with_them() -> None:
    ranker = nc.Matcher(mode="rank")
    sizes = []
    for i in range(400):
        alpha, threshold = i / 4000, 0.2
        ranker.subscribe(1, keywords=["a"], area=BOX, alpha=alpha, threshold=threshold)
        ranker.subscribe(2, keywords=["b"], area=BOX, alpha=alpha, threshold=threshold)
        ranker.unsubscribe(1)
        assert ranker.rank(["b"], at=INSIDE) == [(2, 1.0)]
        sizes.append(ranker.stats()["index_bytes"])
        ranker.check_invariants()
        ranker.unsubscribe(2)
    assert max(sizes[200:]) == max(sizes[:200])


def test_a_list_that_was_split_is_whole_again_for_the_next_word_of_its_number() -> None:
    hub = nc.Hub(window=nc.Window(count=4_200))
    hub.subscribe("live", keywords="hot2", area=BOX, live=True)
    hub.unsubscribe("live")
    places = [[(i % 70) * 5 - 175, (i // 70) * 2.5 - 75] for i in range(4_200)]
    inside = sum(0 <= x <= 10 and 0 <= y <= 10 for x, y in places)
    for round_ in range(3):
        hub.apply(
            {"op": "publish", "id": f"m{round_}-{i}", "text": f"hot{round_}", "at": at}
            for i, at in enumerate(places)
        )
        assert len(hub.subscribe("live", keywords=f"hot{round_}", area=BOX, live=True)) == inside
        hub.unsubscribe("live")
        hub.check_invariants()
