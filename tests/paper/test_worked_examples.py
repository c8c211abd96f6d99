"""What the papers' worked examples say of single pairs, where the text alone tells both sides.

The figures with the full data are lost. What is left: keyword sets of some subscriptions and
messages, and whether they match by keywords.
"""

from __future__ import annotations

import pytest

import nearcast as nc

# [AP §3.1, Example 2 and Fig. 4]: s1 = {w1, w2}, s7 = {w3, w4}, m1 = {w2, w3, w4}
AP = {"s1": ["w1", "w2"], "s7": ["w3", "w4"]}
# [Rt §5.2, Example 8]: s1 has 32GB, AT&T, iphone4s; [Rt §3.1, Example 2]: the node of s4, s5, s6
# has the tokens iphone4s and verizon, and each of them has both (Examples 6 and 8).
RT = {
    "s1": ["32gb", "at", "t", "iphone4s"],
    "s4": ["verizon", "iphone4s"],
    "s5": ["verizon", "iphone4s"],
    "s6": ["verizon", "iphone4s"],
}


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes() if not kind.stands_for])
@pytest.mark.parametrize(
    ("subscriptions", "message", "expected"),
    [
        (AP, "w2 w3 w4", ["s7"]),  # m1
        (RT, "ipad2 AT&T 32GB 64GB", []),  # Example 3: all have iphone4s, the message has not
        (
            RT,
            "iphone4s ipad2 AT&T 64GB",
            [],
        ),  # Example 7: the idf order prunes s4 to s6
        (RT, "iphone4s verizon", ["s4", "s5", "s6"]),
        (RT, "iphone4s AT&T 32GB 64GB", ["s1"]),
    ],
)
def test_pairs_of_the_examples_match_as_the_text_says(
    kind, subscriptions, message, expected
) -> None:
    matcher = nc.Matcher(kind)
    for id_, keywords in subscriptions.items():
        matcher.subscribe(id_, keywords=keywords, area=[0, 0, 10, 10])
    assert sorted(matcher.match(message, at=(5, 5))) == expected
    assert matcher.match(message, at=(11, 5)) == []
