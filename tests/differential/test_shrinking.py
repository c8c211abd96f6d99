"""What fails is made as small as it can be."""

from __future__ import annotations

from typing import Any

from differential.cases import rows_in, written
from differential.shrinking import fails_in_a_process, shrink


def ids(case: dict[str, Any]) -> list[str]:
    return [row["id"] for step in case["steps"] if step["do"] == "single" for row in step["rows"]]


def case_of(count: int) -> dict[str, Any]:
    rows = [{"id": f"s{number}", "keywords": ["a"]} for number in range(count)]
    steps: list[dict[str, Any]] = [
        {"do": "single", "rows": rows[: count // 2]},
        {"do": "check"},
        {"do": "single", "rows": rows[count // 2 :]},
        {"do": "drop", "bulk": True, "rows": [row["id"] for row in rows]},
        {"do": "match", "form": "text", "rows": [{"text": "a", "at": [0, 0]}]},
    ]
    return {"driver": "tables", "settings": {}, "steps": steps}


def test_only_the_rows_that_matter_are_left() -> None:
    least = shrink(case_of(100), lambda case: {"s7", "s93"} <= set(ids(case)), seconds=60)
    assert ids(least) == ["s7", "s93"]
    assert rows_in(least) == 2
    assert written(least).count('"id"') == 2


def test_what_is_not_there_is_not_erased() -> None:
    least = shrink(case_of(20), lambda case: "s3" in ids(case) and rows_in(case) > 3, seconds=60)
    erased = [row for step in least["steps"] if step["do"] == "drop" for row in step["rows"]]
    assert set(erased) <= set(ids(least))


def test_a_case_is_taken_in_a_process_of_its_own() -> None:
    case = {**case_of(4), "use": "match", "variant": ["auto", {}]}
    assert not fails_in_a_process(case)
    assert fails_in_a_process({**case, "variant": ["no such kind", {}]})
