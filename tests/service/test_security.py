"""Keys, roles, owners, rates, origins, public addresses, headers; no secrets where they leak."""

from __future__ import annotations

import logging

import httpx
import pytest
from service.harness import running, wait_for

from nearcast import InvalidParameterError
from nearcast.cli.__main__ import main
from nearcast.service.process import check_access
from nearcast.service.schema import API_KEYS
from nearcast.service.settings import read_settings

ADMIN = "an-admin-key-of-some-length"


def client_of(service, key):
    return httpx.Client(
        base_url=service.url, headers={"authorization": f"Bearer {key}"}, timeout=60
    )


@pytest.fixture
def guarded(database):
    with running(database, admin_key=ADMIN) as service:
        service.client.headers["authorization"] = f"Bearer {ADMIN}"
        yield service


def make_key(service, *roles, owner=None):
    body = {"roles": list(roles), "owner": owner}
    return service.post("/v1/keys", body, 201)


def test_without_a_key_nothing_is_allowed(guarded) -> None:
    with httpx.Client(base_url=guarded.url) as stranger:
        for path in ("/v1/stats", "/v1/subscriptions", "/v1/stream", "/metrics", "/v1/keys"):
            answer = stranger.get(path)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"].startswith("Bearer")
        assert stranger.post("/v1/messages", json={}).status_code == 401
        assert stranger.get("/healthz").status_code == 200
        wrong = stranger.get("/v1/stats", headers={"authorization": "Bearer nc_x_y"})
        assert wrong.status_code == 401


def test_roles_allow_what_they_say_and_no_more(guarded) -> None:
    keys = {
        role: make_key(guarded, role, owner="anna")["key"]
        for role in ("publish", "subscribe", "read")
    }
    message = {"text": "coffee", "at": [0, 0]}
    subscription = {"keywords": "coffee"}
    wanted = {
        "publish": (201, 403, 403, 403),
        "subscribe": (403, 201, 403, 403),
        "read": (403, 403, 200, 403),
    }
    for role, statuses in wanted.items():
        with client_of(guarded, keys[role]) as client:
            found = (
                client.post("/v1/messages", json=message).status_code,
                client.post("/v1/subscriptions", json=subscription).status_code,
                client.get("/v1/stats").status_code,
                client.get("/v1/keys").status_code,
            )
        assert found == statuses, role


def test_a_subscriber_sees_only_its_own(guarded) -> None:
    anna = make_key(guarded, "subscribe", owner="anna")["key"]
    guarded.subscribe("s1", keywords="coffee", owner="ben")
    guarded.subscribe("s1", keywords="coffee", owner="anna")
    guarded.publish("m1")
    with client_of(guarded, anna) as client:
        assert [d["owner"] for d in client.get("/v1/deliveries").json()["deliveries"]] == ["anna"]
        listed = client.get("/v1/subscriptions").json()["subscriptions"]
        assert {one["owner"] for one in listed} == {"anna"}
        asked = {"owner": "ben"}
        assert client.get("/v1/deliveries", params=asked).status_code == 403
        assert client.get("/v1/stream", params=asked).status_code == 403
        assert client.get("/v1/subscriptions/s1", params=asked).status_code == 403
        assert client.get("/v1/subscriptions", params=asked).status_code == 403
        assert client.delete("/v1/subscriptions/s1", params=asked).status_code == 403
        body = {"keywords": "x", "owner": "ben"}
        assert client.post("/v1/subscriptions", json=body).status_code == 403
        body = {"url": "https://example.org", "owner": "ben"}
        assert client.post("/v1/endpoints", json=body).status_code == 403
        dry = {"messages": [{"text": "coffee", "at": [0, 0]}]}
        (found,) = client.post("/v1/match", json=dry).json()["matches"]
        assert {one["owner"] for one in found["subscriptions"]} == {"anna"}


def test_keys_come_and_go_without_a_restart(guarded) -> None:
    made = make_key(guarded, "read")
    with client_of(guarded, made["key"]) as client:
        assert client.get("/v1/stats").status_code == 200
        assert guarded.client.delete(f"/v1/keys/{made['id']}").status_code == 200
        assert client.get("/v1/stats").status_code == 401
    assert made["key"] not in guarded.client.get("/v1/keys").text


def test_a_key_is_hashed_at_rest(guarded) -> None:
    headers = {"idempotency-key": "once"}
    made = guarded.post("/v1/keys", {"roles": ["read"]}, 201, headers=headers)
    again = guarded.post("/v1/keys", {"roles": ["read"]}, 201, headers=headers)
    assert again["id"] == made["id"]
    assert "key" not in again
    secret = made["key"].rpartition("_")[2]
    for table in API_KEYS.metadata.sorted_tables:
        for row in guarded.service.store.rows(table.select()):
            assert secret not in str(row._mapping)


def test_the_command_line_makes_keys_that_a_running_service_learns(sqlite, capsys) -> None:
    with running(sqlite, admin_key=ADMIN) as service:
        create = ["keys", "create", "--database", sqlite, "--role", "read", "--name", "grafana"]
        assert main(create) == 0
        key = capsys.readouterr().out.strip()
        with client_of(service, key) as client:
            wait_for(lambda: client.get("/v1/stats").status_code == 200)
        assert main(["keys", "list", "--database", sqlite]) == 0
        assert "grafana" in capsys.readouterr().out
        id = key.split("_")[1]
        assert main(["keys", "remove", "--database", sqlite, id]) == 0
        with client_of(service, key) as client:
            wait_for(lambda: client.get("/v1/stats").status_code == 401)


def test_a_key_has_a_rate(sqlite) -> None:
    limits = {"requests_per_second": 5, "events_per_second": 10}
    with running(sqlite, admin_key=ADMIN, limits=limits) as service:
        service.client.headers["authorization"] = f"Bearer {ADMIN}"
        answers = [service.client.get("/healthz") for _ in range(20)]
        assert {answer.status_code for answer in answers} == {200}
        answers = [service.client.get("/v1/stats") for _ in range(30)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert int(refused[0].headers["retry-after"]) >= 1


def test_pages_of_other_sites_are_refused(sqlite) -> None:
    with running(sqlite) as service:
        body = {"text": "coffee", "at": [0, 0]}
        evil = {"origin": "https://evil.example"}
        assert service.client.post("/v1/messages", json=body, headers=evil).status_code == 403
        own = {"origin": service.url}
        assert service.client.post("/v1/messages", json=body, headers=own).status_code == 201


def test_answers_have_security_headers(sqlite) -> None:
    with running(sqlite) as service:
        headers = service.client.get("/v1/stats").headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "server" not in headers
        assert (
            service.client.get("/healthz", headers={"x-request-id": "abc-1"}).headers[
                "x-request-id"
            ]
            == "abc-1"
        )


def test_a_public_address_needs_keys(sqlite) -> None:
    with running(sqlite) as service:
        public = read_settings(None, {}, database=sqlite, listen="0.0.0.0:8080")
        with pytest.raises(InvalidParameterError, match="no keys"):
            check_access(public, service.service)
        check_access(read_settings(None, {}, listen="127.0.0.1:80"), service.service)
        check_access(read_settings(None, {}, listen="[::1]:80"), service.service)
        check_access(
            read_settings(None, {}, listen="0.0.0.0:80", open_access=True), service.service
        )


def test_no_secrets_in_logs(sqlite, caplog) -> None:
    with caplog.at_level(logging.DEBUG), running(sqlite, admin_key=ADMIN) as service:
        service.client.headers["authorization"] = f"Bearer {ADMIN}"
        key = make_key(service, "subscribe", owner="anna")["key"]
        with client_of(service, key) as client:
            client.post("/v1/endpoints", json={"url": "http://10.0.0.1/?token=hush"})
            client.post("/v1/subscriptions", content=b"{", headers={"x-request-id": "r1"})
            with client.stream("GET", "/v1/stream", params={"key": key}) as stream:
                next(stream.iter_lines())
    ours = "".join(
        f"{r.getMessage()} {getattr(r, 'fields', '')}"
        for r in caplog.records
        if r.name.startswith("nearcast")
    )
    assert "r1" in ours
    assert ADMIN not in ours
    assert key.rpartition("_")[2] not in ours
