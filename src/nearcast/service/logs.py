"""How do lines of the log look? JSON for machines, text for people; never a body, never a key."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.service.settings import Settings


class JsonFormatter(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        fields = "".join(f" {k}={v}" for k, v in getattr(record, "fields", {}).items())
        moment = time.strftime("%H:%M:%S", time.gmtime(record.created))
        line = f"{moment} {record.levelname.lower():7} {record.getMessage()}{fields}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up(settings: Settings) -> None:
    """Send all that is logged to stderr, as the settings say."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.log_format == "json" else TextFormatter())
    logger = logging.getLogger("nearcast")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(settings.log_level.upper())
    for name in ("uvicorn.error", "aiokafka"):
        other = logging.getLogger(name)
        other.handlers = [handler]
        other.propagate = False
        other.setLevel("WARNING")
