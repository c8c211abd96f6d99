"""How does an error look to a client? As RFC 9457 says, with the library's own four parts."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from nearcast.errors import NearcastError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBLEM_TYPE = "application/problem+json"


class ServiceError(NearcastError):
    """Something that only the service refuses; `status` is the HTTP status."""

    code = "service"
    status: ClassVar[int] = 400
    headers: Mapping[str, str] = MappingProxyType({})
    """Of the answer: when to come back, what is allowed."""


class MalformedError(ServiceError, ValueError):
    """A body, a parameter or a header that cannot be read."""

    code = "malformed"


class UnauthenticatedError(ServiceError, PermissionError):
    """No key, or one that is not known."""

    code = "unauthenticated"
    status = 401


class ForbiddenError(ServiceError, PermissionError):
    """A key that may not do this."""

    code = "forbidden"
    status = 403


class NotFoundError(ServiceError, KeyError):
    """No such thing, or not for this key."""

    code = "not_found"
    status = 404

    __str__ = NearcastError.__str__


class NotAllowedError(ServiceError, ValueError):
    """A path that exists, with a method that it does not have."""

    code = "method_not_allowed"
    status = 405


class GoneError(ServiceError, ValueError):
    """A cursor from before what is kept."""

    code = "gone"
    status = 410


class TooLargeError(ServiceError, ValueError):
    """More than a limit allows."""

    code = "too_large"
    status = 413


class WrongTypeError(ServiceError, ValueError):
    """A content type that is not understood here."""

    code = "unsupported_media_type"
    status = 415


class ReusedKeyError(ServiceError, ValueError):
    """An idempotency key that came with another request before."""

    code = "reused_idempotency_key"
    status = 422


class TooManyError(ServiceError, ValueError):
    """Above the rate limit of a key."""

    code = "too_many_requests"
    status = 429


class UnavailableError(ServiceError, RuntimeError):
    """The service cannot take this now; nothing is known to have happened: ask again."""

    code = "unavailable"
    status = 503


_STATUS = {
    "invalid_event": 422,
    "invalid_subscription": 422,
    "invalid_expression": 422,
    "invalid_message": 422,
    "invalid_parameter": 422,
    "duplicate_id": 409,
    "unknown_id": 404,
    "unsupported": 422,
    "capacity": 507,
    "internal": 500,
}


def status_of(error: NearcastError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, ServiceError):
        return error.status
    return _STATUS.get(error.code, 422 if isinstance(error, ValueError) else 500)


def problem(error: NearcastError, request_id: str | None = None) -> dict[str, Any]:
    """Return an error as problem details.

    Examples
    --------
    >>> problem(MalformedError("limit is not a number", got="x", wanted="1 to 1000"))["detail"]
    "limit is not a number: got 'x', wanted 1 to 1000"
    """
    position = getattr(error, "position", None)
    parts = {
        "type": f"urn:nearcast:problem:{error.code}",
        "title": error.code.replace("_", " "),
        "status": status_of(error),
        "detail": detail(error),
        "instance": request_id and f"urn:nearcast:request:{request_id}",
        "code": error.code,
        "what": error.what,
        "got": None if error.got is None else shown(error.got),
        "wanted": error.wanted,
        "hint": error.hint,
        "field": error.field,
        "position": position,
    }
    return {name: value for name, value in parts.items() if value is not None}


def detail(error: NearcastError) -> str:
    """Return the one sentence that an error is; its hint is a part of its own."""
    return error.summary


def problem_bytes(error: NearcastError, request_id: str | None = None) -> bytes:
    """Return problem details as JSON."""
    return msgspec.json.encode(problem(error, request_id))
