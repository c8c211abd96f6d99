"""Which parts of DESIGN.md the code has; those that are missing are not drawn."""

from __future__ import annotations

import os

LANDED = frozenset(os.environ.get("NEARCAST_LANDED", "replace,advance,stop words").split(","))
