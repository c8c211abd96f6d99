"""The semantics of DESIGN.md, written a second time: slow, plain and without nearcast.

Every index, engine and pipeline is compared with this package. It must stay independent, so it
imports only the standard library, and it recomputes everything after every event.
"""

from __future__ import annotations

from oracle.events import area_touches, matches, read_message, read_subscription
from oracle.fields import OracleRejects
from oracle.hub import Oracle, replay
from oracle.keywords import holds, plain_tokens, read_keywords
from oracle.scores import Weights, rank_score, top_score, units
from oracle.text import analyze

__all__ = [
    "Oracle",
    "OracleRejects",
    "Weights",
    "analyze",
    "area_touches",
    "holds",
    "matches",
    "plain_tokens",
    "rank_score",
    "read_keywords",
    "read_message",
    "read_subscription",
    "replay",
    "top_score",
    "units",
]
