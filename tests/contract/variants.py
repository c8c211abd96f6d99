"""Every kind of the registries, as users get it and with tiny nodes that split all the time.

`auto` stands for one of them and is not run again.
"""

from __future__ import annotations

import os
from typing import Any

import nearcast as nc

EXAMPLES = int(os.environ.get("NEARCAST_EXAMPLES", "25"))  # per kind; more for a long run
TOP_EXAMPLES = (EXAMPLES + 2) // 3  # there are many pairs of arrival and expiry

_TINY: dict[str, list[dict[str, Any]]] = {
    "sized-lists": [{"small_list": 4}, {"small_list": 4, "kernels": "plain"}],
    "rt-tree": [{"min_children": 2, "max_children": 4}],
    "ir-tree": [{"min_children": 2, "max_children": 4}],
    "rt++-tree": [{"min_children": 2, "max_children": 4}, {"min_children": 3, "max_children": 7}],
    "rt+-tree": [
        {"min_children": 2, "max_children": 4, "grid": 3},
        {"min_children": 2, "max_children": 5, "representative": "idf"},
        {"min_children": 2, "max_children": 4, "representative": "df"},
        {"min_children": 3, "max_children": 6, "representative": "random"},
    ],
    "mbr-trie": [
        {"reserve": 0, "repair": 0, "probe": "trie"},
        {"reserve": 0, "repair": 0.9, "probe": "token-set", "order": "frequent-first"},
    ],
    "iq-tree": [
        {"max_leaf": 1, "max_depth": 24, "copy_cost": 0},
        {"max_leaf": 3, "max_depth": 6, "copy_cost": 10000},
    ],
    "rq-tree": [
        {"max_leaf": 1, "max_depth": 24, "copy_cost": 0},
        {"max_leaf": 3, "max_depth": 6, "copy_cost": 10000},
    ],
    "iq+-tree": [
        {"max_leaf": 1, "max_depth": 24, "copy_cost": 0},
        {"max_leaf": 3, "max_depth": 6, "copy_cost": 10000},
    ],
    "rq+-tree": [
        {"max_leaf": 1, "max_depth": 24, "copy_cost": 0},
        {"max_leaf": 3, "max_depth": 6, "copy_cost": 10000},
    ],
    "ss-index": [{"cells": 3}],
    "kk-index": [{"cells": 3}],
    "trie-qd": [
        {"max_leaf": 1, "max_depth": 24, "copy_cost": 0},
        {"max_leaf": 3, "max_depth": 6, "copy_cost": 10000},
    ],
    "pt-quadtree": [
        {"max_leaf_size": 2},
        {"max_leaf_size": 3, "max_copies": 1, "pivot": "rare", "cover": True},
        {"max_leaf_size": 2, "max_copies": 1000, "min_area": 100},
    ],
    "lfilter": [
        {"reserve": 0, "repair": 0, "max_leaf_size": 2, "filter": "trie"},
        {"reserve": 0, "repair": 0.9, "max_leaf_size": 2, "filter": "quadtree", "verify": "prune"},
        {"max_leaf_size": 2, "max_copies": 1, "filter": "quadtree", "verify": "direct"},
    ],
    "spatial-first": [{"min_children": 2, "max_children": 4}],
    "ap-tree": [
        {"max_children": 4, "max_leaf_size": 2},
        {"max_children": 4, "max_leaf_size": 2, "max_rebuild": 1, "min_rebuild_share": 0},
        {"max_children": 3, "max_leaf_size": 1, "keyword_partition": "optimal"},
        {"max_children": 6, "max_leaf_size": 2, "priority": "keyword", "rebuild": False},
        {"max_children": 4, "max_leaf_size": 2, "priority": "spatial"},
        {"max_children": 4, "max_leaf_size": 2, "max_cuts": 9, "order": "rare-first"},
    ],
    "ap+-tree": [
        {"max_children": 4, "max_leaf_size": 2},
        {"max_children": 4, "max_cuts": 0, "max_leaf_size": 2, "order": "frequent-first"},
        {"max_children": 3, "max_cuts": 0, "max_leaf_size": 1, "max_load": 4, "max_copies": 2},
        {"max_children": 4, "max_leaf_size": 2, "max_rebuild": 1, "min_rebuild_share": 0},
        {"max_children": 4, "max_leaf_size": 2, "messages": "keyword", "cells": 3},
        {"max_children": 4, "max_leaf_size": 2, "messages": "space", "cells": 3},
    ],
}


def variants() -> list[tuple[str, dict[str, Any]]]:
    """Return (kind, parameters) pairs."""
    kinds = [kind.name for kind in nc.indexes() if not kind.stands_for]
    return [(kind, parameters) for kind in kinds for parameters in ({}, *_TINY.get(kind, []))]


def rank_variants() -> list[tuple[str, dict[str, Any]]]:
    """Return those that rank themselves, and one that `auto` stands in for."""
    able = {kind.name for kind in nc.indexes() if "rank" in kind.capabilities}
    return [variant for variant in variants() if variant[0] in able] + [("lfilter", {})]


def moving_variants() -> list[tuple[str, dict[str, Any]]]:
    """Return those that keep messages themselves, and some that `auto` does it for."""
    able = {kind.name for kind in nc.indexes() if "moving" in kind.capabilities} | {"sized-lists"}
    return [variant for variant in variants() if variant[0] in able] + [("ap-tree", {})]


# What is rare with many subscriptions happens all the time; also without vector instructions.
_TINY_TOP: list[dict[str, Any]] = [
    {
        "most_short": 1,
        "frequent_messages": 1,
        "max_cell": 1,
        "alpha_groups": 16,
        "cell_divisions": 8,
    },
    {
        "most_short": 2,
        "frequent_messages": 2,
        "most_long_tokens": 2,
        "max_cell": 3,
        "alpha_groups": 2,
        "cell_divisions": 1,
        "kernels": "plain",
    },
]
_TINY_EXPIRY: dict[str, list[dict[str, Any]]] = {
    "slack": [{"slack_kept": 0, "slack_limit": 1, **_TINY_TOP[0]}],
    "kmax": [{"kmax_factor": 1.5}],
    "skyband": [{"skyband_share": 0}, {"skyband_share": 1}],
}


def top_variants() -> list[dict[str, Any]]:
    """Return settings of a hub: every kind of arrival, every kind of expiry."""
    arrivals = [
        {"topk": kind.name, "topk_parameters": parameters}
        for kind in nc.topk_kinds()
        if not kind.stands_for
        for parameters in ({}, *_TINY_TOP)
    ]
    pairs = [
        {"topk": arrival, "expiry": expiry.name, "topk_parameters": parameters}
        for arrival in ("bounded-lists", "igpt")  # thresholds move in both, in ways of their own
        for expiry in nc.expiry_kinds()
        if not expiry.stands_for
        for parameters in (
            {},
            *(_TINY_EXPIRY.get(expiry.name, []) if arrival == "bounded-lists" else ()),
        )
    ]
    searches = [
        {
            "topk": "bounded-lists",
            "expiry": expiry,
            "topk_parameters": {"search": "ir-tree", **children},
        }
        for expiry, children in (("naive", {"ir_tree_children": 4}), ("skyband", {}))
    ]
    return arrivals + pairs + searches


def top_name(settings: dict[str, Any]) -> str:
    """Return a readable name for test reports."""
    kinds = [settings[part] for part in ("topk", "expiry") if part in settings]
    parameters = settings["topk_parameters"]
    if parameters in _TINY_TOP:
        return f"{'+'.join(kinds)},tiny={_TINY_TOP.index(parameters)}"
    return name_of(("+".join(kinds), parameters))


def name_of(variant: tuple[str, dict[str, Any]]) -> str:
    """Return a readable name for test reports."""
    kind, parameters = variant
    return kind + "".join(f",{name}={value}" for name, value in parameters.items())
