"""The page in a real browser: what it may reach, what it leaves behind, and deciding in it.

Never repeats what tests/daemon/web asks without a browser.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from tests.support.browser import Tab, propose, sign_in_address, signed_in, unscripted
from tests.support.devices import Device
from tests.support.finger import Finger
from tests.support.patience import LIMIT_S, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script> \u202egnp.exe {{ 7*7 }}"
WEIGHT_BYTES_MAX = 40 * 1024
REQUESTS_MAX = 6
NEWS_A_SECOND_MAX, NEWS_TOGETHER_MAX = 11, 60
WEIGHT = """["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
    .reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""


def open_count(device: Device) -> int:
    return len(device.do("pending"))


def test_signing_in_leaves_no_secret_behind_and_the_page_is_light(laptop: Device, chromium: Browser):
    propose(laptop, "Renew the passport")
    address = sign_in_address(laptop)
    secret = urlsplit(address).fragment
    context = chromium.new_context()
    tab = Tab(context, address)
    assert urlsplit(tab.page.url)._replace(scheme="", netloc="").geturl() == "/"
    assert not [url for url in tab.asked if secret in url]
    assert tab.page.evaluate("document.cookie") == ""
    home = tab.page.url
    tab.page.go_back()
    assert secret not in tab.page.url
    tab.page.goto(address)  # a second time it opens nothing
    tab.page.wait_for_selector("[role=alert]")
    tab.asked.clear()
    with tab.page.expect_request("**/live?*"):
        tab.page.goto(home)
    assert len(tab.asked) <= REQUESTS_MAX
    weight = tab.page.evaluate(WEIGHT)
    assert 5000 < weight <= WEIGHT_BYTES_MAX
    assert {urlsplit(url).netloc for url in tab.asked} == {urlsplit(address).netloc}
    context.close()


def test_a_fresh_address_in_the_tab_of_an_old_one_signs_in(laptop: Device, chromium: Browser):
    fresh = sign_in_address(laptop)
    page = chromium.new_context().new_page()
    page.goto(f"{fresh.partition('#')[0]}#{'0' * 32}")
    page.wait_for_selector("[role=alert]")
    # Only what is behind the `#` changes: the browser loads nothing.
    page.evaluate("address => { location.href = address }", fresh)
    page.wait_for_selector("#main h1")


def test_a_person_decides_by_keys_takes_back_and_hears_of_others(laptop: Device, chromium: Browser):
    propose(laptop, "Renew the passport")
    waiting = open_count(laptop)
    with signed_in(chromium, laptop) as tab:
        tab.page.keyboard.press("y")
        tab.outcome("Confirmed")
        assert open_count(laptop) == waiting - 1
        assert tab.page.evaluate("document.activeElement.classList.contains('item')")
        tab.page.keyboard.press("u")
        tab.outcome("waits again")
        assert open_count(laptop) == waiting
        tab.page.keyboard.press("Shift+N")
        tab.page.keyboard.type("not y n a u")
        tab.page.click("#why [value=reject]")
        tab.outcome("rejected")
        assert laptop.do("decisions")[0]["reason"] == "not y n a u"
        item = laptop.do("pending")[-1]["item_id"]
        laptop.do("confirm", item)
        tab.page.wait_for_selector(f"#i-{item}.gone :text('confirmed on laptop')")
        assert "confirmed on laptop" in tab.page.inner_text("#live")
        assert tab.complaints == []


def test_tabs_share_one_stream_and_come_back_after_a_restart(laptop: Device, chromium: Browser):
    propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop) as tab:
        others = [tab.page.context.new_page() for _ in range(7)]
        for other in others:
            other.goto(tab.page.url)
        tab.page.locator("footer .main").first.click()
        tab.outcome("changes confirmed")
        for other in others:
            other.wait_for_selector(".gone")
        laptop.stop()
        others[0].wait_for_selector("#away:not([hidden])")
        laptop.start()
        propose(laptop, "Another task")
        for other in (tab.page, *others):
            other.wait_for_selector(".card :text('Another task')")
            other.wait_for_selector("#away[hidden]", state="attached")


def test_news_without_end_keeps_no_page_from_showing_it(laptop: Device, chromium: Browser):
    first, *_ = propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop) as tab:
        home = tab.page.url
        tab.page.evaluate(
            """() => {
                const channel = new BroadcastChannel("placet-live");
                const ask = window.fetch;
                let told = 0;
                window.fetch = (...words) => { window.toldBefore ??= told; return ask(...words); };
                setInterval(() => { told += 1; channel.postMessage({ type: "changed" }); }, 5);
            }"""
        )
        laptop.do("reject", first["item_id"])
        tab.page.wait_for_selector(f"#i-{first['item_id']}.gone")
        assert tab.page.evaluate("window.toldBefore") <= NEWS_TOGETHER_MAX
        before = tab.asked.count(home)
        tab.page.wait_for_timeout(1000)
        assert tab.asked.count(home) - before <= NEWS_A_SECOND_MAX


def test_hostile_words_run_nothing(laptop: Device, chromium: Browser):
    propose(laptop, HOSTILE)
    with signed_in(chromium, laptop) as tab:
        tab.page.on("dialog", lambda dialog: tab.complaints.append(dialog.message))
        title = tab.page.inner_text(".card h2")
        assert title == HOSTILE.replace("\u202e", "\\u202e")
        tab.page.keyboard.press("y")
        tab.outcome("Confirmed")
        assert tab.page.evaluate("document.querySelectorAll('main img, main script').length") == 0
        assert tab.complaints == []


def test_a_page_works_without_scripts(laptop: Device, chromium: Browser):
    propose(laptop, "Renew the passport")
    waiting = open_count(laptop)
    with unscripted(chromium, laptop) as page:
        page.click("button.yes >> nth=0")
        assert "Confirmed" in page.inner_text("#outcome")
        assert open_count(laptop) == waiting - 1
        page.click("#outcome button")
        assert "waits again" in page.inner_text("#outcome")
        assert open_count(laptop) == waiting


@contextmanager
def foreign_site(content: str) -> Iterator[str]:
    """Serve one page from another origin of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            del format, args

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://evil.localhost:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join(LIMIT_S)
        server.server_close()


def test_another_site_can_neither_decide_nor_frame_nor_read(laptop: Device, chromium: Browser):
    items = propose(laptop, "Renew the passport")
    waiting = open_count(laptop)
    decide = f"confirmed:{items[0]['item_id']}:{items[0]['args_hash']}"
    with signed_in(chromium, laptop) as tab:
        origin = tab.page.url
        content = f"""<iframe name=f src="{origin}"></iframe>
            <form method=post target=f action="{origin}"><input name=decide value="{decide}"></form>
            <script>document.forms[0].submit();
            const end = (words) => () => {{ document.title = words; }};
            fetch("{origin}", {{credentials: "include"}}).then(end("read"), end("refused"));
            </script>"""
        with foreign_site(content) as address:
            other = tab.page.context.new_page()
            other.goto(address)
            other.wait_for_function("document.title == 'refused'")
            other.wait_for_load_state("networkidle")
            frames = [frame for frame in other.frames if frame is not other.main_frame]
            assert not any(frame.locator(".card").count() for frame in frames)
        assert open_count(laptop) == waiting


@pytest.mark.parametrize(("part", "verdict"), [(0.2, ""), (0.5, "confirmed"), (-0.5, "rejected")])
def test_a_swipe_beyond_a_third_decides(laptop: Device, chromium: Browser, part: float, verdict: str):
    propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop, viewport={"width": 360, "height": 800}, has_touch=True) as tab:
        item = tab.page.locator(".item").first
        name = item.get_attribute("data-item")
        Finger(tab.page).swipe(item, 0.3 if part > 0 else 0.6, part)
        if verdict:
            wait_until("decided", lambda: laptop.do("decisions")[:1] != [], LIMIT_S)
            decision = laptop.do("decisions")[0]
            assert (decision["item_id"], decision["verdict"], decision["via"]) == (name, verdict, "web")
        else:
            tab.page.wait_for_timeout(300)
            assert laptop.do("decisions") == []


def test_buttons_are_large_and_the_page_fits_a_small_screen(laptop: Device, chromium: Browser):
    propose(laptop, "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle" * 2)
    with signed_in(chromium, laptop, viewport={"width": 360, "height": 700}) as tab:
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 360
        sizes = [button.bounding_box() for button in tab.page.locator(".acts button:visible").all()]
        assert sizes
        assert all(size and size["width"] >= 44 and size["height"] >= 44 for size in sizes)
        # Old: letters of "Confirm all" stood beneath each other.
        assert tab.page.locator("footer .main").first.evaluate("it => it.clientWidth > 2 * it.clientHeight")


def test_a_finger_can_defer(laptop: Device, chromium: Browser):
    """Old: a narrow screen hid the button, and a phone has no keys."""
    first, *_ = propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop, viewport={"width": 360, "height": 700}, has_touch=True) as tab:
        tab.page.tap(f"#later-{first['item_id']}")
        tab.outcome("deferred")
    assert [item["status"] for item in laptop.do("pending")].count("deferred") == 1


def test_a_double_click_decides_once_and_keeps_its_undo(laptop: Device, chromium: Browser):
    propose(laptop, "Renew the passport")
    waiting = open_count(laptop)
    with signed_in(chromium, laptop) as tab:
        tab.page.locator(".acts .yes").first.dblclick()
        tab.outcome("Confirmed")
        tab.page.locator("#outcome .undo button").click()
        tab.outcome("waits again")
        assert open_count(laptop) == waiting


def test_a_key_decides_nothing_that_is_out_of_sight(laptop: Device, chromium: Browser):
    for number in range(4):
        propose(laptop, f"Task {number}")
    with signed_in(chromium, laptop) as tab:
        tab.page.set_viewport_size({"width": 800, "height": 300})
        tab.page.evaluate("document.activeElement.blur()")
        tab.page.locator(".item[data-item]").last.evaluate("item => item.scrollIntoView({ block: 'center' })")
        in_sight = tab.page.evaluate(
            """[...document.querySelectorAll(".item[data-item]")].filter((item) => {
                const { top, bottom } = item.getBoundingClientRect();
                return top >= 0 && bottom <= innerHeight;
            }).map((item) => item.dataset.item)"""
        )
        assert in_sight
        assert tab.page.locator(".item[data-item]").first.get_attribute("data-item") not in in_sight
        tab.page.keyboard.press("y")
        tab.outcome("Confirmed")
        assert laptop.do("decisions")[0]["item_id"] in in_sight


def test_a_session_that_was_ended_elsewhere_is_told_and_not_called_an_absence(
    laptop: Device, chromium: Browser
):
    propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop) as tab:
        laptop.do("web", "end", "--all")
        propose(laptop, "Another task")
        tab.page.wait_for_selector(":text('You are signed out')")
    # Words in a form that is sent as any other are not loaded away.
    with signed_in(chromium, laptop, "/") as tab:
        tab.page.fill("#add-task", "Call Ana")
        laptop.do("web", "end", "--all")
        laptop.do("add", "Yet another task")
        tab.page.wait_for_selector("#over:not([hidden])")
        assert tab.page.input_value("#add-task") == "Call Ana"
