"""The documents as a site: it builds without a warning, and needs nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nearcast as nc

pytest.importorskip("uvicorn")

from tools.docs import command_line, events, http_api, index_kinds, python_api, settings, source

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent.parent


# ---- the generated pages ---------------------------------------------------------------------


def test_every_command_is_in_the_reference() -> None:
    page = command_line.page()
    for name in ("replay", "match", "bench match", "keys create", "spark build", "serve"):
        assert f"\n## nearcast {name}\n" in page


def test_an_option_stands_with_its_meaning_and_its_default() -> None:
    assert "| `--repeat R` | repetitions of each measurement | `5` |" in command_line.page()


def test_every_setting_stands_with_its_name_in_the_environment() -> None:
    page = settings.page()
    assert "| `window_count` | `int \\| None` |  | `NEARCAST_HUB__WINDOW_COUNT` |" in page
    assert "How long a subscriber that is away can come back" in page


def test_a_default_that_is_made_anew_is_shown() -> None:
    assert "| `analyzer` | `dict[str, Any]` | `{}` |" in settings.page()


@pytest.mark.parametrize(
    ("title", "row"),
    [
        ("subscribe", "| `k` | refused |"),
        ("subscribe", "| `where` | one of `keywords`, `area`, `where` |"),
        ("subscribe, mode top", "| `k` | yes |"),
        ("subscribe, mode top", "| `area` | refused |"),
        ("publish", "| `at` | yes, or `bbox` |"),
        ("move", "| `area` | yes, or `at` |"),
        ("advance", "| `time` | yes |"),
    ],
)
def test_what_an_event_needs_is_found_by_trying(title, row) -> None:
    part = events.page().split(f"\n## {title}\n")[1].split("\n## ")[0]
    assert row in part


def test_every_operation_of_the_service_is_in_the_reference() -> None:
    page = http_api.page()
    assert "\n## POST /v1/subscriptions\n" in page
    assert "\n### Subscription\n" in page


def test_every_index_kind_is_in_the_reference() -> None:
    page = index_kinds.page()
    assert all(f"\n## {kind.name}\n" in page for kind in nc.indexes())
    for kind in nc.topk_kinds():
        assert f"| `{kind.name}` |" in page
    assert all(f"| `{kept.name}` |" in page for kept in nc.expiry_kinds())


def test_every_public_name_is_in_the_reference() -> None:
    page = python_api.page()
    hidden = {"__version__"}
    assert [n for n in nc.__all__ if n not in hidden and f":: nearcast.{n}\n" not in page] == []


def test_every_document_has_a_place_in_the_navigation() -> None:
    contents = source.index((ROOT / source.CONTENTS).read_text(encoding="utf-8"))
    trees = "".join(re.findall(r"```{toctree}.*?```", contents, re.S)).split()
    documents = {path.removesuffix(".md") for path in source.tracked() if path.endswith(".md")}
    assert documents - {"docs/README"} <= set(trees)
    assert not [page for page in trees if "/" in page and trees.count(page) > 1]


# ---- the site --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    folder = tmp_path_factory.mktemp("site")
    out = folder / "out"
    command = [sys.executable, "-m", "tools.docs", "--out", out, "--source", folder / "source"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return out


_LOADED = re.compile(
    r"<(?:script|img|iframe)\b[^>]*\bsrc=[\"']?([^\"'> ]+)"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preload|icon|preconnect))"
    r"[^>]*\bhref=[\"']?([^\"'> ]+)"
)
_STYLED = re.compile(r"url\([\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")


@pytest.mark.slow
def test_no_page_loads_anything_from_elsewhere(site) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    loaded = {
        (page.name, one or other)
        for page in pages
        for one, other in _LOADED.findall(page.read_text(encoding="utf-8"))
    }
    assert len(loaded) > 20
    assert not {pair for pair in loaded if re.match(r"(https?:)?//", pair[1])}


@pytest.mark.slow
def test_no_style_loads_anything_from_elsewhere(site) -> None:
    for style in site.rglob("*.css"):
        for one, other in _STYLED.findall(style.read_text(encoding="utf-8")):
            assert not re.match(r"(https?:)?//", one or other), style


@pytest.mark.slow
def test_the_search_box_works_from_a_file(site) -> None:
    """The index of the search is a script that any page can load, not something to be fetched."""
    assert (site / "searchindex.js").read_text(encoding="utf-8").startswith("Search.setIndex(")
    assert 'role="search"' in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_docstrings_and_guides_are_pages(site) -> None:
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert 'id="nearcast.Hub.subscribe"' in python
    assert (site / "docs" / "guides" / "running-the-service.html").exists()
