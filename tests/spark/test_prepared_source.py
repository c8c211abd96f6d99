"""What Spark has prepared is what experiments measure with."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from nearcast.bench.paper.experiment import Matching
from nearcast.bench.paper.sources import Shelf
from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.prepared import open_prepared
from nearcast.bench.workloads.presets import find_preset
from nearcast.cli.spark_runs import _message_rows, _subscription_rows
from nearcast.errors import InvalidParameterError
from nearcast.spark.prepare import generate_rows, prepare_messages, prepare_subscriptions

pytestmark = pytest.mark.spark

COUNT = 300


@pytest.fixture(scope="module")
def folder(session, tmp_path_factory):
    """Messages and subscriptions of a preset, prepared."""
    out = tmp_path_factory.mktemp("prepared")
    preset = find_preset("places")
    messages = generate_rows(session, partial(_message_rows, preset, 1), COUNT)
    prepare_messages(messages, out / "messages")
    subscriptions = generate_rows(session, partial(_subscription_rows, preset, 1), COUNT)
    prepare_subscriptions(subscriptions, out / "subscriptions")
    return out


def test_prepared_tables_are_a_source_with_statistics(folder) -> None:
    source = open_prepared(folder, 1)
    assert source.statistics["messages"] == COUNT
    assert source.statistics["refused"] == 0
    messages = source.messages(COUNT // 2, Group())
    words = {word for row in messages.column("tokens").to_pylist() for word in row}
    assert 0 < len(words) <= source.statistics["vocabulary"]
    subscribed = source.subscriptions(COUNT)
    assert sorted(subscribed.column("id").to_pylist()) == list(range(COUNT))
    assert {len(row) for row in subscribed.column("keywords").to_pylist()} <= {1, 2, 3, 4, 5}
    more = source.subscriptions(2 * COUNT)
    assert more.num_rows == 2 * COUNT  # those beyond the table are drawn from texts


def test_other_keywords_and_areas_are_drawn_from_prepared_texts(folder) -> None:
    shelf = Shelf(prepared=folder)
    one = shelf.for_matching(Matching(keywords=(1, 1))).subscriptions(50)
    assert {len(row) for row in one.column("keywords").to_pylist()} == {1}
    wide = shelf.for_matching(Matching(area=0.25)).subscriptions(50)
    widths = wide.column("east").to_numpy() - wide.column("west").to_numpy()
    usual = shelf.for_matching(Matching()).subscriptions(50)
    assert np.median(widths) > 10 * np.median(
        usual.column("east").to_numpy() - usual.column("west").to_numpy()
    )


def test_a_folder_without_messages_is_refused(tmp_path) -> None:
    with pytest.raises(InvalidParameterError, match="no table is at"):
        open_prepared(tmp_path, 1)
