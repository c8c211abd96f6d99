"""Match one message with the installed package: does a wheel work where it was installed?

It needs no compiler and no checkout: ``python tools/try_wheel.py`` in any environment.
"""

from __future__ import annotations

import sys

import nearcast as nc


def main() -> int:
    """Match in a hub and in a matcher of the best kernels and of the plain ones."""
    midtown = nc.Circle((-73.98, 40.75), 800)
    hub = nc.Hub()
    hub.subscribe("s1", keywords="coffee AND (free OR sale) -decaf", area=midtown)
    hub.subscribe("s2", keywords=["jazz"])
    changes = hub.publish("m1", "Free coffee at Bryant Park!", at=(-73.9836, 40.7536))
    found = [change.subscription for change in changes]
    for kernels in ("best", "plain"):
        matcher = nc.Matcher(index_parameters={"kernels": kernels})
        for i in range(100):
            matcher.subscribe(i, keywords="coffee", area=[i, 0, i + 1, 1])
        found += [str(id_) for id_ in matcher.match("coffee", at=(7.5, 0.5))]
    print(f"nearcast {nc.__version__} on Python {sys.version.split()[0]}: {found}")
    return 0 if found == ["s1", "7", "7"] else 1


if __name__ == "__main__":
    sys.exit(main())
