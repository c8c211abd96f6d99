"""What is not needed is not imported."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import nearcast as nc
hub = nc.Hub(window=nc.Window(count=9))
hub.subscribe("s", keywords="coffee", area=[0, 0, 1, 1])
assert hub.publish("m1", "Coffee!", at=(0.5, 0.5))
line = b'{"op": "publish", "id": "m2", "text": "Coffee!", "at": [0.5, 0.5]}'
assert hub.apply(line).num_rows == 1
print([name for name in ("pandas", "Stemmer", "rich", "polars", "pyspark") if name in sys.modules])
"""


def test_a_hub_takes_events_without_importing_what_takes_long() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
