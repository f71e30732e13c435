"""Figures of the page in a real browser: its first load, presses and verdicts until they show, 10 000 tasks.

Never measures without a window's events: a page shows a thing once its document does. Without Chromium
there is a row that says so.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from bench.commands import import_tasks
from bench.page import DaemonConnection
from bench.table import Absent, Figure
from tests.support.browser import Tab, browser, propose, sign_in_address, signed_in
from tests.support.devices import Device, free_port, pair
from tests.support.needs import CHROMIUM
from tests.support.patience import wait_until

TASKS, LOADS = 10_000, 9
AGENTS, STEPS = 8, 6
TABS = 8
GOAL_MS, USABLE_MS = 100.0, 1000.0
TICKS, SENT_MAX_KIB, REQUESTS_MAX, FAR_MS = 15, 40, 6, 150.0
WAIT_S = 60.0
BETWEEN_S = 0.5

_LEAVES = """(id) => {
    window.left = new Promise((resolve) => {
        const look = () => {
            if (!document.querySelector(`#${id}:not(.gone)`))
                resolve(performance.timeOrigin + performance.now());
        };
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    });
}"""
_PRESSES = """(id) => new Promise((resolve) => {
    const row = document.getElementById(id);
    const now = () => performance.timeOrigin + performance.now();
    const pressed = now();
    const isShown = () => row.matches(".ticked, [aria-busy]");
    const look = () => isShown() ? resolve([pressed, now()]) : requestAnimationFrame(look);
    row.querySelector(".tick").click();
    requestAnimationFrame(look);
})"""
_SIZES = """["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
    .map((entry) => entry.encodedBodySize)"""
_LOADED = "() => { const [page] = performance.getEntriesByType('navigation'); return page.duration; }"


def figures() -> list[Figure | Absent]:
    """Measure verdicts on pages of two devices, then the large pages of one."""
    if not shutil.which(CHROMIUM):
        return [Absent("the page in a browser", "chromium is not installed")]
    with tempfile.TemporaryDirectory() as folder, browser(CHROMIUM) as chromium:
        return [
            *_first_load_figures(Path(folder) / "first", chromium),
            *_tick_figures(Path(folder) / "ticks", chromium),
            *_verdict_figures(Path(folder) / "verdicts", chromium),
            *_load_figures(Path(folder), chromium),
        ]


@contextmanager
def _running(*devices: Device) -> Iterator[None]:
    try:
        for device in devices:
            device.start()
        yield
    finally:
        for device in devices:
            if device.daemon is not None:
                device.stop()


def _with_page(name: str, folder: Path) -> Device:
    return Device(name, folder, {"PLACET_WEB_ENABLED": "true", "PLACET_WEB_PORT": str(free_port())})


def _first_load_figures(folder: Path, chromium: Browser) -> list[Figure | Absent]:
    """Load the first page of a used journal with nothing kept; scripts that it loads later count too."""
    laptop = _with_page("laptop", folder / "laptop")
    with _running(laptop):
        laptop.do("add", "Call Ana", "--due", "today")
        propose(laptop, "Renew the passport")
        with signed_in(chromium, laptop, "/") as tab:
            tab.page.wait_for_load_state("load")
            # What else a page fetches by itself comes before its event stream, or with its first row's menu.
            tab.page.wait_for_selector(".dots:not([hidden])", state="attached")
            tab.page.wait_for_timeout(BETWEEN_S * 1e3)
            sizes = tab.page.evaluate(_SIZES)
            paths = {urlsplit(url).path for url in tab.asked}
    sent_kib = float(sum(sizes)) / 1024
    return [
        Figure("first page with its parts, sent", sent_kib, SENT_MAX_KIB, "KiB", "the goal", "<= 1"),
        Figure("first page, requests", float(len(paths)), REQUESTS_MAX, "", "the goal", "<= 1"),
    ]


def _tick_figures(folder: Path, chromium: Browser) -> list[Figure | Absent]:
    """Tick rows of today: from the press to its effect here, to its answer, and to another device's page."""
    laptop, phone = _with_page("laptop", folder / "laptop"), _with_page("phone", folder / "phone")
    with _running(laptop, phone):
        pair(laptop, phone)
        tasks = [laptop.do("add", f"Task {number}", "--due", "today")["id"] for number in range(TICKS)]
        phone.do("sync", "--wait")
        with signed_in(chromium, laptop, "/") as near, signed_in(chromium, phone, "/") as far:
            effects, answers, others = zip(
                *(_tick_ms(near.page, far.page, task) for task in tasks), strict=True
            )
    tick = "a tick on today"
    return [
        Figure(f"{tick} to its effect, p95", _p95(list(effects)), GOAL_MS, "ms", "the goal", "<= 1"),
        Figure(f"{tick} to its answer", median(answers), GOAL_MS, "ms", "a tenth of a second", "(shown)"),
        Figure(
            f"{tick} to another device's page", median(others), median(answers), "ms", "its answer", "(shown)"
        ),
        Figure(f"{tick} to another device's page, p95", _p95(list(others)), FAR_MS, "ms", "the goal", "<= 1"),
    ]


def _tick_ms(near: Page, far: Page, task: str) -> tuple[float, float, float]:
    """Tick one row; return milliseconds to its effect, until it left here, and until it left there."""
    row = f"t-{task}"
    for page in (near, far):
        page.wait_for_selector(f"#{row}")
        page.evaluate(_LEAVES, row)
    time.sleep(BETWEEN_S)  # noqa: TID251 - a person, too, looks at what comes next
    pressed_ms, effect_ms = near.evaluate(_PRESSES, row)
    left_ms, left_there_ms = (float(page.evaluate("window.left")) for page in (near, far))
    return effect_ms - pressed_ms, left_ms - pressed_ms, left_there_ms - pressed_ms


def _verdict_figures(folder: Path, chromium: Browser) -> list[Figure | Absent]:
    laptop, phone = _with_page("laptop", folder / "laptop"), _with_page("phone", folder / "phone")
    with _running(laptop, phone):
        pair(laptop, phone)
        items = iter(_propose(laptop))
        phone.do("sync", "--wait")
        caller = DaemonConnection(laptop)

        def last_ms(watchers: list[Page]) -> float:
            """Confirm an item; return how long it took until the last of these pages had let go of it."""
            item = next(items)
            for page in watchers:
                page.wait_for_selector(f"#i-{item}:not(.gone)")
                page.evaluate(_LEAVES, f"i-{item}")
            time.sleep(BETWEEN_S)  # noqa: TID251 - a person, too, looks at what comes next
            start_ms = 1e3 * time.time()  # noqa: TID251 - the browser's clock is that of the machine
            caller.post("/v1/decisions", {"verdict": "confirmed", "via": "cli", "items": [item]})
            return max(float(page.evaluate("window.left")) - start_ms for page in watchers)

        def verdicts_ms(device: Device, tabs: int, rounds: int) -> list[float]:
            """Measure with no other page open: a second device would have a processor of its own."""
            page = _opened(chromium, device)
            watchers = [page, *(_another_tab(page) for _ in range(tabs - 1))]
            last_ms(watchers)
            taken = [last_ms(watchers) for _ in range(rounds)]
            page.context.close()
            return taken

        rounds = AGENTS * STEPS // 3 - 1
        far, near = (verdicts_ms(device, 1, rounds) for device in (phone, laptop))
        eight = verdicts_ms(phone, TABS, rounds // 2)
        what = "a verdict to the open page"
        return [
            Figure(
                f"{what} of another device", median(far), median(near), "ms", "the same device's", "<= 100 ms"
            ),
            Figure(f"{what} of another device, p95", _p95(far), GOAL_MS, "ms", "the goal", "<= 1"),
            Figure(
                f"{what}s, the last of {TABS} tabs", median(eight), median(far), "ms", "one tab", "(shown)"
            ),
        ]


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def _propose(device: Device) -> list[str]:
    """Let agents propose steps for some tasks; return the items."""
    for number in range(AGENTS):
        task = device.do("add", f"Task {number}")["id"]
        steps = ", ".join(f"call person {number} {step}" for step in range(STEPS))
        device.do("note", task, f"Todo: {steps}")
        device.do("agent", "create", task)
    wanted = AGENTS * STEPS
    wait_until("agents propose", lambda: len(device.do("pending")) >= wanted, WAIT_S)
    return [item["item_id"] for item in device.do("pending")]


def _opened(chromium: Browser, device: Device) -> Page:
    tab = Tab(chromium.new_context(), sign_in_address(device))
    tab.page.goto(tab.page.evaluate("location.origin") + "/inbox")
    return tab.page


def _another_tab(page: Page) -> Page:
    other = page.context.new_page()
    other.goto(page.url)
    return other


def _load_figures(folder: Path, chromium: Browser) -> list[Figure | Absent]:
    device = _with_page("large", folder / "large")
    with _running(device):
        import_tasks(device, "many", TASKS)
        page = _opened(chromium, device)
        origin = page.evaluate("location.origin")

        def loaded_ms(path: str) -> float:
            page.goto(origin + path)
            taken: Any = page.evaluate(_LOADED)
            return float(taken)

        rows: list[Figure | Absent] = []
        for path in ("/tasks", "/board"):
            taken = median(loaded_ms(path) for _ in range(LOADS))
            name = f"{path} of {TASKS} tasks, loaded in a browser"
            rows.append(Figure(name, taken, USABLE_MS, "ms", "a second", "(shown)"))
        return rows
