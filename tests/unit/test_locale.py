"""A program may set any locale: files and error texts have decimal points all the same."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

PRELUDE = """
import ctypes, locale, sys
import nearcast as nc
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
libc = ctypes.CDLL(None)
libc.strtod.restype, libc.strtod.argtypes = ctypes.c_double, [ctypes.c_char_p, ctypes.c_void_p]
assert libc.strtod(b"1,5", None) == 1.5, "the locale has no decimal comma"
"""


@pytest.fixture(scope="module")
def comma(tmp_path_factory):
    """Return a function that runs code in a process whose locale has a decimal comma."""
    folder = tmp_path_factory.mktemp("locales")
    localedef = shutil.which("localedef")
    if localedef is None:
        pytest.skip("localedef is not there, so no locale with a decimal comma can be made")
    made = subprocess.run(
        [localedef, "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.UTF-8")],
        capture_output=True,
        text=True,
    )
    if not (folder / "de_DE.UTF-8" / "LC_NUMERIC").exists():
        pytest.skip(f"localedef cannot make de_DE: {made.stderr.strip()}")

    def run(code, *arguments):
        found = subprocess.run(
            [sys.executable, "-c", PRELUDE + code, *map(str, arguments)],
            capture_output=True,
            text=True,
            env={"LOCPATH": str(folder), "PATH": ""},
        )
        assert found.returncode == 0, found.stderr
        return found.stdout

    return run


def test_settings_of_a_hub_survive_a_decimal_comma(comma, tmp_path) -> None:
    code = """
window, space = nc.Window(seconds=2.5), (0.5, 0.25, 10.75, 9.5)
hub = nc.Hub(index="ap-tree", index_parameters={"kl_threshold": 0.125}, window=window, space=space)
hub.subscribe("s", keywords="tea", live=True)
hub.save(sys.argv[1])
opened = nc.Hub.open(sys.argv[1])
opened.publish("m", "tea", at=(1, 1), time=10)
opened.publish("n", "tea", at=(1, 1), time=12.25)
print(sorted(id for id, _ in opened.results("s")))
opened.publish("o", "tea", at=(1, 1), time=12.75)
print(sorted(id for id, _ in opened.results("s")))
opened.save(sys.argv[2])
"""
    said = comma(code, tmp_path / "one", tmp_path / "two")
    assert said.splitlines() == ["['m', 'n']", "['n', 'o']"]
    for name in ("one", "two"):
        data = (tmp_path / name).read_bytes()
        for setting in (b"@seconds\tn\t2.5\n", b"@west\tn\t0.5\n", b"@east\tn\t10.75\n"):
            assert setting in data


def test_error_texts_have_decimal_points(comma) -> None:
    code = """
import pyarrow as pa
for attempt in (
    lambda: nc.Matcher().subscribe_table(
        pa.table({"id": [1], "keywords": [["a"]], "west": [180.5], "south": [0.], "east": [1.],
                  "north": [1.]})),
    lambda: nc.Matcher("auto", index_parameters={"small_list": 4.5}),
):
    try:
        attempt()
    except nc.NearcastError as error:
        print(error)
"""
    said = comma(code).splitlines()
    assert "got 180.5, wanted a number from -180 to 180" in said[0]
    assert "got 4.5, wanted a whole number from 4 to 64" in said[1]
