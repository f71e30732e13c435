"""Bad input at the page in a real browser: other ports and names, old tabs, two tabs, long and many things.

Never repeats what tests/daemon/web asks without a browser. What another site does is in test_page.py.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.page.test_page_live import HIDES
from tests.support.browser import WEB, propose, signed_in
from tests.support.control_requests import control, propose_as
from tests.support.devices import Device, MakeDevice
from tests.support.patience import LIMIT_S, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

OWN_NAMES = ("127.0.0.1", "localhost", "evil.localhost")
LONG = "x" * 10_000
RIGHT_TO_LEFT = "לחדש את הדרכון \u202egnp.exe"
SCRIPT = "<script>alert(1)</script>"
CLICKS_SOON = "(button) => void setTimeout(() => document.querySelector(button)?.click())"
ITEMS = 200
ITEMS_A_CALL = 20
TASKS = 10_000


def origin_of(page: Page) -> str:
    return str(page.evaluate("location.origin"))


@contextmanager
def listener() -> Iterator[tuple[int, list[str]]]:
    """Serve on a port of its own; yield the port, and the cookies that browsers show there."""
    cookies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>listens</title>")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            del format, args

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port, cookies
    finally:
        server.shutdown()
        thread.join(LIMIT_S)
        server.server_close()


def test_no_other_port_is_shown_a_cookie_and_no_other_name_a_page(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop) as tab, listener() as (port, cookies):
        page = tab.page
        assert page.context.cookies()
        own_port = urlsplit(page.url).port
        for name in OWN_NAMES:
            page.goto(f"http://{name}:{port}/")
            assert page.evaluate("document.cookie") == ""
            answer = page.goto(f"http://{name}:{own_port}/")
            assert answer is not None
            assert answer.status == 403
            assert "not served under this name" in page.inner_text("body")
        assert cookies
        assert set(cookies) == {""}
        assert len(page.context.cookies()) == 1


def test_links_and_images_change_nothing(laptop: Device, chromium: Browser):
    first, *_ = propose(laptop, "Renew the passport")
    decide = f"decide=confirmed:{first['item_id']}:{first['args_hash']}"
    with signed_in(chromium, laptop) as tab:
        page, origin = tab.page, origin_of(tab.page)
        for path in (
            f"/inbox?{decide}",
            "/start?do=example",
            "/out",
            "/devices?do=leave",
            "/tasks/new?title=x",
        ):
            page.goto(f"{origin}{path}")
        page.goto(f"{origin}/inbox")
        page.wait_for_selector(f"#i-{first['item_id']}")
    assert laptop.do("decisions") == []
    assert [task["title"] for task in laptop.do("list")] == ["Renew the passport"]


def test_an_old_tab_keeps_what_was_typed_over_a_restart_and_sends_it(laptop: Device, chromium: Browser):
    task = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, f"/tasks/{task}") as tab:
        page = tab.page
        page.fill("textarea[name=note]", "She answers on Monday.")
        laptop.stop()
        page.wait_for_selector("#away:not([hidden])")
        laptop.start()
        page.wait_for_selector("#away[hidden]", state="attached")
        assert page.input_value("textarea[name=note]") == "She answers on Monday."
        page.click("[value=note]")
        page.wait_for_selector(".item :text('She answers on Monday.')")


def test_an_old_tab_of_a_task_that_was_removed_says_so(laptop: Device, chromium: Browser):
    task = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, f"/tasks/{task}") as tab:
        page = tab.page
        page.evaluate(HIDES, True)
        laptop.do("task", "remove", task)
        page.fill("textarea[name=note]", "She answers on Monday.")
        page.click("[value=note]")
        page.wait_for_selector("#gone h1")
        assert "removed" in page.inner_text("body")


def test_a_verdict_while_the_daemon_is_away_is_not_lost_sight_of(laptop: Device, chromium: Browser):
    first, *_ = propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        # One request alone is lost: the page asks by itself, long before the stream says anything.
        page.route(page.url, lambda route: route.abort(), times=1)
        page.click(f"#yes-{first['item_id']}")
        page.wait_for_selector("#away:not([hidden])")
        page.wait_for_selector("#away[hidden]", state="attached", timeout=8000)
        laptop.stop()
        page.click(f"#yes-{first['item_id']}")
        page.wait_for_selector("#away:not([hidden])")
        assert page.is_visible(f"#i-{first['item_id']}")
        laptop.start()
        page.wait_for_selector("#away[hidden]", state="attached")
        assert laptop.do("decisions") == []
        page.click(f"#yes-{first['item_id']}")
        tab.outcome("Confirmed")
    assert [decision["item_id"] for decision in laptop.do("decisions")] == [first["item_id"]]


def test_the_second_of_two_tabs_is_told_what_the_first_decided(laptop: Device, chromium: Browser):
    first, *_ = propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop) as tab:
        other = tab.page.context.new_page()
        other.goto(tab.page.url)
        other.wait_for_selector(f"#no-{first['item_id']}")
        # What the first tab decides does not reach the second before its click.
        other.evaluate(HIDES, True)
        tab.page.click(f"#yes-{first['item_id']}")
        tab.outcome("Confirmed")
        other.click(f"#no-{first['item_id']}")
        other.wait_for_selector("#outcome .refusal")
        assert "confirmed" in other.inner_text("#outcome")
    assert [decision["verdict"] for decision in laptop.do("decisions")] == ["confirmed"]


def test_two_tabs_that_decide_at_once_leave_one_verdict(laptop: Device, chromium: Browser):
    items = propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop) as tab:
        pages = [tab.page, tab.page.context.new_page()]
        pages[1].goto(tab.page.url)
        for item in items:
            buttons = [f"#{kind}-{item['item_id']}" for kind in ("yes", "no")]
            for page, button in zip(pages, buttons, strict=True):
                page.wait_for_selector(button)
                page.evaluate(
                    "(button) => void setTimeout(() => document.querySelector(button)?.click())", button
                )
            for page in pages:
                page.wait_for_selector(f"#i-{item['item_id']}:not(.gone)", state="detached")
    decisions = [decision["item_id"] for decision in laptop.do("decisions")]
    assert sorted(decisions) == sorted(item["item_id"] for item in items)


def test_a_limit_that_came_meanwhile_stays_if_an_old_tab_changes_another(laptop: Device, chromium: Browser):
    laptop.do("agent", "add", "Claude")
    agent = control(laptop, "GET", "/v1/external-agents/Claude")["id"]
    with signed_in(chromium, laptop, f"/external-agents/{agent}") as tab:
        page = tab.page
        page.evaluate(HIDES, True)
        laptop.do("agent", "policy", "Claude", "add_task", "denied")
        page.click("#rights summary")
        page.select_option("[name='policy/set_task_title']", "denied")
        page.click("[value=rights]")
        page.wait_for_load_state()
    wait_until("the form is read", lambda: _policy(laptop)["set_task_title"] == "denied", LIMIT_S)
    assert _policy(laptop)["add_task"] == "denied"


def _policy(device: Device) -> dict[str, str]:
    return dict(control(device, "GET", "/v1/external-agents/Claude")["policy"])


@pytest.mark.parametrize("title", [RIGHT_TO_LEFT, SCRIPT])
def test_words_that_turn_or_run_are_shown_as_they_are(laptop: Device, chromium: Browser, title: str):
    with signed_in(chromium, laptop, "/tasks/new") as tab:
        page = tab.page
        page.fill("main [name=title]", title)
        page.fill("main [name=note]", title)
        page.click("main .main")
        page.wait_for_selector("#notes")
        for part in ("h1 bdi", "#notes ~ ul .item .text p"):
            assert page.inner_text(part) == title.replace("\u202e", "\\u202e")
        for path in ("/tasks", "/board"):
            page.goto(f"{origin_of(page)}{path}")
            assert page.inner_text(":is(.item, .task) a bdi") == title.replace("\u202e", "\\u202e")
        assert tab.complaints == []


def test_a_title_of_ten_thousand_characters_is_refused_and_stays_in_its_field(
    laptop: Device, chromium: Browser
):
    with signed_in(chromium, laptop, "/tasks/new") as tab:
        page = tab.page
        page.fill("main [name=title]", LONG)
        page.click("main .main")
        page.wait_for_selector("main .fault")
        assert "10000 characters" in page.inner_text("main .fault").replace(",", "")
        assert page.input_value("main [name=title]") == LONG
    assert laptop.do("list") == []


def test_two_hundred_items_in_one_set_are_decided_together(device: MakeDevice, chromium: Browser):
    sizes = {"PLACET_PROPOSALS_PER_SET": str(ITEMS), "PLACET_PROPOSALS_OPEN_PER_DAY": str(ITEMS)}
    laptop = device("laptop", **WEB, **sizes)
    laptop.do("agent", "add", "Claude")
    laptop.do("agent", "limits", "Claude", "--proposals", str(ITEMS))
    task = laptop.do("add", "Move house")["id"]
    batches = [
        {"items": [{"title": f"Pack box {number}"} for number in range(first, first + ITEMS_A_CALL)]}
        for first in range(0, ITEMS, ITEMS_A_CALL)
    ]
    propose_as(
        laptop, "Claude", task, *[("add_multiple_checklist_items", batch, "Boxes.") for batch in batches]
    )
    with signed_in(chromium, laptop, viewport={"width": 360, "height": 800}) as tab:
        assert tab.page.locator(".item").count() == ITEMS
        tab.page.keyboard.press("n")
        tab.outcome("rejected")
        tab.page.wait_for_selector(f"footer :text('Confirm all {ITEMS - 1}')")
        tab.page.keyboard.press("a")
        tab.outcome(f"{ITEMS - 1} changes confirmed")
        tab.page.wait_for_selector(".empty")
        assert tab.complaints == []
    assert len(laptop.do("show", task)["checklists"][0]["items"]) == ITEMS - 1


@pytest.mark.slow
def test_ten_thousand_tasks_are_listed_searched_moved_and_added_to(
    laptop: Device, chromium: Browser, tmp_path: Path
):
    many_tasks = tmp_path / "TODO.md"
    many_tasks.write_text("".join(f"# Task {number:05}\n\n" for number in range(TASKS)))
    laptop.do("import", "markdown", str(many_tasks))
    with signed_in(chromium, laptop) as tab:
        page, origin = tab.page, origin_of(tab.page)
        page.goto(f"{origin}/tasks")
        assert page.locator(".task").count() > 10
        page.click("a:text('More tasks')")
        page.wait_for_selector(".task")
        page.fill("#q", "07777")
        page.press("#q", "Enter")
        page.wait_for_selector("h2:text('Found')")
        assert page.locator(".task").count() == 1
        page.goto(f"{origin}/board")
        page.wait_for_selector(f"[data-status=OPEN] .count:text('{TASKS}')")
        card = page.locator("[data-status=OPEN] .item").first
        card.drag_to(page.locator("[data-status='IN PROGRESS']"))
        page.wait_for_selector("[data-status='IN PROGRESS'] .item")
        page.keyboard.press("c")
        page.fill("#capture [name=line]", "One more")
        page.keyboard.press("Enter")
        tab.outcome("Added to the tasks, without a day: One more")
        assert tab.complaints == []
