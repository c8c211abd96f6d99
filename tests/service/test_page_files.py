"""The page's files hang together, come from nowhere else, and can be read. Needs no browser."""

from __future__ import annotations

import json
import re

import pytest
from service.harness import running

from nearcast.service.http.page import FILES, policy
from nearcast.service.settings import Page

SCRIPTS = sorted(FILES.glob("*.js"))
HTML = (FILES / "index.html").read_text()
STYLE = (FILES / "style.css").read_text()
LEAST_CONTRAST = 4.5


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(f"sqlite:///{tmp_path_factory.mktemp('page')}/files.db") as service:
        yield service


def test_what_the_page_refers_to_is_served(service):
    for reference in re.findall(r'(?:src|href)="([^"#]+)"', HTML):
        assert service.client.get(f"/{reference}").status_code == 200, reference
    assert service.client.get("/").headers["content-type"].startswith("text/html")
    assert service.client.get("/leaflet/leaflet.js").status_code == 200


def test_modules_import_what_there_is():
    for script in SCRIPTS:
        for name in re.findall(r'from "\./([^"]+)"', script.read_text()):
            assert (FILES / name).is_file(), (script.name, name)


def test_nothing_comes_from_another_address():
    for file in [FILES / "index.html", FILES / "style.css", *SCRIPTS]:
        found = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", file.read_text())
        assert not found, (file.name, found)
    assert "default-src 'none'" in policy(Page())
    assert "http" not in policy(Page())


def test_only_the_pages_own_files_are_served(service):
    for path in ("/page/../settings.py", "/page/%2e%2e/settings.py", "/leaflet/../__init__.py"):
        assert service.client.get(path).status_code == 404


def test_elements_that_scripts_look_for_are_there():
    ids = set(re.findall(r'id="([^"]+)"', HTML))
    for script in SCRIPTS:
        asked = set(re.findall(r'byId\("([^"]+)"\)', script.read_text()))
        assert asked <= ids, (script.name, asked - ids)


def test_every_input_has_a_label():
    labelled = set(re.findall(r'<label for="([^"]+)"', HTML))
    for tag in re.findall(r"<(?:input|select|textarea)[^>]*>", HTML):
        if 'type="checkbox"' in tag:  # stands inside its label
            continue
        found = re.search(r'id="([^"]+)"', tag)
        assert found, tag
        assert found[1] in labelled, tag


def test_outlines_are_small_and_within_the_world():
    content = (FILES / "outlines.json").read_bytes()
    assert len(content) < 400_000
    world = json.loads(content)
    for line in world["land"] + world["borders"]:
        lon = lat = 0
        for x, y in zip(line[::2], line[1::2], strict=True):
            lon, lat = lon + x, lat + y
            assert abs(lon) <= 18_000
            assert abs(lat) <= 9_000


def colours(theme):
    selector = r":root \{" if theme == "light" else r':root\[data-theme="dark"\] \{'
    block = re.search(selector + r"(.*?)\}", STYLE, re.S)
    assert block
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})\b", block[1]))


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("front", "behind"),
    [
        (front, behind)
        for front in ("--text", "--quiet", "--wrong", "--good", "--accent")
        for behind in ("--ground", "--card")
    ]
    + [
        ("--on-accent", "--accent"),
        ("--card", "--good"),
        ("--card", "--wrong"),
        ("--place", "--land"),
    ],
)
def test_text_can_be_told_from_its_ground(theme, front, behind):
    found = colours(theme)
    high, low = sorted((luminance(found[front]), luminance(found[behind])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= LEAST_CONTRAST
