"""What bodies look like, as JSON Schema, for the OpenAPI document. Not what checks them.

The fields of events are those of `nearcast.events`, which decides; a test compares the names.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _object(properties: Schema, required: tuple[str, ...] = (), *, is_open: bool = False) -> Schema:
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    if not is_open:
        schema["additionalProperties"] = False
    return schema


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_TIME: Schema = {
    "description": "Seconds since the epoch, or RFC 3339 with an offset.",
    "oneOf": [
        {"type": "number", "minimum": 0, "exclusiveMaximum": 1e11},
        {"type": "string", "format": "date-time"},
    ],
}
_LONGITUDE: Schema = {"type": "number", "minimum": -180, "maximum": 180}
_POINT: Schema = {
    "type": "array",
    "description": "[longitude, latitude] in degrees.",
    "prefixItems": [_LONGITUDE, {"type": "number", "minimum": -90, "maximum": 90}],
    "minItems": 2,
    "maxItems": 2,
    "items": False,
}
_BOX: Schema = {
    "type": "array",
    "description": "[west, south, east, north] in degrees.",
    "items": _LONGITUDE,
    "minItems": 4,
    "maxItems": 4,
}
_AREA: Schema = {
    "description": "A box, a Circle, GeoJSON of polygons, or a list of such areas.",
    "anyOf": [
        _BOX,
        _object(
            {
                "type": {"const": "Circle"},
                "center": _POINT,
                "radius_m": {"type": "number", "minimum": 0},
            },
            ("type", "center", "radius_m"),
        ),
        _object(
            {
                "type": {
                    "enum": [
                        "Polygon",
                        "MultiPolygon",
                        "Feature",
                        "FeatureCollection",
                        "GeometryCollection",
                    ]
                }
            },
            ("type",),
            is_open=True,
        ),
        {"type": "array", "items": {"type": ["array", "object"]}},
    ],
}
_KEYWORDS: Schema = {
    "description": "An expression, or a list of keywords that are all required.",
    "anyOf": [_TEXT, {"type": "array", "items": _TEXT}],
}

SUBSCRIBE_FIELDS: Schema = {
    "mode": {"enum": ["match", "rank", "top"], "default": "match"},
    "keywords": _KEYWORDS,
    "area": _AREA,
    "except": _AREA,
    "where": {"type": "string", "description": "A condition on attributes: price <= 1200"},
    "at": _POINT,
    "k": {"type": "integer", "minimum": 1},
    "alpha": {"type": "number", "minimum": 0, "maximum": 1},
    "threshold": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "live": _FLAG,
    "expires": _TIME,
    "time": _TIME,
    "replace": _FLAG,
}
PUBLISH_FIELDS: Schema = {
    "text": _TEXT,
    "at": _POINT,
    "bbox": _BOX,
    "attributes": {"type": "object", "maxProperties": 64},
    "time": _TIME,
    "expires": _TIME,
    "replace": _FLAG,
}
_NOISE = _object(
    {
        "at_most": {"type": "integer", "minimum": 1},
        "per_seconds": {"type": "number", "exclusiveMinimum": 0},
        "digest_seconds": {"type": "number", "exclusiveMinimum": 0},
        "quiet": _object({"from": _TEXT, "to": _TEXT, "zone": _TEXT}, ("from", "to")),
        "ends_after": {"type": "integer", "minimum": 1},
    }
)
_OWN: Schema = {
    "owner": {"type": "string", "pattern": "^[A-Za-z0-9._@:-]{1,64}$"},
    "metadata": {"type": "object"},
    "noise": _ref("Noise"),
}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": 512}
_NULLABLE: Schema = {"type": ["string", "null"]}
_ROLES: Schema = {
    "type": "array",
    "items": {"enum": ["publish", "subscribe", "read", "admin"]},
    "minItems": 1,
}

SCHEMAS: dict[str, Schema] = {
    "Noise": _NOISE,
    "Subscription": _object({"op": {"const": "subscribe"}, "id": _ID, **SUBSCRIBE_FIELDS, **_OWN}),
    "StoredSubscription": _object(
        {"id": _ID, "created": _NUMBER, "changed": _NUMBER, "event": _COUNT},
        ("id", "owner", "created"),
        is_open=True,
    ),
    "SubscriptionPage": _object(
        {"subscriptions": {"type": "array", "items": _ref("StoredSubscription")}, "next": _TEXT},
        ("subscriptions",),
    ),
    "Move": _object({"area": _AREA, "at": _POINT, "time": _TIME}),
    "Message": _object({"op": {"const": "publish"}, "id": _ID, **PUBLISH_FIELDS}, ("text",)),
    "StoredMessage": _object({"id": _ID}, ("id",), is_open=True),
    "Done": _object({"id": _TEXT, "owner": _TEXT, "event": _COUNT, "changes": _COUNT}, ("id",)),
    "Lines": {
        "type": "string",
        "description": 'One JSON object a line. Each line of the answer has "line" and "status", '
        'and the answer or the "problem".',
    },
    "DryRun": _object(
        {
            "messages": {"type": "array", "items": {"type": "object"}, "maxItems": 1000},
            "explain": {"anyOf": [_FLAG, {"type": "array", "items": _TEXT, "maxItems": 100}]},
            "owner": _TEXT,
        },
        ("messages",),
    ),
    "Matches": _object({"matches": {"type": "array", "items": {"type": "object"}}}, ("matches",)),
    "Results": _object({"results": {"type": "array", "items": {"type": "object"}}}, ("results",)),
    "DraftCount": _object(
        {
            "matched": _COUNT,
            "of": _COUNT,
            "since": {"type": ["number", "string", "null"]},
            "newest": {"type": "array", "items": {"type": "object"}},
        },
        ("matched", "of"),
    ),
    "SafeRegion": _object(
        {
            "id": _ID,
            "safe_distance": {
                "type": ["number", "null"],
                "description": "In degrees, or in metres if the area is a circle; null: none.",
            },
        },
        ("id", "safe_distance"),
    ),
    "Me": _object(
        {
            "id": _TEXT,
            "roles": _ROLES,
            "owner": _NULLABLE,
            "are_keys_needed": _FLAG,
            "version": _TEXT,
            "page": {"type": "object"},
        },
        ("id", "roles", "owner", "are_keys_needed"),
    ),
    "History": _object(
        {"samples": {"type": "array", "items": {"type": "object"}}},
        ("samples",),
    ),
    "Stats": _object({"subscriptions": _COUNT, "event": _COUNT}, ("subscriptions",), is_open=True),
    "Delivery": _object(
        {
            "id": _TEXT,
            "number": _COUNT,
            "type": {"enum": ["change", "digest", "ended"]},
            "owner": _TEXT,
            "subscription": _TEXT,
            "message": _TEXT,
            "change": {"enum": ["added", "removed", "updated"]},
            "reason": _TEXT,
            "score": _NUMBER,
            "event": _COUNT,
            "at": _NUMBER,
            "published": {"type": "object"},
        },
        ("id", "number", "type", "owner", "at"),
        is_open=True,
    ),
    "Deliveries": _object(
        {"deliveries": {"type": "array", "items": _ref("Delivery")}, "next": _COUNT},
        ("deliveries", "next"),
    ),
    "EndpointBody": _object(
        {
            "url": {"type": "string", "format": "uri"},
            "id": _ID,
            "owner": _NULLABLE,
            "is_paused": _FLAG,
            "after": {"type": ["integer", "null"], "minimum": 0},
            "rotate": _FLAG,
        }
    ),
    "Endpoint": _object({"id": _ID, "owner": _TEXT, "url": _TEXT}, ("id", "owner"), is_open=True),
    "Endpoints": _object(
        {"endpoints": {"type": "array", "items": _ref("Endpoint")}}, ("endpoints",)
    ),
    "DeadLetters": _object(
        {"dead_letters": {"type": "array", "items": {"type": "object"}}}, ("dead_letters",)
    ),
    "Replayed": _object(
        {"delivered": _COUNT, "left": _COUNT, "error": _NULLABLE}, ("delivered", "left")
    ),
    "KeyBody": _object(
        {
            "roles": _ROLES,
            "name": _TEXT,
            "owner": _NULLABLE,
            "expires": {"type": ["number", "null"]},
        },
        ("roles",),
    ),
    "Key": _object({"id": _TEXT, "roles": _ROLES}, ("id",), is_open=True),
    "Keys": _object({"keys": {"type": "array", "items": _ref("Key")}}, ("keys",)),
    "Status": _object({"status": _TEXT, "event": _COUNT}, ("status",)),
    "Problem": _object(
        {
            "type": _TEXT,
            "title": _TEXT,
            "status": {"type": "integer"},
            "detail": _TEXT,
            "instance": _TEXT,
            "code": _TEXT,
            "what": _TEXT,
            "got": _TEXT,
            "wanted": _TEXT,
            "hint": _TEXT,
            "field": _TEXT,
            "position": _COUNT,
        },
        ("type", "title", "status", "detail"),
    ),
}
