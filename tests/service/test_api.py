"""The HTTP interface: subscriptions, messages, questions, errors, idempotency keys."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from service.harness import running, wait_for

from nearcast.service.http.schemas import PUBLISH_FIELDS, SUBSCRIBE_FIELDS

BOX = [0, 0, 1, 1]


def test_a_definition_comes_back_as_it_was_said(service) -> None:
    said = {"keywords": "Coffee AND (free OR sale) -decaf", "area": BOX, "metadata": {"team": 7}}
    service.subscribe("s1", **said)
    found = service.get("/v1/subscriptions/s1")
    assert {name: found[name] for name in said} == said
    assert found["owner"] == "default"


def test_a_message_reaches_a_subscription(service) -> None:
    service.subscribe("s1", keywords="coffee", area=BOX)
    assert service.publish("m1", "Free coffee!")["changes"] == 1
    (delivery,) = service.deliveries()
    assert (delivery["number"], delivery["id"]) == (1, "default-1")
    assert (delivery["subscription"], delivery["message"]) == ("s1", "m1")
    assert delivery["published"]["text"] == "Free coffee!"


def test_replacing_keeps_the_place_in_one_step(service) -> None:
    service.subscribe("s1", keywords="tea", area=BOX)
    answer = service.client.put("/v1/subscriptions/s1", json={"keywords": "coffee", "area": BOX})
    assert answer.status_code == 200, answer.text
    assert service.get("/v1/subscriptions/s1")["keywords"] == "coffee"
    assert service.publish("m1")["changes"] == 1
    wrong = service.client.put("/v1/subscriptions/s1", json={"keywords": "("})
    assert wrong.status_code == 422
    assert service.get("/v1/subscriptions/s1")["keywords"] == "coffee"


def test_moving_changes_the_area_and_what_is_said(service) -> None:
    service.subscribe("s1", keywords="coffee", area=BOX)
    service.post("/v1/subscriptions/s1/move", {"area": [10, 10, 11, 11]})
    assert service.publish("m1")["changes"] == 0
    assert service.get("/v1/subscriptions/s1")["area"] == [10, 10, 11, 11]
    found = service.get("/v1/subscriptions", params={"bbox": "10.5,10.5,10.6,10.6"})
    assert [one["id"] for one in found["subscriptions"]] == ["s1"]
    assert service.get("/v1/subscriptions", params={"bbox": "0,0,1,1"})["subscriptions"] == []


def test_what_has_ended_is_not_there(service) -> None:
    service.subscribe("s1", keywords="coffee")
    assert service.client.delete("/v1/subscriptions/s1").status_code == 200
    service.get("/v1/subscriptions/s1", status=404)
    assert service.client.delete("/v1/subscriptions/s1").status_code == 404


def test_listing_goes_page_by_page(service) -> None:
    lines = [{"id": f"s{n:02}", "keywords": "coffee", "owner": f"o{n % 3}"} for n in range(10)]
    assert all(one["status"] == 201 for one in service.lines("/v1/subscriptions", lines))
    found, after = [], None
    while True:
        query = {"limit": 4} | ({"after": after} if after else {})
        page = service.get("/v1/subscriptions", params=query)
        found += [(one["owner"], one["id"]) for one in page["subscriptions"]]
        after = page.get("next")
        if after is None:
            break
    assert len(found) == 10
    assert all(a < b for a, b in pairwise(found))
    mine = service.get("/v1/subscriptions", params={"owner": "o1"})["subscriptions"]
    assert {one["owner"] for one in mine} == {"o1"}
    assert len(mine) == 3


def test_each_line_of_a_bulk_has_its_own_result(service) -> None:
    lines = [
        {"id": "s1", "keywords": "coffee"},
        {"id": "s1", "keywords": "tea"},
        {"id": "s2", "keywords": "("},
        {"op": "move", "id": "s1", "area": BOX},
        {"op": "unsubscribe", "id": "s3"},
    ]
    answers = service.lines("/v1/subscriptions", lines)
    assert [(one["line"], one["status"]) for one in answers] == [
        (1, 201),
        (2, 409),
        (3, 422),
        (4, 200),
        (5, 404),
    ]
    assert "'s1'" in answers[1]["problem"]["detail"]
    assert "default/" not in json.dumps(answers)


def test_messages_in_bulk_are_published_in_order(service) -> None:
    service.subscribe("s1", keywords="coffee")
    lines = [{"id": f"m{n}", "text": "coffee", "at": [0, 0]} for n in range(1200)]
    lines[700] = {"id": "m700", "text": "coffee"}
    answers = service.lines("/v1/messages", lines)
    assert [one["line"] for one in answers] == list(range(1, 1201))
    assert [one["line"] for one in answers if one["status"] != 201] == [701]
    found = service.deliveries()
    assert [one["message"] for one in found] == [f"m{n}" for n in range(1200) if n != 700]
    assert [one["number"] for one in found] == list(range(1, 1200))


def test_errors_are_problem_details_with_four_parts(service) -> None:
    answer = service.client.post("/v1/messages", json={"id": "m", "text": "x", "at": [0, 95]})
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == answer.status_code == 422
    assert found["code"] == "invalid_message"
    assert found["field"] == "at"
    assert {"type", "title", "detail", "what", "got", "wanted"} <= set(found)


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("POST", "/v1/messages", {"content": b"{"}, 400),
        ("POST", "/v1/messages", {"content": b"\xff"}, 400),
        ("POST", "/v1/messages", {"json": [1]}, 400),
        ("POST", "/v1/messages", {"data": {"a": "b"}}, 415),
        ("GET", "/v1/nothing", {}, 404),
        ("GET", "/v1/messages", {}, 405),
        ("PUT", "/v1/match", {}, 405),
        ("GET", "/v1/deliveries?after=x", {}, 400),
        ("GET", "/v1/subscriptions?after=x", {}, 400),
        ("GET", "/v1/subscriptions?bbox=1,2", {}, 400),
        ("POST", "/v1/match", {"json": {"messages": 1}}, 400),
        ("POST", "/v1/subscriptions", {"json": {"id": "s", "keywords": "x", "owner": "a/b"}}, 400),
        ("POST", "/v1/subscriptions", {"json": {"id": "s", "keywords": "x", "wrong": 1}}, 422),
        ("POST", "/v1/subscriptions", {"json": {"id": "s", "keywords": "x", "noise": 1}}, 422),
        ("POST", "/v1/messages", {"json": {"text": "x", "at": [0, 0], "time": 9e10}}, 422),
    ],
)
def test_what_is_wrong_is_refused(sqlite, method, path, options, status) -> None:
    with running(sqlite) as service:
        answer = service.client.request(method, path, **options)
        assert answer.status_code == status, answer.text
        assert answer.json()["status"] == status


def test_limits_refuse_what_is_too_much(sqlite) -> None:
    limits = {"body_bytes": 1000, "metadata_bytes": 10, "bulk_lines": 3}
    limits |= {"expression_characters": 20, "corners": 5}
    with running(sqlite, limits=limits) as service:
        service.publish("m1", "x" * 2000, status=413)
        service.subscribe("s1", keywords="a" * 30, status=413)
        service.subscribe("s1", keywords="a", metadata={"a": "long enough"}, status=413)
        ring = [[[n, 0] for n in range(8)]]
        service.subscribe("s1", area={"type": "Polygon", "coordinates": ring}, status=413)
        answer = service.client.post(
            "/v1/messages", content="{}\n" * 9, headers={"content-type": "application/x-ndjson"}
        )
        assert answer.status_code == 413


def test_a_repeated_request_with_its_key_happens_once(service) -> None:
    service.subscribe("s1", keywords="coffee")
    key = {"headers": {"idempotency-key": "k1"}}
    body = {"id": "m1", "text": "coffee", "at": [0, 0]}
    first = service.post("/v1/messages", body, 201, **key)
    assert service.post("/v1/messages", body, 201, **key) == first
    assert len(service.deliveries()) == 1
    other = service.client.post("/v1/messages", json={**body, "id": "m2"}, **key)
    assert other.status_code == 422
    assert other.json()["code"] == "reused_idempotency_key"


def test_a_repeated_bulk_happens_once(service) -> None:
    service.subscribe("s1", keywords="coffee")
    lines = [{"id": f"m{n}", "text": "coffee", "at": [0, 0]} for n in range(700)]
    content = "\n".join(map(json.dumps, lines))
    headers = {"content-type": "application/x-ndjson", "idempotency-key": "bulk"}
    answers = [
        service.client.post("/v1/messages", content=content, headers=headers).text for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert len(service.deliveries()) == 700


def test_answers_survive_a_restart(database) -> None:
    key = {"headers": {"idempotency-key": "k1"}}
    body = {"id": "s1", "keywords": "coffee"}
    with running(database) as service:
        first = service.post("/v1/subscriptions", body, 201, **key)
    with running(database) as service:
        assert service.post("/v1/subscriptions", body, 201, **key) == first
        assert service.post("/v1/subscriptions", body, 409)["code"] == "duplicate_id"


def test_a_dry_run_tells_all_ids_and_why(service) -> None:
    service.subscribe("s1", keywords="coffee -decaf", area=BOX)
    service.subscribe("s2", keywords="tea", owner="anna")
    body = {
        "messages": [{"text": "coffee", "at": [0.5, 0.5]}, {"text": "tea", "at": [9, 9]}, {}],
        "explain": ["s1"],
    }
    first, second, third = service.post("/v1/match", body)["matches"]
    assert first["subscriptions"] == [{"owner": "default", "id": "s1"}]
    assert first["explain"][0]["matches"] is True
    assert second["subscriptions"] == [{"owner": "anna", "id": "s2"}]
    assert "lacks coffee" in second["explain"][0]["why"]
    assert third["problem"]["code"] == "invalid_message"
    assert service.deliveries() == []


def test_live_and_top_results_have_their_messages(database) -> None:
    with running(database, hub={"window_seconds": 3600}) as service:
        service.subscribe("s1", keywords="coffee", live=True)
        service.subscribe("t1", mode="top", keywords=["coffee"], at=[0, 0], k=1, alpha=0.5)
        service.subscribe("s2", keywords="coffee")
        service.publish("m1", "coffee here", (0, 0))
        service.publish("m2", "coffee there", (5, 5))
        held = service.get("/v1/subscriptions/s1/results")["results"]
        assert sorted(one["message"] for one in held) == ["m1", "m2"]
        assert {one["published"]["text"] for one in held} == {"coffee here", "coffee there"}
        (best,) = service.get("/v1/subscriptions/t1/results")["results"]
        assert best["message"] == "m1"
        assert best["score"] > 0
        service.get("/v1/subscriptions/s2/results", status=422)
        assert service.get("/v1/messages/m1")["text"] == "coffee here"
        assert service.client.delete("/v1/messages/m1").status_code == 200
        service.get("/v1/messages/m1", status=404)
        held = service.get("/v1/subscriptions/s1/results")["results"]
        assert [one["message"] for one in held] == ["m2"]


def test_a_draft_says_how_many_recent_messages_it_would_have_had(service) -> None:
    for number in range(5):
        service.publish(f"m{number}", "coffee" if number % 2 else "tea")
    found = service.post("/v1/subscriptions/draft", {"keywords": "coffee", "area": BOX})
    assert (found["matched"], found["of"]) == (2, 5)
    assert [one["id"] for one in found["newest"]] == ["m3", "m1"]
    assert service.get("/v1/stats")["subscriptions"] == 0


def test_a_new_version_of_a_message_replaces_it(database) -> None:
    with running(database, hub={"window_count": 10}) as service:
        service.subscribe("s1", keywords="coffee", live=True)
        body = {"text": "coffee", "at": [0, 0]}
        assert service.client.put("/v1/messages/m1", json=body).status_code == 201
        answer = service.client.put("/v1/messages/m1", json={**body, "text": "tea"}).json()
        assert (answer["id"], answer["changes"]) == ("m1", 1)
        kinds = [(one["change"], one["reason"]) for one in service.deliveries()]
        assert kinds == [("added", "published"), ("removed", "changed")]


def test_what_expires_goes_without_an_event(database) -> None:
    with running(database, hub={"window_seconds": 0.2}) as service:
        service.subscribe("s1", keywords="coffee", live=True)
        service.publish("m1")
        found = wait_for(lambda: [d for d in service.deliveries() if d["change"] == "removed"])
        assert [one["reason"] for one in found] == ["expired"]


def test_the_openapi_document_names_the_fields_of_events() -> None:
    from nearcast import events

    own = {"op", "id"}
    assert set(events._READERS["subscribe"].known) - own == set(SUBSCRIBE_FIELDS)
    assert set(events._READERS["publish"].known) - own == set(PUBLISH_FIELDS)
