"""What the examples of [Skype §7.3] say without their figures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from nearcast.events import Subscribe, event_from
from nearcast.partition import Plan, wants_of_events
from nearcast.partition.wants import text_share

# Figure 8 is lost; the prose leaves ten words in four bolts, and where s and m go. Any words that
# fit will do: s has words of bolts 1, 2 and 3, m of bolts 3 and 4, and they share one of bolt 3.
WORDS = [f"w{i}" for i in range(1, 11)]
HOMES = np.array([[0, 0, 0, 1, 1, 2, 2, 2, 3, 3]], np.int32)


def plan(mechanism):
    # The most frequent word comes first in a plan, the rarest in a prefix.
    return Plan(mechanism, "top", 4, pa.array(WORDS[::-1]), HOMES[:, ::-1])


def subscription():
    fields = {"op": "subscribe", "id": "s", "mode": "top", "keywords": ["w1", "w2", "w4", "w7"]}
    event = event_from({**fields, "at": [0, 0], "alpha": 0.6, "k": 1})
    assert isinstance(event, Subscribe)
    return wants_of_events([event], "top")


def bolts(hits):
    return (np.flatnonzero(hits[0]) + 1).tolist()


def test_example_7_all_words_of_the_subscription_say_where_it_goes() -> None:
    message = pa.table({"tokens": [["w7", "w9"]], "lon": [0.0], "lat": [0.0]})
    assert bolts(plan("keyword").place(subscription(), pa.array(["s"]))) == [1, 2, 3]
    assert bolts(plan("keyword").route(message)) == [3, 4]


def test_example_8_the_loose_prefix_keeps_the_two_apart() -> None:
    share = text_share(np.array([0.6]), np.array([0.8]))
    assert share.round(6) == 0.5
    # Four words of equal weight and unit length: two of them leave sqrt(1/2), three leave 1/2.
    # With the paper's sums {w1, w2} leave less than 0.5; here weights are ours, so the score is
    # raised until two words are the prefix.
    wants = subscription().with_shares(text_share(np.array([0.6]), np.array([0.9])))
    assert bolts(plan("prefix").place(wants, pa.array(["s"]))) == [1]
