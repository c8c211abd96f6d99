"""How the page looks: pictures at three widths in both themes, and what a picture must not show.

They are written to `build/pictures`, or to the folder that NEARCAST_PICTURES names. `make pictures`
writes the one that README opens with.
"""

from __future__ import annotations

import os
from pathlib import Path

import aiohttp
import pytest
from service.browser import Visitor, browsing
from service.harness import running, wait_for

from nearcast.cli.demo_service import Demo
from nearcast.cli.serve import DEMO_HUB, DEMO_PAGE

FOLDER = Path(os.environ.get("NEARCAST_PICTURES", "build/pictures"))
SIZES = {390: 844, 820: 1180, 1440: 900}
PARTS = ("watch", "alerts", "publish", "toplists", "mover", "operate")
_CUT_OFF = """[...document.querySelectorAll("#panel *")]
  .filter((one) => one.offsetParent && !one.closest("[role=tablist], .code"))
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .filter((one) => getComputedStyle(one).display !== "inline")
  .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "demo.db"
    with running(f"sqlite:///{path}", hub=DEMO_HUB, page=DEMO_PAGE) as service:
        service.run(fill(service.url))
        yield service


async def fill(url):
    demo = Demo(url)
    async with aiohttp.ClientSession(url) as session:
        await demo.fill(session)
        await demo.publish(session, 500)


async def happen(url, number, seed):
    demo = Demo(url, seed=seed)
    async with aiohttp.ClientSession(url) as session:
        await demo.publish(session, number)


def publish_some(service, number=120, seed=2):
    service.run(happen(service.url, number, seed))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_nothing_is_cut_off(browser, service, width, theme):
    visitor = Visitor(browser, service.url, width=width, height=SIZES[width], theme=theme)
    wait_for(lambda: service.service.feed.count >= 1)
    publish_some(service)
    visitor.page.wait_for_selector("#watch-list li")
    for part in PARTS:
        visitor.open(part)
        visitor.page.wait_for_timeout(300)
        visitor.page.screenshot(path=FOLDER / f"{part}-{width}-{theme}.png")
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visitor.page.evaluate(_CUT_OFF) == [], part
    map_box = visitor.page.locator("#map").bounding_box()
    assert map_box["height"] > 250
    assert not visitor.complaints
    visitor.close()


def test_the_picture_of_the_readme(browser, service):
    visitor = Visitor(browser, service.url, width=1280, height=760, calm=False)
    wait_for(lambda: service.service.feed.count >= 1)
    page = visitor.page
    visitor.open("alerts")
    visitor.draw("circle", (-40, -10), (120, 60))
    page.fill("#alert-keywords", 'flat (balcony OR terrace) -"ground floor"')
    page.fill("#alert-where", "price <= 2000 AND rooms >= 2")
    page.fill("#alert-name", "A flat with some air")
    page.click("#alert-save")
    visitor.see("#alert-list", "A flat with some air")
    for seed in range(3, 9):
        publish_some(service, 150, seed)
        page.wait_for_timeout(400)
    at = [-73.97, 40.7]
    fields = {"kind": "flat", "price": 1150, "rooms": 2}
    service.publish("own", "Sunny flat with a balcony, 2 rooms", at=at, attributes=fields)
    visitor.see("#delivery-list", "Sunny flat with a balcony")
    page.wait_for_timeout(400)
    page.evaluate("document.querySelector('#alert-list').previousElementSibling.scrollIntoView()")
    publish_some(service, 60, 9)
    page.wait_for_timeout(400)
    page.screenshot(path=FOLDER / "page.jpg", type="jpeg", quality=85)
    assert (FOLDER / "page.jpg").stat().st_size < 300_000
    visitor.close()
