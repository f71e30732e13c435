"""The main flows of the page on a phone, by touch alone, in the language with the longest words.

Never compares words of the page: what came of a tap is asked of the daemon, and that it fits of the browser.
test_page_states.py looks at each page in each language.
"""

import time
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.page.test_page_agents import register
from tests.support.browser import WEB, sign_in_address
from tests.support.control_requests import control
from tests.support.devices import Device, MakeDevice
from tests.support.finger import PHONE, Finger
from tests.support.page_faults import faults_for_a_finger, faults_of_shape
from tests.support.patience import LIMIT_S, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

READY = """import(document.querySelector('script[src$="page.js"]').src.replace("page.js", "review.js"))
    .then(() => null)"""
LANGUAGE = "de"
NOTE = (
    "Wir brauchen: eine Säge, die Schrauben und den Plan. Es dauert etwa 3 Stunden. "
    "Fällig am 12. Dezember 2026."
)
"""What is noted on a task: an estimate, a day and three things to bring."""
NOTE_PROPOSES = 5
CLOSES = {"confirmed", "rejected"}
MAIL = {"to": "ana@example.org", "text": "See you"}
DAY_MS = 24 * 3_600_000
PROGRAM = "Claude <b>"
IN_A_MONTH = "in 30 Tagen"


class Walk:
    """A person with a phone, and the device whose page is on it."""

    def __init__(self, laptop: Device, page: Page) -> None:
        self.laptop, self.page, self.finger = laptop, page, Finger(page)
        self.tap = self.finger.tap
        self.faults: dict[str, list[str]] = {}

    def look(self, step: str) -> None:
        """Note what is wrong with the page as it is after a step."""
        self.faults[step] = [*faults_of_shape(self.page), *faults_for_a_finger(self.page)]

    def visit(self, path: str) -> None:
        """Go to a page by its address, and look at it."""
        answer = self.page.goto(urljoin(self.page.url, path))
        assert answer is not None
        assert (path, answer.status) == (path, 200)
        self.look(path)

    def go(self, selector: str, sign: str, step: str = "") -> None:
        """Tap on something, wait for the sign of what comes of it, and look at the page if it is a step."""
        self.tap(selector)
        self.page.wait_for_selector(sign)
        if step:
            self.look(step)

    def go_far(self, path: str, sign: str, step: str = "") -> None:
        """Go to a room for which the bar has no place, by the sheet that it opens."""
        self.go("nav .near", "#more-rooms:popover-open")
        self.go(f"#more-rooms a[href='{path}']", sign, step)

    def ask(self, path: str) -> Any:
        """Return what the daemon says."""
        return control(self.laptop, "GET", path)

    def waiting(self, task: str) -> list[dict[str, Any]]:
        """Return what is proposed for a task and not decided."""
        return [item for item in self.ask("/v1/pending") if item["task_id"] == task]

    def decided(self, step: str, item: str, verdict: str) -> dict[str, Any]:
        """Wait until this is the last decision, and on this item; look at the page, and return it."""

        def last() -> dict[str, Any]:
            return next(iter(self.ask("/v1/decisions")), {"item_id": "", "verdict": ""})

        wait_until(
            f"{verdict}: {item}", lambda: (last()["item_id"], last()["verdict"]) == (item, verdict), LIMIT_S
        )
        self.page.wait_for_selector(f"#i-{item}", state="detached" if verdict in CLOSES else "attached")
        self.look(step)
        return last()


def sign_in(walk: Walk) -> None:
    address = urlsplit(sign_in_address(walk.laptop))
    walk.page.goto(address._replace(fragment="").geturl())
    walk.look("sign in")
    walk.page.fill("#secret", address.fragment)
    walk.go("#sign-in button", "#step-tasks", "first steps")
    walk.go("#step-tasks [value=example]", ".acts .yes", "example")


def make_task(walk: Walk) -> str:
    """Make a task, note something on it, and give it an agent; return the task."""
    walk.go("nav a[href='/tasks']", "main a[href='/tasks/new']", "tasks")
    walk.go("main a[href='/tasks/new']", "#f-new", "new task")
    walk.page.fill("#f-new [name=title]", "Pergola")
    walk.go("#f-new .main", "#f-note", "task")
    (task,) = [str(listed["id"]) for listed in walk.ask("/v1/tasks") if listed["title"] == "Pergola"]
    walk.page.fill("#f-note textarea", NOTE)
    walk.go("#f-note button", "#notes ~ .items .item", "note")
    walk.go(".one form[action='/agents'] button", "main a[href^='/agents/']")
    wait_until("the agent proposes", lambda: len(walk.waiting(task)) == NOTE_PROPOSES, LIMIT_S)
    walk.look("new agent")
    return task


def decide(walk: Walk, task: str) -> None:
    """Decide on each proposal of the task in another way, until nothing of it waits."""
    page, finger = walk.page, walk.finger
    walk.go("nav a[href='/inbox']", ".acts .yes", "inbox")
    page.evaluate(READY)
    estimate, *others = sorted(walk.waiting(task), key=lambda row: row["tool"] != "update_task_estimate")
    tapped, leftwards, rightwards, refused = (row["item_id"] for row in others)
    walk.tap(f"#yes-{tapped}")
    walk.decided("confirmed", tapped, "confirmed")
    finger.swipe(page.locator(f"#i-{leftwards}"), 0.6, -0.5)
    walk.decided("swiped to the left", leftwards, "rejected")
    walk.tap("#outcome .undo button")
    walk.decided("taken back", leftwards, "reopened")
    finger.swipe(page.locator(f"#i-{rightwards}"), 0.2, 0.5)
    walk.decided("swiped to the right", rightwards, "confirmed")
    finger.hold(page.locator(f"#no-{refused}"), "#why[open]")
    page.fill("#why-words", "Too dear")
    walk.look("asked why")
    walk.tap("#why [value=reject]")
    assert walk.decided("rejected with a reason", refused, "rejected")["reason"] == "Too dear"
    walk.tap(f"#later-{leftwards}")
    page.wait_for_selector(f"#later-{leftwards}", state="detached")
    walk.look("deferred")
    statuses = {row["item_id"]: row["status"] for row in walk.waiting(task)}
    assert statuses == {leftwards: "deferred", estimate["item_id"]: "pending"}
    change_first(walk, task, estimate["item_id"])


def change_first(walk: Walk, task: str, estimate: str) -> None:
    """Confirm an estimate that is not the agent's."""
    walk.go(f"a[href='/reviews/{task}']", "#verdicts >> xpath=..", "review")
    walk.go(f"#e-{estimate} summary", f"#e-{estimate} .main", "change it first")
    walk.page.fill(f"#e-{estimate} [name='arg.minutes']", "90")
    walk.tap(f"#e-{estimate} .main")
    assert walk.decided("changed", estimate, "confirmed")["edited_args"] == {"minutes": 90}


def visit_the_rest(walk: Walk) -> None:
    """Look at the pages to which no flow leads, with a program that is let in, a rule and nothing asked."""
    laptop = walk.laptop
    program = register(laptop, PROGRAM)
    laptop.do("agent", "admit", PROGRAM)
    control(laptop, "POST", "/v1/categories", {"name": "Health"})
    terms = ("--args", '{"to": "ana@example.org"}', "--until", IN_A_MONTH, "--a-day", "3")
    laptop.do("rule", "add", PROGRAM, "send_mail", *terms)
    for path in ("/permissions", "/rules", program, "/tasks/new", "/passkeys", "/import"):
        walk.visit(path)


def permit_and_refuse(walk: Walk) -> None:
    control(walk.laptop, "POST", "/v1/external-agents", {"name": "Claude", "scope": "none"})
    now_ms = int(time.time() * 1000)  # noqa: TID251 - that of the daemon, which is real
    mail = {
        "agent": "Claude",
        "name": "send_mail",
        "args": MAIL,
        "why": "She waits.",
        "not_after": now_ms + DAY_MS,
    }
    chosen, refused = (
        control(walk.laptop, "POST", "/v1/asks", mail | {"title": title, "key": title, "options": options})[
            "ask_id"
        ]
        for title, options in (("Mail Ana", ["now", "later"]), ("Mail Ben", []))
    )
    walk.go("nav a[href='/inbox']", "main a[href='/permissions']")
    walk.go("main a[href='/permissions']", f"#p-{refused}", "permissions")
    walk.tap(f"#p-{chosen} .choose[value$=':later']")
    walk.decided("permitted", chosen, "confirmed")
    walk.tap(f"#p-{refused} [value^='rejected:']")
    walk.decided("refused", refused, "rejected")
    asks = {listed["ask_id"]: listed for listed in walk.ask("/v1/asks?all=true")}
    assert [asks[name]["state"] for name in (chosen, refused)] == ["permitted", "refused"]
    assert asks[chosen]["option"] == "later"


def move_and_look_back(walk: Walk, task: str) -> None:
    """Move the task on the board, and look at what happened to it."""
    walk.go("nav a[href='/tasks']", "main a[href='/board']")
    walk.go("main a[href='/board']", ".board", "board")
    walk.go(f"#m-{task} summary", f"#m-{task}[open] button", "move")
    walk.page.select_option(f"#m-{task} select", "IN PROGRESS")
    walk.go(f"#m-{task} button", f"[data-status='IN PROGRESS'] #t-{task}")
    walk.finger.swipe(walk.page.locator(".board"), 0.9, -0.8)
    walk.page.wait_for_function("document.querySelector('.board').scrollLeft > 0")
    walk.look("moved")
    assert walk.ask(f"/v1/tasks/{task}")["status"] == "IN PROGRESS"
    walk.go(f"#t-{task} a", "#history", "task in progress")
    walk.go("#history summary", "main a[href$='/timeline']")
    walk.go("main a[href$='/timeline']", ".lane", "timeline")
    walk.go("nav a[href='/inbox']", "main a[href='/decisions']")
    walk.go("main a[href='/decisions']", "[value^='reopened:']", "decisions")


def pause_and_resume(walk: Walk, agent: str) -> None:
    walk.go_far("/agents", f"a[href='/agents/{agent}']", "agents")
    walk.go(f"a[href='/agents/{agent}']", "[value=pause]", "agent")
    walk.go("[value=pause]", "[value=resume]", "agent paused")
    assert walk.ask(f"/v1/agents/{agent}")["lifecycle"] == "dormant"
    walk.go("[value=resume]", "[value=pause]", "agent resumed")
    assert walk.ask(f"/v1/agents/{agent}")["lifecycle"] == "active"


def invite_and_check(walk: Walk) -> None:
    walk.go_far("/devices", "main a[href='/health']", "devices")
    walk.go("form[action='/devices/pair'] button", "#invite", "pairing")
    walk.go("[value=code]", ".secret output", "code")
    walk.go("[value=cancel]", "[value=code]", "code cancelled")
    walk.go_far("/health", "#well", "health")
    walk.go("#well summary", "#well[open]", "health unfolded")
    walk.go("form[action='/health/verify'] button", "#check .good", "journal checked")
    walk.go("nav .near", "#more-rooms:popover-open", "more rooms")
    walk.go("form[action='/out'] button", "main.alone", "signed out")


def test_a_finger_gets_through_the_main_flows(device: MakeDevice, chromium: Browser):
    # The page speaks the language of its daemon.
    laptop = device("laptop", **WEB, PLACET_LANGUAGE=LANGUAGE)
    with chromium.new_context(**PHONE) as context:
        context.set_default_timeout(LIMIT_S * 1000)
        walk = Walk(laptop, context.new_page())
        complaints: list[str] = []
        walk.page.on("console", lambda message: complaints.append(message.text))
        walk.page.on("pageerror", lambda fault: complaints.append(str(fault)))
        sign_in(walk)
        task = make_task(walk)
        agent = walk.waiting(task)[0]["agent_id"]
        decide(walk, task)
        visit_the_rest(walk)
        permit_and_refuse(walk)
        move_and_look_back(walk, task)
        pause_and_resume(walk, agent)
        invite_and_check(walk)
        assert walk.page.get_attribute("html", "lang") == LANGUAGE
    assert {step: faults for step, faults in walk.faults.items() if faults} == {}
    # Chromium tells that it did as the answer to signing out asks.
    assert [words for words in complaints if not words.startswith("Clear-Site-Data")] == []
