"""Generators of events, with few distinct values: borders, ties and equal words are common.

Everything is JSON-able.
"""

from __future__ import annotations

from strategies.attributes import attributes, wheres, wild_wheres
from strategies.events import (
    PLACES_OF_MODE,
    accepted,
    bad_lines,
    event_logs,
    message_ids,
    ndjson,
    publish_events,
    subscribe_events,
    subscription_ids,
)
from strategies.settings import analyzer_of, weights, weights_of, window_of, windows
from strategies.space import (
    areas,
    bboxes,
    circles,
    coordinates,
    message_places,
    polygons,
    simple_areas,
)
from strategies.text import (
    expressions,
    free_expressions,
    keyword_lists,
    stop_words,
    texts,
    tokens,
    wild_expressions,
    words,
)

__all__ = [
    "PLACES_OF_MODE",
    "accepted",
    "analyzer_of",
    "areas",
    "attributes",
    "bad_lines",
    "bboxes",
    "circles",
    "coordinates",
    "event_logs",
    "expressions",
    "free_expressions",
    "keyword_lists",
    "message_ids",
    "message_places",
    "ndjson",
    "polygons",
    "publish_events",
    "simple_areas",
    "stop_words",
    "subscribe_events",
    "subscription_ids",
    "texts",
    "tokens",
    "weights",
    "weights_of",
    "wheres",
    "wild_expressions",
    "wild_wheres",
    "window_of",
    "windows",
    "words",
]
