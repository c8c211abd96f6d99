"""The generator gives what its presets promise, and the same for the same seed."""

from __future__ import annotations

from math import prod

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearcast.bench.workloads.expressions import expressions
from nearcast.bench.workloads.generate import messages, subscriptions
from nearcast.bench.workloads.groups import GROUPS, Group, find_group
from nearcast.bench.workloads.presets import PRESETS, WORLD, find_preset
from nearcast.bench.workloads.real import open_source
from nearcast.bench.workloads.tables import compact
from nearcast.expressions import And, Or
from nearcast.keywords import parse
from nearcast.text import DEFAULT_ANALYZER

TOKEN_LISTS = pa.list_(pa.dictionary(pa.int32(), pa.string()))


def lengths_of(table: pa.Table, column: str) -> np.ndarray:
    lengths: np.ndarray = table.column(column).combine_chunks().value_lengths().to_numpy()
    return lengths


def flat_words(table: pa.Table, column: str) -> list[str]:
    words: list[str] = table.column(column).combine_chunks().flatten().to_pylist()
    return words


def box_columns(table: pa.Table) -> np.ndarray:
    return np.column_stack([table.column(c).to_numpy() for c in ("west", "south", "east", "north")])


def area_shares(table: pa.Table) -> np.ndarray:
    west, south, east, north = box_columns(table).T
    shares: np.ndarray = (east - west) * (north - south) / (360 * 180)
    return shares


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_same_seed_gives_same_tables_and_another_seed_gives_others(preset) -> None:
    assert subscriptions(preset, 300, 7).equals(subscriptions(preset, 300, 7))
    assert messages(preset, 300, 7).equals(messages(preset, 300, 7))
    assert not subscriptions(preset, 300, 7).equals(subscriptions(preset, 300, 8))
    assert not messages(preset, 300, 7).equals(messages(preset, 300, 8))


@pytest.mark.parametrize("first", [0, 1, 1_023, 1_024, 3_000])
def test_a_table_is_a_slice_of_one_endless_sequence(first) -> None:
    preset = find_preset("tweets")
    whole = subscriptions(preset, 3_200, 3).to_pylist()
    assert subscriptions(preset, 100, 3, first=first).to_pylist() == whole[first : first + 100]
    group = find_group("varied-range")
    whole = messages(preset, 3_200, 3, group).to_pylist()
    assert messages(preset, 100, 3, group, first=first).to_pylist() == whole[first : first + 100]


def test_messages_do_not_come_from_the_pool_of_subscriptions() -> None:
    preset = find_preset("tweets")
    centres = box_columns(subscriptions(preset, 1_000, 1))
    points = messages(preset, 1_000, 1).column("lon").to_numpy()
    assert not np.isin(points, (centres[:, 0] + centres[:, 2]) / 2).any()


@pytest.mark.parametrize(
    ("preset", "group"),
    [*((name, "short-point") for name in PRESETS), *(("topics", name) for name in GROUPS)],
)
def test_messages_are_valid_and_their_tokens_distinct(preset, group) -> None:
    table = messages(find_preset(preset), 200, 5, find_group(group))
    table.validate(full=True)
    assert table.schema.field("tokens").type == TOKEN_LISTS
    for tokens in table.column("tokens").to_pylist():
        assert len(tokens) == len(set(tokens)) > 0


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("varied-point", 6, 20), ("medium-range", 30, 50), ("long-point", 100, 1_000)],
)
def test_groups_fill_their_range_of_lengths(name, low, high) -> None:
    lengths = lengths_of(messages(find_preset("topics"), 1_000, 1, find_group(name)), "tokens")
    assert lengths.min() >= low
    assert lengths.max() <= high
    assert lengths.mean() == pytest.approx((low + high) / 2, rel=0.05)


@pytest.mark.parametrize(
    ("name", "tokens"), [("tweets", 9.0), ("places", 7.0), ("zipf", 8.7), ("topics", 8.5)]
)
def test_presets_have_their_number_of_tokens_per_message(name, tokens) -> None:
    lengths = lengths_of(messages(find_preset(name), 20_000, 1), "tokens")
    assert lengths.mean() == pytest.approx(tokens, abs=0.1)


@pytest.mark.parametrize("name", ["tweets", "places", "zipf"])
def test_tokens_follow_the_law_of_the_preset(name) -> None:
    preset = find_preset(name)
    words = flat_words(messages(preset, 50_000, 1), "tokens")
    law = 1 / (np.arange(1, preset.vocabulary + 1) + preset.rank_shift)
    for rank in (0, 1, 9):
        # A message has the token unless all its draws miss it.
        contains = 1 - (1 - law[rank] / law.sum()) ** preset.draws_per_message
        assert words.count(f"w{rank}") / 50_000 == pytest.approx(contains, rel=0.12)


def test_messages_of_topics_share_more_pairs_of_tokens() -> None:
    def repeated_pairs(name):
        pairs = [
            frozenset(row[:2])
            for row in messages(find_preset(name), 20_000, 1)["tokens"].to_pylist()
        ]
        return len(pairs) - len(set(pairs))

    assert repeated_pairs("topics") > 2 * repeated_pairs("tweets")


def test_points_lie_in_clusters_and_in_the_world() -> None:
    table = messages(find_preset("tweets"), 50_000, 1)
    lon, lat = table.column("lon").to_numpy(), table.column("lat").to_numpy()
    west, south, east, north = WORLD
    assert ((west < lon) & (lon < east) & (south < lat) & (lat < north)).all()
    cells = np.histogram2d(lon, lat, bins=100, range=[[west, east], [south, north]])[0].ravel()
    heaviest = np.sort(cells)[-500:].sum() / cells.sum()
    assert 0.4 < heaviest < 0.9
    assert (cells > 0).mean() > 0.3


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_subscriptions_are_valid_and_have_the_sizes_of_the_preset(preset) -> None:
    table = subscriptions(preset, 20_000, 2)
    table.validate(full=True)
    assert table.schema.field("keywords").type == TOKEN_LISTS
    assert table.column("id").to_pylist() == list(range(20_000))
    counts = np.bincount(lengths_of(table, "keywords"), minlength=6)
    assert counts[0] == 0
    assert counts[1:6] / 20_000 == pytest.approx(0.2, abs=0.02)
    shares = area_shares(table)
    low, high = preset.area_share
    assert (shares <= high * 1.0001).all()
    assert np.median(shares) == pytest.approx((low + high) / 2, rel=0.1)


def test_boxes_are_upright_and_inside_the_world() -> None:
    for table in (
        subscriptions(find_preset("tweets"), 20_000, 2),
        messages(find_preset("tweets"), 20_000, 2, find_group("short-range")),
    ):
        west, south, east, north = box_columns(table).T
        assert ((west >= -180) & (west < east) & (east <= 180)).all()
        assert ((south >= -90) & (south < north) & (north <= 90)).all()


def test_words_survive_the_analyzer() -> None:
    for table, column in (
        (messages(find_preset("zipf"), 500, 1), "tokens"),
        (subscriptions(find_preset("zipf"), 500, 1), "keywords"),
    ):
        words = flat_words(table, column)
        assert DEFAULT_ANALYZER.analyze(" ".join(words)) == words


def test_dictionaries_hold_each_word_that_occurs_once_in_order_of_occurrence() -> None:
    table = messages(find_preset("zipf"), 500, 1)
    dictionary = table.column("tokens").combine_chunks().flatten().dictionary.to_pylist()
    assert dictionary == list(dict.fromkeys(flat_words(table, "tokens")))


def test_compact_keeps_the_rows_and_drops_foreign_words() -> None:
    table = messages(find_preset("tweets"), 500, 1).slice(100, 10)
    small = compact(table, "tokens")
    assert small.to_pylist() == table.to_pylist()
    words = flat_words(small, "tokens")
    assert small.column("tokens").combine_chunks().flatten().dictionary.to_pylist() == list(
        dict.fromkeys(words)
    )


@pytest.mark.parametrize("count", [0, 1])
def test_tiny_tables_have_all_columns(count) -> None:
    preset = find_preset("places")
    table = messages(preset, count, 1, find_group("long-range"))
    assert table.column_names == ["tokens", "west", "south", "east", "north"]
    assert table.num_rows == count
    assert expressions(preset, count, 1).num_rows == subscriptions(preset, count, 1).num_rows


def clauses_in(tree) -> int:
    """Return how many clauses an expression without NOT has if it is multiplied out."""
    if isinstance(tree, Or):
        return sum(map(clauses_in, tree.parts))
    return prod(map(clauses_in, tree.parts)) if isinstance(tree, And) else 1


def test_expressions_parse_and_are_neither_all_and_nor_all_or() -> None:
    table = expressions(find_preset("tweets"), 500, 1)
    texts = table.column("expression").to_pylist()
    clause_counts = [clauses_in(parse(text)) for text in texts]
    assert max(clause_counts) <= 12
    assert 0.1 < np.mean([count == 1 for count in clause_counts]) < 0.6
    assert {text.count("w") for text in texts} == {3, 4, 5, 6, 7}
    assert (
        expressions(find_preset("tweets"), 20, 1, first=50).to_pylist() == table.to_pylist()[50:70]
    )


def test_unknown_names_and_seeds_are_refused_with_what_there_is() -> None:
    with pytest.raises(ValueError, match="no preset is called 'tweet'; there are tweets, places"):
        find_preset("tweet")
    with pytest.raises(ValueError, match="no message group is called 'short'; there are short-"):
        find_group("short")
    with pytest.raises(ValueError, match="seed is negative: got -1"):
        messages(find_preset("tweets"), 1, -1)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    texts = [f"Café no. {i % 7} in Street {i}, {i % 7}!" for i in range(100)]
    table = pa.table(
        {
            "id": np.arange(102),
            "text": [*texts, "?!", None],
            "lon": [*rng.uniform(5, 15, 100), 0.0, 0.0],
            "lat": [*rng.uniform(45, 55, 100), 0.0, 0.0],
        }
    )
    pq.write_table(table, tmp_path / "tweets_geo.parquet")
    return tmp_path


def test_real_texts_become_the_same_tables(folder, monkeypatch) -> None:
    monkeypatch.setenv("NEARCAST_DATA", str(folder))
    source = open_source("tweets_geo", None, 1)
    found = source.messages(80, find_group("short-point"))
    assert found.schema == messages(find_preset("tweets"), 1, 1).schema
    assert all(row[:2] == ["café", "no"] for row in found.column("tokens").to_pylist())
    assert found.column("lon").to_pylist()[:30] == found.column("lon").to_pylist()[50:]
    subscribed = source.subscriptions(120)
    assert subscribed.schema == subscriptions(find_preset("tweets"), 1, 1).schema
    rows = subscribed.to_pylist()
    again = [i for i in range(50, 100) if rows[i]["keywords"] != rows[i - 50]["keywords"]]
    assert len(again) > 25
    assert box_columns(subscribed).min(axis=0) == pytest.approx([5, 45, 5, 45], abs=2)


def test_real_texts_that_are_not_there_are_named(folder, monkeypatch) -> None:
    monkeypatch.delenv("NEARCAST_DATA", raising=False)
    with pytest.raises(ValueError, match="give --data DIR or set NEARCAST_DATA"):
        open_source("tweets_geo", None, 1)
    with pytest.raises(FileNotFoundError, match=r"poi_wof_us\.parquet"):
        open_source("poi_wof_us", folder, 1)
    with pytest.raises(ValueError, match="no data set is called 'tweets'"):
        open_source("tweets", folder, 1)


def test_real_texts_are_joined_until_a_message_is_as_long_as_asked(folder) -> None:
    source = open_source("tweets_geo", folder, 1)
    for count in (1, 7, 40):
        rows = source.messages(30, Group(exact=count), first=3).column("tokens").to_pylist()
        assert [len(row) for row in rows] == [count] * 30
        assert all(len(set(row)) == count for row in rows)
    own = source.messages(30, Group(), first=3).column("tokens").to_pylist()
    assert all(row[: len(text)] == text for row, text in zip(rows, own, strict=True))
    most = source.messages(1, find_group("long-point")).column("tokens").to_pylist()[0]
    assert 40 < len(most) < 1_000  # all that there are


def test_of_real_texts_only_some_may_be_taken(folder) -> None:
    source = open_source("tweets_geo", folder, 1, most=10)
    assert len(source.texts.lengths) == 10
