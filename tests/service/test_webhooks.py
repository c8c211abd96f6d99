"""Webhooks: CloudEvents, signatures, retries, dead letters, bad endpoints, forbidden addresses."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from service.harness import running, wait_for
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from nearcast import InvalidParameterError
from nearcast.service.delivery.addresses import AddressRule, CheckedResolver, RefusedAddressError
from nearcast.service.delivery.cloudevents import signature
from nearcast.service.delivery.signing_keys import SigningKeys
from nearcast.service.problems import MalformedError

ALLOW = {"allow": ["127.0.0.0/8"], "first_wait_seconds": 0.02, "attempts": 3}


class Receiver:
    """An endpoint that notes what it gets, and answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[int | str] = []
        self.default = 200
        self.hang = threading.Event()
        self.hang.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.hang.wait(60)
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.requests.append((self.path, headers, body))
                status = outer.answers.pop(0) if outer.answers else outer.default
                self.send_response(status if isinstance(status, int) else 307)
                if not isinstance(status, int):
                    self.send_header("location", status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def messages(self):
        return [json.loads(body)["data"]["message"] for _, _, body in self.requests]

    def close(self) -> None:
        self.hang.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def second():
    made = Receiver()
    yield made
    made.close()


def test_a_delivery_is_a_signed_cloudevent(database, receiver) -> None:
    with running(database, webhooks=ALLOW) as service:
        made = service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)
        service.subscribe("s1", keywords="coffee")
        service.publish("m1", "Free coffee!")
        wait_for(lambda: receiver.requests)
        _, headers, body = receiver.requests[0]
        assert headers["content-type"] == "application/cloudevents+json"
        event = Webhook(made["secret"]).verify(body, headers)
        assert event["specversion"] == "1.0"
        assert (event["id"], event["type"]) == ("default-1", "nearcast.change")
        assert event["data"]["published"]["text"] == "Free coffee!"
        shown = service.get("/v1/endpoints/e1")
        assert "secret" not in json.dumps(shown)
        wait_for(lambda: service.get("/v1/endpoints/e1")["delivered"] == 1)


def test_the_event_is_what_the_cloudevents_library_reads(sqlite, receiver) -> None:
    from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
    from cloudevents.core.formats.json import JSONFormat

    with running(sqlite, webhooks=ALLOW) as service:
        service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        wait_for(lambda: receiver.requests)
        _, headers, body = receiver.requests[0]
        event = from_structured_event(HTTPMessage(headers, body), JSONFormat())
        assert event.get_id() == "default-1"
        assert event.get_subject() == "s1"


def test_both_secrets_are_valid_while_one_is_rotated(sqlite, receiver) -> None:
    with running(sqlite, webhooks=ALLOW) as service:
        first = service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)["secret"]
        answer = service.client.patch("/v1/endpoints/e1", json={"rotate": True}).json()
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        wait_for(lambda: receiver.requests)
        _, headers, body = receiver.requests[0]
        for secret in (first, answer["secret"]):
            Webhook(secret).verify(body, headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(SigningKeys().make()).verify(body, headers)


KEY, OTHER = "k" * 32, "o" * 32


def everything_in(service):
    from nearcast.service.schema import METADATA

    store = service.service.store
    return str([store.rows(table.select()) for table in METADATA.tables.values()])


def test_with_a_key_the_database_does_not_hold_the_secret(database, receiver) -> None:
    with running(database, webhooks=ALLOW, secret_key=KEY) as service:
        body, headers = {"id": "e1", "url": receiver.url}, {"idempotency-key": "once"}
        secret = service.post("/v1/endpoints", body, 201, headers=headers)["secret"]
        service.subscribe("s1", keywords="coffee")
        assert secret.removeprefix("whsec_") not in everything_in(service)
    with running(database, webhooks=ALLOW, secret_key=OTHER, secret_key_before=KEY) as service:
        service.publish("m1")
        wait_for(lambda: receiver.requests)
        _, headers, content = receiver.requests[0]
        Webhook(secret).verify(content, headers)
        rotated = service.client.patch("/v1/endpoints/e1", json={"rotate": True}).json()["secret"]
        assert rotated.removeprefix("whsec_") not in everything_in(service)
    with pytest.raises(InvalidParameterError, match="key that is not set"):
        start(database, secret_key=OTHER)


def start(database, **settings) -> None:
    with running(database, webhooks=ALLOW, **settings):
        pass


def test_without_a_key_secrets_are_plain_and_the_log_says_so(sqlite, receiver, caplog) -> None:
    with running(sqlite, webhooks=ALLOW) as service:
        made = service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)
        assert made["secret"] in everything_in(service)
    start(sqlite)
    assert "secrets of 1 endpoints are stored in plain text: set secret_key" in caplog.text
    caplog.clear()
    with running(sqlite, webhooks=ALLOW, secret_key=KEY) as service:
        for _ in range(2):
            service.client.patch("/v1/endpoints/e1", json={"rotate": True})
    start(sqlite, secret_key=KEY)
    assert "plain text: rotate" in caplog.text  # once, at the start before both rotations
    assert caplog.text.count("plain text") == 1


def test_a_failure_is_repeated_in_order(sqlite, receiver) -> None:
    receiver.answers = [500, 429]
    with running(sqlite, webhooks=ALLOW) as service:
        service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        service.publish("m2")
        wait_for(lambda: len(receiver.requests) == 4)
        assert receiver.messages() == ["m1", "m1", "m1", "m2"]
        ids = [headers["webhook-id"] for _, headers, _ in receiver.requests]
        assert ids == ["default-1"] * 3 + ["default-2"]


def test_what_cannot_be_delivered_is_a_dead_letter_that_can_be_replayed(database, receiver) -> None:
    receiver.answers = [500, 500, 500, 400]
    with running(database, webhooks=ALLOW) as service:
        service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)
        service.subscribe("s1", keywords="coffee")
        for number in range(3):
            service.publish(f"m{number}")
        wait_for(lambda: len(receiver.requests) == 5)
        letters = service.get("/v1/endpoints/e1/dead-letters")["dead_letters"]
        assert [(one["number"], one["attempts"]) for one in letters] == [(1, 3), (2, 1)]
        assert letters[0]["delivery"]["message"] == "m0"
        answer = service.post("/v1/endpoints/e1/dead-letters/replay", {})
        assert answer == {"delivered": 2, "left": 0, "error": None}
        assert receiver.messages()[-2:] == ["m0", "m1"]
        assert service.get("/v1/endpoints/e1/dead-letters")["dead_letters"] == []


def test_a_dead_endpoint_does_not_delay_another(sqlite, receiver, second) -> None:
    receiver.hang.clear()
    with running(sqlite, webhooks=ALLOW) as service:
        service.post("/v1/endpoints", {"id": "dead", "url": receiver.url}, 201)
        service.post("/v1/endpoints", {"id": "gone", "url": "http://127.0.0.1:9/"}, 201)
        service.post("/v1/endpoints", {"id": "good", "url": second.url}, 201)
        service.subscribe("s1", keywords="coffee")
        for number in range(20):
            service.publish(f"m{number}")
        wait_for(lambda: len(second.requests) == 20)
        assert second.messages() == [f"m{number}" for number in range(20)]
        assert receiver.requests == []
        receiver.hang.set()


def test_an_endpoint_goes_on_after_a_restart(database, receiver) -> None:
    with running(database, webhooks=ALLOW) as service:
        service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        wait_for(lambda: len(receiver.requests) == 1)
        service.client.patch("/v1/endpoints/e1", json={"is_paused": True})
        service.publish("m2")
    with running(database, webhooks=ALLOW) as service:
        assert service.get("/v1/endpoints/e1")["behind"] == 1
        service.client.patch("/v1/endpoints/e1", json={"is_paused": False})
        wait_for(lambda: len(receiver.requests) == 2)
        assert receiver.messages() == ["m1", "m2"]
        assert service.client.delete("/v1/endpoints/e1").status_code == 200
        service.get("/v1/endpoints/e1", status=404)


def test_a_redirect_is_followed_but_not_to_a_private_address(sqlite, receiver, second) -> None:
    receiver.answers = [second.url, "http://169.254.169.254/latest/meta-data"]
    with running(sqlite, webhooks=ALLOW) as service:
        service.post("/v1/endpoints", {"id": "e1", "url": receiver.url}, 201)
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        wait_for(lambda: second.messages() == ["m1"])
        service.publish("m2")
        letters = wait_for(lambda: service.get("/v1/endpoints/e1/dead-letters")["dead_letters"])
        assert "not public" in letters[0]["error"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/",
        "http://0.0.0.0/",
        "http://[fe80::1]/",
        "ftp://example.org/",
        "http://user:secret@example.org/",
        "http:///path",
        "http://example.org:x/",
        "not a url",
        "",
    ],
)
def test_an_address_that_is_not_public_is_refused(url) -> None:
    with pytest.raises(MalformedError):
        AddressRule(()).check_url(url)


def test_a_name_is_checked_after_it_was_resolved() -> None:
    class Liar:
        async def resolve(self, host, port=0, family=0):
            return [{"host": "10.0.0.7"}, {"host": "93.184.216.34"}][: 1 if host == "bad" else 2]

    resolver = CheckedResolver(AddressRule(()), Liar())
    with pytest.raises(RefusedAddressError):
        asyncio.run(resolver.resolve("bad"))
    assert [one["host"] for one in asyncio.run(resolver.resolve("mixed"))] == ["93.184.216.34"]
    allowed = CheckedResolver(AddressRule(("10.0.0.0/24",)), Liar())
    assert [one["host"] for one in asyncio.run(allowed.resolve("bad"))] == ["10.0.0.7"]


def test_the_signature_is_that_of_the_standard() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    found = signature([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
