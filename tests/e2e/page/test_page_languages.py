"""Every page in four languages on the smallest screen: nothing sticks out or breaks.

Never compares words: the catalogs are checked elsewhere. What axe-core finds does not depend on the language:
test_page_states.py asks it.
"""

import pytest
from playwright.sync_api import Browser

from tests.e2e.page.test_page_agents import register
from tests.support.browser import WEB, Tab, propose, signed_in
from tests.support.devices import Device, MakeDevice

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

WIDTH = 360
BAR_PX_MAX = 100
BROKEN_WORDS = """() => [...document.querySelectorAll("button")].flatMap((button) =>
    [...button.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).flatMap((node) =>
        [...node.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            return range.getClientRects().length > 1;
        }).map(([word]) => `broken: ${word}`)))"""
IN_A_MONTH = {"de": "in 30 Tagen", "es": "en 30 días", "fr": "dans 30 jours", "ro": "peste 30 de zile"}


def faults_of(tab: Tab) -> list[str]:
    """Return what sticks out or breaks, with everything unfolded."""
    for summary in tab.page.query_selector_all("details:not([open]) > summary"):
        summary.click()
    width = tab.page.evaluate("document.documentElement.scrollWidth")
    findings = tab.page.evaluate(BROKEN_WORDS)
    bar = tab.page.evaluate("document.querySelector('header.bar').offsetHeight")
    findings += [f"the bar is {bar} pixels high"] if bar > BAR_PX_MAX else []
    return findings if width <= WIDTH else [f"{width} pixels wide", *findings]


@pytest.mark.parametrize(
    ("language", "theme"), [("de", "light"), ("es", "dark"), ("fr", "light"), ("ro", "dark")]
)
def test_every_page_fits(device: MakeDevice, chromium: Browser, language: str, theme: str) -> None:
    laptop: Device = device("laptop", **WEB, PLACET_LANGUAGE=language)
    program = register(laptop)
    laptop.do("agent", "admit", "Claude <b>")
    laptop.do("category", "add", "Health")
    item = propose(laptop, "Renew the passport")[0]
    laptop.do("confirm", item["item_id"])
    terms = ("--args", '{"to": "ana@example.org"}', "--until", IN_A_MONTH[language], "--a-day", "3")
    laptop.do("rule", "add", "Claude <b>", "send_mail", *terms)
    task, agent = f"/tasks/{item['task_id']}", f"/agents/{item['agent_id']}"
    pages = ["/", "/permissions", "/rules", "/tasks", "/tasks/new", task, f"{task}/timeline", "/board"]
    pages += [f"/reviews/{item['task_id']}", "/agents", agent, program, "/devices", "/devices/pair"]
    pages += ["/health", "/passkeys", "/decisions", "/import"]
    with signed_in(chromium, laptop, color_scheme=theme, viewport={"width": WIDTH, "height": 800}) as tab:
        origin, faults = tab.page.evaluate("location.origin"), {}
        for path in pages:
            answer = tab.page.goto(f"{origin}{path}")
            assert answer is not None
            assert (path, answer.status) == (path, 200)
            faults[path] = faults_of(tab)
        assert tab.complaints == []
    assert {path: words for path, words in faults.items() if words} == {}
