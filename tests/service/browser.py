"""A real browser for tests: Debian's Chromium, driven by Playwright; where it is not: skipped."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

PATIENCE_MS = 30_000
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def browser_path():
    """Return where the browser is, or skip."""
    pytest.importorskip("playwright.sync_api", reason="needs Playwright, to drive a browser")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("needs a browser: apt-get install chromium")
    return found


@contextmanager
def browsing():
    """Start the browser, and stop it."""
    path = browser_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """One visitor with a page of their own; what the console complains about is kept."""

    def __init__(self, browser, url, *, width=1280, height=800, theme="light", key=None, calm=True):
        motion = "reduce" if calm else "no-preference"
        self._context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion=motion
        )
        self._context.set_default_timeout(PATIENCE_MS)
        self.page = self._context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if key is not None:
            script = f"sessionStorage.setItem('nearcast-key', {key!r})"
            self._context.add_init_script(script)
        self.page.goto(url)
        self.page.wait_for_selector("body[data-ready]")

    def _hear(self, message):
        # A browser notes every refused request as an error; to a draft a refusal is an answer.
        if message.type == "error" and "status of 422" not in message.text:
            self.complaints.append(message.text)

    def close(self):
        self._context.close()

    def open(self, part):
        self.page.click(f"#tab-{part}")

    def spot(self, right=0, down=0):
        """Return a point on the screen, counted from the middle of the map."""
        box = self.page.locator("#map").bounding_box()
        return box["x"] + box["width"] / 2 + right, box["y"] + box["height"] / 2 + down

    def click_map(self, right=0, down=0):
        self.page.mouse.click(*self.spot(right, down))

    def drag(self, start, end):
        """Drag from one point to another, both counted from the middle of the map."""
        mouse = self.page.mouse
        mouse.move(*self.spot(*start))
        mouse.down()
        mouse.move(*self.spot(*end), steps=8)
        mouse.up()

    def draw(self, tool, start, end):
        self.page.click(f"[data-draw={tool}]")
        self.drag(start, end)

    def see(self, selector, text):
        """Wait until an element says something."""
        self.page.locator(selector).filter(has_text=text).first.wait_for()

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def publish(self, text, right=0, down=0, attributes=""):
        self.open("publish")
        self.click_map(right, down)
        self.page.fill("#publish-text", text)
        self.page.fill("#publish-attributes", attributes)
        self.page.click("#publish-save")
        self.see("#publish-answer", "Published")
