"""What does an endpoint receive? CloudEvents 1.0 in structured mode, signed as Standard Webhooks.

The signature is HMAC-SHA256 of ``id.timestamp.body`` under each of the endpoint's secrets: while a
secret is rotated there are two, and the receiver may know either.
"""

from __future__ import annotations

import base64
import hmac
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import msgspec

from nearcast.service.delivery.signing_keys import PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"


class _Head(msgspec.Struct):
    """The part of a delivery that the envelope repeats."""

    id: str
    type: str
    owner: str
    at: float
    subscription: str = ""


def envelope(body: bytes) -> bytes:
    """Return a delivery as a CloudEvent."""
    head = msgspec.json.decode(body, type=_Head)
    moment = datetime.fromtimestamp(head.at, timezone.utc).isoformat().replace("+00:00", "Z")
    return msgspec.json.encode(
        {
            "specversion": "1.0",
            "id": head.id,
            "source": f"urn:nearcast:{head.owner}",
            "type": f"nearcast.{head.type}",
            "subject": head.subscription or head.owner,
            "time": moment,
            "datacontenttype": "application/json",
            "data": msgspec.Raw(body),
        }
    )


def payload(bodies: Sequence[bytes], *, is_batch: bool) -> tuple[str, bytes]:
    """Return content type and body of one request."""
    if is_batch:
        return BATCH, b"[" + b",".join(map(envelope, bodies)) + b"]"
    return SINGLE, envelope(bodies[0])


def signature(keys: Sequence[str], id: str, timestamp: int, body: bytes) -> str:
    """Return the signatures under all secrets, with spaces between them."""
    signed = b"%s.%d.%s" % (id.encode(), timestamp, body)
    found = []
    for key in keys:
        raw = base64.b64decode(key.removeprefix(PREFIX))
        digest = hmac.digest(raw, signed, "sha256")
        found.append(f"v1,{base64.b64encode(digest).decode()}")
    return " ".join(found)


def headers_for(
    keys: Sequence[str], id: str, timestamp: int, kind: str, body: bytes
) -> dict[str, str]:
    """Return the headers of one request."""
    return {
        "content-type": kind,
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(keys, id, timestamp, body),
        "user-agent": "nearcast-webhooks",
    }
