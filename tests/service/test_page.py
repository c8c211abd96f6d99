"""The page does what it says, in a real browser, used as a person would."""

from __future__ import annotations

import json

import pytest
from service.browser import Visitor, browsing
from service.harness import running, wait_for

MIDDLE = (2.35, 48.86)


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        yield browser


@pytest.fixture
def service(tmp_path):
    with running(
        f"sqlite:///{tmp_path}/page.db",
        hub={"window_count": 1_000, "safe_region": True},
        page={"center": MIDDLE},
    ) as service:
        yield service


@pytest.fixture
def visitor(browser, service):
    visitor = Visitor(browser, service.url)
    yield visitor
    complaints = visitor.complaints
    visitor.close()
    assert not complaints


def stored(service):
    return service.get("/v1/subscriptions")["subscriptions"]


def make_alert(visitor, keywords, name="mine"):
    visitor.open("alerts")
    visitor.draw("box", (-150, -120), (150, 120))
    visitor.page.fill("#alert-keywords", keywords)
    visitor.page.fill("#alert-name", name)
    visitor.page.click("#alert-save")
    visitor.see("#alert-list", name)


def test_an_alert_is_drawn_typed_tried_subscribed_and_delivered_with_its_reason(service, visitor):
    service.publish("m0", "Sunny flat with a balcony", at=MIDDLE)
    service.publish("m1", "Storm", at=MIDDLE)
    visitor.open("alerts")
    visitor.draw("box", (-150, -120), (150, 120))
    west, south, east, north = json.loads(visitor.page.input_value("#alert-area"))
    assert west < MIDDLE[0] < east
    assert south < MIDDLE[1] < north

    visitor.page.fill("#alert-keywords", "flat AND (balcony")
    visitor.see("#alert-keywords-error", "At character 10: '(' is not closed")
    assert visitor.text("[data-field=keywords] mark") == "("
    assert visitor.page.get_attribute("#alert-keywords", "aria-invalid") == "true"
    visitor.page.fill("#alert-keywords", "flat AND (balcony OR garden)")
    visitor.see("#draft-count", "1 of the last 2 messages")
    visitor.see("#draft-list", "Sunny flat")
    assert visitor.text("#alert-keywords-error") == ""

    visitor.page.fill("#alert-name", "home")
    visitor.page.click("#alert-save")
    visitor.see("#alert-list", "home")
    visitor.publish("Flat with a garden", 40, 30)
    visitor.see("#publish-answer", "1 change")
    visitor.publish("Flat with a garden, far away", 400, 0)
    visitor.see("#publish-answer", "0 changes")
    visitor.open("alerts")
    visitor.see("#delivery-list li", "Flat with a garden")
    visitor.see("#delivery-list .why", "match")
    assert visitor.page.locator("#delivery-list li").count() == 1


def test_where_has_its_errors_at_their_position(visitor):
    visitor.open("alerts")
    visitor.draw("circle", (0, 0), (120, 0))
    area = json.loads(visitor.page.input_value("#alert-area"))
    assert area["type"] == "Circle"
    assert area["radius_m"] > 1_000
    visitor.page.fill("#alert-where", "price <= ")
    visitor.see("#alert-where-error", "At character 10: a value is missing")
    visitor.page.fill("#alert-area", "nonsense")
    visitor.see("#alert-area-error", "not JSON")


def test_an_alert_with_where_gets_what_its_attributes_allow(visitor):
    visitor.open("alerts")
    visitor.draw("circle", (0, 0), (120, 0))
    visitor.page.fill("#alert-where", "price <= 1200 AND type = 'flat'")
    visitor.page.click("#alert-save")
    visitor.see("#alert-list", "price <= 1200")
    visitor.publish("too dear", 10, 10, "price: 1300\ntype: flat")
    visitor.see("#publish-answer", "0 changes")
    visitor.publish("just right", 10, 10, "price: 1150\ntype: flat")
    visitor.see("#publish-answer", "1 change ")
    visitor.open("alerts")
    visitor.see("#delivery-list", "just right")
    visitor.see("#delivery-list .why", "price is 1,150")


def test_an_alert_is_edited_dragged_and_deleted(service, visitor):
    make_alert(visitor, "jazz")
    before = stored(service)[0]
    visitor.page.click("#alert-list button:has-text('Edit')")
    visitor.page.fill("#alert-keywords", "jazz OR blues")
    visitor.page.click("#alert-save")
    wait_for(lambda: stored(service)[0]["keywords"] == "jazz OR blues")
    assert stored(service)[0]["area"] == before["area"]

    visitor.see("#alert-list", "jazz OR blues")
    visitor.drag((100, 80), (160, 80))
    wait_for(lambda: stored(service)[0]["area"][0] > before["area"][0] + 0.01)
    assert stored(service)[0]["area"][1] == pytest.approx(before["area"][1], abs=1e-4)

    moved = stored(service)[0]["area"]
    visitor.page.focus(".handle")
    visitor.page.keyboard.press("ArrowUp")
    wait_for(lambda: stored(service)[0]["area"][1] > moved[1])
    visitor.page.click("#alert-list button:has-text('Delete')")
    wait_for(lambda: not stored(service))


def test_a_polygon_is_drawn_corner_by_corner_and_closed_by_the_keyboard(service, visitor):
    visitor.open("alerts")
    visitor.page.click("[data-draw=polygon]")
    for corner in ((-100, 80), (100, 80), (0, -100)):
        visitor.click_map(*corner)
    visitor.page.keyboard.press("Enter")
    area = json.loads(visitor.page.input_value("#alert-area"))
    assert area["type"] == "Polygon"
    assert len(area["coordinates"][0]) == 4
    visitor.page.click("#alert-save")
    visitor.see("#alert-list", "polygon around")
    visitor.publish("inside", 0, 20)
    visitor.see("#publish-answer", "1 change")
    visitor.publish("outside", -90, -90)
    visitor.see("#publish-answer", "0 changes")


def test_messages_are_replaced_and_retracted(service, visitor):
    service.subscribe("live", live=True, keywords="flat")
    visitor.publish("Sunny flat", 0, 0)
    wait_for(lambda: len(service.get("/v1/subscriptions/live/results")["results"]) == 1)
    visitor.page.click("#publish-list button:has-text('Replace')")
    visitor.page.fill("#publish-text", "Sunny house")
    visitor.page.click("#publish-save")
    wait_for(lambda: not service.get("/v1/subscriptions/live/results")["results"])
    visitor.see("#publish-list", "Sunny house")
    visitor.page.click("#publish-list button:has-text('Retract')")
    visitor.see("#publish-answer", "Taken back")
    assert visitor.page.locator("#publish-list li").count() == 0


def test_a_wrong_message_is_refused_in_words(visitor):
    visitor.open("publish")
    visitor.page.fill("#publish-text", "nowhere")
    visitor.page.click("#publish-save")
    visitor.see("#publish-error", "Where?")


def test_a_top_list_reorders_as_messages_come_and_go(service, visitor):
    visitor.open("toplists")
    visitor.page.fill("#top-keywords", "jazz concert")
    visitor.click_map(0, 0)
    visitor.page.fill("#top-k", "2")
    visitor.page.click("#top-form button[type=submit]")
    visitor.see(".top-list", "Nothing live fits yet")
    for number, text in enumerate(["jazz", "jazz concert"]):
        service.publish(f"m{number}", text, at=MIDDLE)
    place = ".top-list li:nth-child({}) p:first-child"
    visitor.page.locator(place.format(1)).filter(has_text="jazz concert").wait_for()
    assert visitor.text(place.format(2)).strip() == "jazz"
    service.publish("m3", "free jazz concert", at=(2.36, 48.87))
    visitor.page.locator(place.format(2)).filter(has_text="free jazz concert").wait_for()
    service.client.delete("/v1/messages/m1")
    visitor.page.locator(place.format(1)).filter(has_text="free jazz concert").wait_for()
    visitor.page.click(".top-list button:has-text('Delete')")
    wait_for(lambda: not stored(service))


def test_a_subscriber_that_moves_holds_what_is_around_it_and_keeps_silent_while_it_may(
    service, visitor
):
    service.publish("here", "near the start", at=MIDDLE)
    service.publish("there", "far to the east", at=(2.65, 48.86))
    visitor.open("mover")
    visitor.page.click("#mover-start")
    visitor.see("#mover-list", "near the start")
    visitor.see("#mover-state", "Safe for")
    assert visitor.page.locator(".safe-region").count() == 1
    visitor.page.focus(".handle")
    visitor.page.keyboard.press("ArrowRight")
    visitor.see("#mover-state", "1 steps, 0 reported")
    visitor.page.click("#mover-route")
    visitor.click_map(0, 0)
    visitor.click_map(210, 0)
    visitor.page.click("#tool-finish")
    visitor.page.click("#mover-drive")
    visitor.see("#mover-list", "far to the east")
    visitor.page.click("#mover-drive")
    visitor.page.click("#mover-end")
    wait_for(lambda: not stored(service))


def test_everything_can_be_done_with_the_keyboard(service, visitor):
    page = visitor.page
    page.focus("#tab-watch")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-alerts", "aria-selected") == "true"
    page.focus("#alert-keywords")
    page.keyboard.type("coffee")
    page.keyboard.press("Tab")
    page.keyboard.type("")
    page.focus("#alert-area")
    page.keyboard.type("[2, 48, 3, 49]")
    page.focus("#alert-save")
    page.keyboard.press("Enter")
    visitor.see("#alert-list", "coffee")
    assert stored(service)[0]["area"] == [2, 48, 3, 49]


def test_the_map_shows_messages_and_deliveries_of_all(service, visitor):
    service.subscribe("s1", keywords="coffee", area=[2.2, 48.8, 2.5, 48.9], owner="ada")
    wait_for(lambda: service.service.feed.count == 1)
    service.publish("m1", "Free coffee", at=MIDDLE)
    visitor.see("#watch-list", "Free coffee")
    visitor.see("#watch-list", "reached 1 saved search")
    visitor.click_map(0, 0)
    visitor.see(".leaflet-popup", "Free coffee")


def test_thousands_of_messages_a_minute_keep_lists_short_and_frames_coming(
    browser, service, record_property
):
    """Two thousand messages in a few seconds: the page itself says how many frames it has drawn."""
    visitor = Visitor(browser, service.url, calm=False)
    wait_for(lambda: service.service.feed.count == 1)
    for batch in range(40):
        lines = [
            {"id": f"{batch}-{i}", "text": f"coffee {i}", "at": [2.3 + i / 500, 48.86]}
            for i in range(50)
        ]
        service.lines("/v1/messages", lines)
        visitor.page.wait_for_timeout(50)
    wait_for(lambda: frames_of(visitor).get("messages", 0) >= 1_000)
    assert visitor.page.locator("#watch-list li").count() <= 30
    figures = frames_of(visitor)
    record_property("frames", figures)
    print(f"\nframes: {figures}")
    assert figures["frames"] > 20
    assert not visitor.complaints
    visitor.close()


def frames_of(visitor):
    return json.loads(visitor.page.get_attribute("body", "data-frames") or "{}")


def test_all_areas_in_view_are_shown_a_page_at_a_time(service, browser):
    lines = [
        {"id": f"s{n}", "keywords": "coffee", "area": [2.3 + n / 9e4, 48.8, 2.4 + n / 9e4, 48.9]}
        for n in range(2_500)
    ]
    service.lines("/v1/subscriptions", lines)
    visitor = Visitor(browser, service.url)
    wait_for(lambda: visitor.page.get_attribute("body", "data-areas") == "2500")
    assert visitor.page.locator("#areas-note").is_hidden()
    wait_for(lambda: service.service.feed.count == 1)
    service.publish("m1", "Free coffee", at=MIDDLE)
    visitor.see("#watch-list", "reached")
    visitor.click_map(0, 0)
    visitor.see(".leaflet-popup", "more here")
    assert not visitor.complaints
    visitor.close()


def test_a_subscribers_key_shows_the_subscribers_things(browser, service):
    service.subscribe("other", keywords="coffee", area=[2.2, 48.8, 2.5, 48.9], owner="bob")
    admin = service.post("/v1/keys", {"roles": ["admin"]}, 201)["key"]
    headers = {"authorization": f"Bearer {admin}"}
    body = {"roles": ["subscribe"], "owner": "ada", "name": "ada's"}
    key = service.post("/v1/keys", body, 201, headers=headers)["key"]
    visitor = Visitor(browser, service.url, key=key)
    shown = visitor.page.locator("[role=tab]:visible").all_inner_texts()
    assert shown == ["Watch", "Alerts", "Top lists", "Moving"]
    make_alert(visitor, "coffee")
    own = service.get("/v1/subscriptions", headers=headers, params={"owner": "ada"})
    assert len(own["subscriptions"]) == 1
    message = {"id": "m1", "text": "coffee", "at": list(MIDDLE)}
    service.post("/v1/messages", message, 201, headers=headers)
    visitor.see("#delivery-list", "coffee")
    visitor.open("watch")
    visitor.see("#watch-list", "reached 1 saved search")
    assert not visitor.complaints
    visitor.close()

    stranger = browser.new_context().new_page()
    stranger.goto(service.url)
    stranger.wait_for_selector("#key-dialog[open]")
    stranger.context.close()


def test_an_operator_sees_figures_over_time_and_makes_keys(service, visitor):
    visitor.open("operate")
    service.publish("m1", "coffee")
    charts = visitor.page.locator(".chart canvas[aria-label]")
    wait_for(lambda: charts.count() == 13)
    visitor.see("#sizes", "subscriptions")
    visitor.see("#keys-note", "There are none")
    visitor.page.fill("#new-key-name", "boss")
    visitor.page.check("input[name=role][value=publish]")
    visitor.page.click("#key-form button")
    visitor.see("#key-error", "must have the role admin")
    visitor.page.check("input[name=role][value=admin]")
    visitor.page.click("#key-form button")
    visitor.see("#new-key", "nc_")
    visitor.see("#key-list", "boss")
    assert service.client.get("/v1/keys").status_code == 401  # from now on a key is needed
    visitor.page.reload()
    visitor.page.wait_for_selector("body[data-ready]")
    visitor.see("#key-button", "admin")
