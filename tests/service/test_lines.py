"""Which bodies become lines of the log without being read, and which must not."""

from __future__ import annotations

import json
import re

import pytest
from service.harness import running

from nearcast.service.lines import are_plain, head_at, line_of, plain_id


def test_op_and_time_stand_in_front_of_a_plain_body() -> None:
    body = b'{"id":"m1", "text":"coffee", "at":[0,0]}'
    assert plain_id(body) == "m1"
    fields = json.loads(line_of(body, head_at(5.25)))
    assert fields == {"op": "publish", "time": 5.25, "id": "m1", "text": "coffee", "at": [0, 0]}
    assert json.loads(line_of(body, head_at(None)))["op"] == "publish"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"nonsense",
        b'{"text":"coffee","id":"m1"}',
        b' {"id":"m1"}',
        b'{"id":1}',
        b'{"id":""}',
        b'{"id":"' + b"x" * 513 + b'"}',
        b'{"id":"a\\u0000"}',
        b'{"id":"a\\"b"}',
        '{"id":"ä"}'.encode(),
        b'{"id":"m1","op":"subscribe"}',
        b'{"id":"m1","op" : "retract"}',
        b'{"id":"m1","\\u006fp":"subscribe"}',
        b'{"id":"m1","\\u006Fp":"subscribe"}',
        b'{"id":"m1","o\\u0070":"subscribe"}',
        b'{"id":"m1","time":99}',
        b'{"id":"m1","t\\u0069me":99}',
        b'{"id":"m1","expires":99}',
        b'{"id":"m1","id":"m2"}',
        b'{"id":"m1",\n"text":"coffee"}',
        b'{"id":"m1",\r"text":"coffee"}',
    ],
)
def test_what_has_to_be_read_is_not_plain(body) -> None:
    assert plain_id(body) is None
    assert b"\n" in body or not are_plain([body], body)
    good = b'{"id":"m0","text":"x"}'
    lines = (good + b"\n" + body).split(b"\n")
    assert not are_plain(lines, b"\n".join(lines))


PLAIN_BUT_WRONG = [
    ('{"id":"m1","text":"coffee","at":[0,0]', 400),
    ('{"id":"m1","text":"coffee","at":[0,0]} {}', 400),
    ('{"id":"m1","text":"\x01","at":[0,0]}', 400),
    ('{"id":"m1","text":"coffee","at":[0,0],"nonsense":1}', 422),
    ('{"id":"m1","text":"coffee","at":[0,500]}', 422),
    ('{"id":"m1","text":7,"at":[0,0]}', 422),
    ('{"id":"m1"}', 422),
]


def test_plain_bodies_are_refused_in_the_words_of_those_that_are_read(sqlite) -> None:
    """With an op in it the same body is read first; both answers are the same, one and in bulk."""
    good = '{"id":"good","text":"coffee","at":[0,0]}'
    with running(sqlite) as service:
        for body, status in PLAIN_BUT_WRONG:
            told = []
            for content in (body, body.replace("{", '{"op":"publish",', 1)):
                answer = post(service, content, "application/json")
                assert answer.status_code == status, content
                told.append(in_short(answer.json()))
                bulk = post(service, f"{good}\n{content}\n{good}", "application/x-ndjson")
                found = [json.loads(line) for line in bulk.text.splitlines()]
                assert [one["status"] for one in found] == [201, status, 201]
                told.append(in_short(found[1]["problem"]))
            assert told[0] == told[2]
            assert told[1] == told[3]


def post(service, content, kind):
    headers = {"content-type": kind}
    return service.client.post("/v1/messages", content=content.encode(), headers=headers)


def in_short(problem):
    """Return a problem without the id of its request and without positions, which the op shifts."""
    names = ("code", "status", "what", "wanted", "hint", "field")
    return [re.sub(r"byte \d+", "byte", str(problem.get(name))) for name in names]


def test_a_message_with_a_number_that_no_line_can_hold_is_refused(sqlite) -> None:
    with running(sqlite) as service:
        huge = '{"op":"publish","id":"m1","text":"a","at":[0,0],"attributes":{"x":1%s}}' % (
            "0" * 40
        )
        answer = post(service, huge, "application/json")
        assert answer.status_code < 500
        service.publish("m2")


def test_spelled_with_escapes_an_op_is_still_an_op(sqlite) -> None:
    """A key that may publish must not subscribe, however it spells."""
    with running(sqlite) as service:
        body = '{"id":"s1","keywords":"coffee","\\u006fp":"subscribe"}'
        assert post(service, body, "application/json").status_code == 400
        assert json.loads(post(service, body, "application/x-ndjson").text)["status"] == 400
        assert service.get("/v1/stats")["subscriptions"] == 0
