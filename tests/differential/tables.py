"""Matchers against the reference: subscriptions in tables and singly, messages in batches."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from differential.cases import Case, Difference, Step, difference
from differential.match_sets import MatchSet, Text, Wish
from differential.reference import RankSet, Scorer
from oracle.events import read_message, read_subscription
from oracle.scores import Weights
from oracle.text import analyze

import nearcast as nc

SIDES = ("west", "south", "east", "north")
Answer = list[tuple[Any, ...]] | None


# ---- what is right -------------------------------------------------------------------------------


def expect(case: Case) -> list[Answer]:
    """Return the answers of each step; None for those that ask nothing."""
    truth = _RankTruth() if case["settings"].get("mode") == "rank" else _MatchTruth()
    return [truth.take(step) for step in case["steps"]]


class _MatchTruth:
    def __init__(self) -> None:
        self.held = MatchSet()

    def take(self, step: Step) -> Answer:
        if step["do"] == "table":
            for row in step["rows"]:
                read = read_subscription({**row, "op": "subscribe", "id": "s"})
                if "keywords" in row:  # as given, not analysed
                    read = replace(read, keywords=("words", frozenset(row["keywords"])))
                self.held.add(row["id"], Wish(read))
        elif step["do"] == "single":
            for row in step["rows"]:
                read = read_subscription({**row, "op": "subscribe", "id": "s"})
                self.held.add(row["id"], Wish(read))
        elif step["do"] == "drop":
            for id_ in step["rows"]:
                self.held.remove(id_)
        elif step["do"] == "match":
            return sorted(
                (number, id_)
                for number, row in enumerate(step["rows"])
                for id_ in self._matched(row)
            )
        return None

    def _matched(self, row: dict[str, Any]) -> list[Any]:
        message = read_message({**row, "op": "publish", "id": "m"})
        return self.held.match(message, Text(message.text))


class _RankTruth:
    def __init__(self) -> None:
        self.held = RankSet()
        self.scorer = Scorer(None)

    def take(self, step: Step) -> Answer:
        if step["do"] in ("table", "single"):
            for row in step["rows"]:
                event = {**row, "op": "subscribe", "mode": "rank"}
                self.held.add(read_subscription(event))
        elif step["do"] == "drop":
            for id_ in step["rows"]:
                self.held.remove(id_)
        elif step["do"] == "weights":
            given = step["weights"]
            self.scorer = Scorer(given and Weights(given["documents"], given["df"]))
        elif step["do"] == "match":
            return sorted(
                (number, id_, score)
                for number, row in enumerate(step["rows"])
                for id_, score in self.held.rank(
                    read_message({**row, "op": "publish", "id": "m"}), self.scorer
                ).items()
            )
        return None


# ---- what the core says --------------------------------------------------------------------------


def run(case: Case, expected: list[Answer], kind: str, parameters: dict[str, Any]) -> None:
    """Take all steps with one kind of index; raise `Difference`."""
    mode = case["settings"].get("mode", "match")
    matcher = nc.Matcher(kind, mode=mode, index_parameters=parameters)
    with tempfile.TemporaryDirectory() as folder:
        for number, (step, truth) in enumerate(zip(case["steps"], expected, strict=True)):
            if step["do"] == "save":
                path = Path(folder) / f"snapshot{number}"
                matcher.save(path)
                matcher = nc.Matcher.open(path, verify=step["verify"])
            else:
                found = _take(matcher, step, mode)
                if truth is not None:
                    _compare(f"{kind} {parameters} step {number}", found or [], truth)
        matcher.check_invariants()


def _compare(where: str, found: list[tuple[Any, ...]], truth: list[tuple[Any, ...]]) -> None:
    found.sort()
    if [row[:2] for row in found] != [row[:2] for row in truth]:
        raise difference(where, [row[:2] for row in found], [row[:2] for row in truth])
    for one, other in zip(found, truth, strict=True):
        if len(one) == 3 and abs(one[2] - other[2]) > 1e-11:
            raise Difference(f"{where}: score {one}, expected {other}")


def _take(matcher: nc.Matcher, step: Step, mode: str) -> Answer:
    rows = step.get("rows", [])
    if step["do"] == "table" and rows:
        matcher.subscribe_table(_subscriptions(rows, mode))
    elif step["do"] == "single":
        for row in rows:
            terms = {
                name: row[name]
                for name in ("keywords", "area", "alpha", "threshold", "where")
                if name in row
            }
            if "except" in row:
                terms["except_"] = row["except"]
            matcher.subscribe(row["id"], **terms)
    elif step["do"] == "drop":
        if step["bulk"]:
            matcher.unsubscribe_table(rows)
        else:
            for id_ in rows:
                matcher.unsubscribe(id_)
    elif step["do"] == "weights":
        given = step["weights"]
        matcher.set_weights(given and nc.Weights(given["documents"], given["df"]))
    elif step["do"] == "learn" and rows:
        matcher.learn_table(_messages(rows, "text"))
    elif step["do"] == "check":
        matcher.check_invariants()
    elif step["do"] == "match":
        return _answers(matcher, step, mode)
    return None


def _answers(matcher: nc.Matcher, step: Step, mode: str) -> list[tuple[Any, ...]]:
    rows = step["rows"]
    if step["form"] == "single":
        found: list[tuple[Any, ...]] = []
        for number, row in enumerate(rows):
            names = ("at", "bbox", "attributes")
            place = {name: row[name] for name in names if name in row}
            if mode == "rank":
                found += [(number, *pair) for pair in matcher.rank(row["text"], **place)]
            else:
                found += [(number, id_) for id_ in matcher.match(row["text"], **place)]
        return found
    ask_table = matcher.match_table if mode == "match" else matcher.rank_table
    found = []
    # A table has points or boxes.
    for name in ("at", "bbox"):
        numbers = [number for number, row in enumerate(rows) if name in row]
        if numbers:
            table = ask_table(_messages([rows[number] for number in numbers], step["form"]))
            columns = table.to_pydict()
            columns["message"] = [numbers[row] for row in columns["message"]]
            found += zip(*columns.values(), strict=True)
    return found


def _lists(words: list[list[str] | None], *, is_coded: bool = False) -> pa.Array:
    plain = pa.array(words, pa.list_(pa.string()))
    if not is_coded:
        return plain
    codes = plain.values.dictionary_encode()
    return pa.ListArray.from_arrays(plain.offsets, codes, mask=plain.is_null())


def _sides(boxes: list[list[float] | None]) -> dict[str, pa.Array]:
    return {
        side: pa.array([None if box is None else float(box[i]) for box in boxes], pa.float64())
        for i, side in enumerate(SIDES)
    }


def _subscriptions(rows: list[dict[str, Any]], mode: str) -> pa.Table:
    columns = {
        "id": [row["id"] for row in rows],
        "keywords": _lists([row.get("keywords") for row in rows], is_coded=len(rows) % 2 == 0),
        **_sides([row.get("area") for row in rows]),
    }
    if any("where" in row for row in rows):
        columns["where"] = pa.array([row.get("where") for row in rows], pa.string())
    if mode == "rank":
        for name in ("alpha", "threshold"):
            columns[name] = pa.array([float(row[name]) for row in rows], pa.float64())
    return pa.table(columns)


def _messages(rows: list[dict[str, Any]], form: str) -> pa.Table:
    """Return a table of messages that all are points, or boxes."""
    texts = [row["text"] for row in rows]
    if form == "text":
        columns = {"text": pa.array(texts, pa.string())}
    else:
        columns = {"tokens": _lists([analyze(text) for text in texts], is_coded=form == "coded")}
    if any("attributes" in row for row in rows):
        given = [json.dumps(row.get("attributes", {})) for row in rows]
        columns["attributes"] = pa.array(given, pa.string())
    if "at" in rows[0] and all("at" in row for row in rows):
        for i, name in enumerate(("lon", "lat")):
            columns[name] = pa.array([float(row["at"][i]) for row in rows], pa.float64())
        return pa.table(columns)
    boxes = [row["bbox"] if "bbox" in row else row["at"] * 2 for row in rows]
    return pa.table(columns | _sides(boxes))
