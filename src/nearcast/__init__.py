"""Saved searches with a place, matched the moment something happens.

Examples
--------
>>> import nearcast as nc
>>> hub = nc.Hub()
>>> hub.subscribe("s1", keywords="coffee", area=nc.Circle((-73.98, 40.75), 800))
[]
>>> [change.subscription for change in hub.publish("m1", "Coffee!", at=(-73.9836, 40.7536))]
['s1']
"""

from importlib.metadata import version

from nearcast.definition import Definition
from nearcast.errors import (
    CapacityError,
    DuplicateIdError,
    ExpressionError,
    InternalError,
    InvalidEventError,
    InvalidMessageError,
    InvalidParameterError,
    InvalidSubscriptionError,
    KeepsNothingWarning,
    NearcastError,
    NotCopyableError,
    SnapshotError,
    UnknownIdError,
    UnsupportedError,
)
from nearcast.explain import Explanation, Reason
from nearcast.explain_score import ScoreExplanation
from nearcast.hub import Hub, expiry_kinds, topk_kinds
from nearcast.matcher import Matcher, indexes
from nearcast.model import (
    Areas,
    Bbox,
    Change,
    Circle,
    Clause,
    MultiPolygon,
    Polygon,
    Promise,
    Window,
)
from nearcast.safe_region import SafeRegion
from nearcast.text import Analyzer
from nearcast.weights import Weights, read_weights

__version__ = version("nearcast")

__all__ = [
    "Analyzer",
    "Areas",
    "Bbox",
    "CapacityError",
    "Change",
    "Circle",
    "Clause",
    "Definition",
    "DuplicateIdError",
    "Explanation",
    "ExpressionError",
    "Hub",
    "InternalError",
    "InvalidEventError",
    "InvalidMessageError",
    "InvalidParameterError",
    "InvalidSubscriptionError",
    "KeepsNothingWarning",
    "Matcher",
    "MultiPolygon",
    "NearcastError",
    "NotCopyableError",
    "Polygon",
    "Promise",
    "Reason",
    "SafeRegion",
    "ScoreExplanation",
    "SnapshotError",
    "UnknownIdError",
    "UnsupportedError",
    "Weights",
    "Window",
    "__version__",
    "expiry_kinds",
    "indexes",
    "read_weights",
    "topk_kinds",
]
