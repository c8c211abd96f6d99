"""Which parts of DESIGN.md the code has; those that are missing are not drawn."""

from __future__ import annotations

import os

_HERE = "replace,advance,questions,stop words,areas,except,where,expressions,definitions"
LANDED = frozenset(os.environ.get("NEARCAST_LANDED", _HERE).split(","))
