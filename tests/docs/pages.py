"""The pictures of the page in the documents: two real daemons, and a browser that looks at them.

`make pictures` lives through a small story and takes the pictures at its end. It needs chromium and a font
with the star of the card (Debian's package fonts-noto-color-emoji). Never shows what no daemon served.
"""

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser

from tests.support.browser import WEB, Tab, browser, sign_in_address
from tests.support.control_requests import control
from tests.support.devices import Device, free_port, pair
from tests.support.needs import CHROMIUM
from tests.support.patience import LIMIT_S, wait_until
from tests.support.source_tree import ROOT

FOLDER: Final = ROOT / "docs" / "pictures"
WIDE: Final = 960
PHONE: Final = 390
SCALE = 1.5
_STAR: Final = "2728"


@dataclass(frozen=True)
class Picture:
    """A picture of a page: its file's name, the path of the page, and how it is looked at.

    Width and height are in pixels of CSS; without a height the whole page is in it.
    """

    name: str
    path: str
    width: int
    height: int = 0
    theme: str = "light"


NAMES: Final = ("today", "inbox", "review", "permissions", "board", "timeline", "devices")
"""The pictures that the documents show; a test looks that each is there and shown."""

_TASKS: Final = (
    ("Fix the login bug", "Due Friday, takes about 3 hours. Todo: write a failing test, tell support"),
    ("Renew the passport", "Due 12 December 2026, takes about 2 hours. Todo: take photos, fill in the form"),
    ("Plan the summer trip", "Takes about 90 minutes. Todo: compare night trains, find a sitter for the cat"),
)
_OTHERS: Final = (
    ("Send the grant report", "in progress", "P1", "yesterday"),
    ("Answer the landlord", "in progress", "P2", "today"),
    ("Book the dentist", "groomed", "P3", "today"),
    ("Update the family calendar", "groomed", "P2", "tomorrow"),
    ("Order new filters", "done", "P3", "none"),
    ("Sign the lease", "done", "P1", "none"),
)
_MAIL: Final = {
    "to": "ana@example.org",
    "subject": "Login bug",
    "text": "Hello Ana, addresses with a plus sign work again. Please try once more.",
}


def tell_story(laptop: Device, phone: Device) -> list[str]:
    """Fill the journal of two devices with what people do in a week; return the tasks that have agents."""
    pair(laptop, phone)
    for title, status, priority, due in _OTHERS:
        task = laptop.do("add", "--priority", priority, "--due", due, title)["id"]
        laptop.do("set", "status", task, *status.split())
    tasks = [_proposed(laptop, title, note) for title, note in _TASKS]
    _decide_on(laptop, phone, tasks[1])
    laptop.do("agent", "add", "Claude", "--scope", "none")
    _ask(laptop)
    phone.do("sync", "--wait")
    wait_until("the ask arrives", lambda: phone.do("asks"), LIMIT_S)
    return tasks


def _proposed(device: Device, title: str, note: str) -> str:
    task = str(device.do("add", title)["id"])
    device.do("note", task, note)
    device.do("agent", "create", task)
    wait_until("the agent proposes", lambda: len(_waiting(device, task)) >= 3, LIMIT_S)
    return task


def _waiting(device: Device, task: str) -> list[dict[str, Any]]:
    return [item for item in device.do("pending") if item["task_id"] == task]


def _decide_on(laptop: Device, phone: Device, task: str) -> None:
    """Confirm one proposal on either device, and take one of them back."""
    phone.do("sync", "--wait")
    first, second, *_ = (item["item_id"] for item in _waiting(laptop, task))
    laptop.do("confirm", first)
    phone.do("confirm", second)
    phone.do("sync", "--wait")
    laptop.do("undo", first)
    phone.do("sync", "--wait")


def _ask(device: Device) -> None:
    now_ms = int(time.time() * 1000)  # noqa: TID251 - that of the daemon, which is real
    question = {
        "agent": "Claude",
        "name": "send_mail",
        "args": _MAIL,
        "title": "Tell Ana that the login works",
        "why": "She reported the bug, and waits for an answer.",
        "options": ["now", "tomorrow morning"],
        "not_after": now_ms + 24 * 3_600_000,
        "key": "mail to Ana",
    }
    control(device, "POST", "/v1/asks", question)


def take(chromium: Browser, device: Device, pictures: list[Picture]) -> None:
    """Sign in once for each picture, with its own theme and size, and write its file."""
    for picture in pictures:
        context = chromium.new_context(
            viewport={"width": picture.width, "height": picture.height or 100},
            device_scale_factor=SCALE,
            color_scheme=picture.theme,  # type: ignore[arg-type]
            reduced_motion="reduce",
            locale="en-GB",
        )
        try:
            page = Tab(context, sign_in_address(device)).page
            page.goto(page.evaluate("location.origin") + picture.path)
            page.wait_for_selector("#main h1")
            path = FOLDER / f"{picture.name}.png"
            page.screenshot(path=path, animations="disabled", full_page=not picture.height)
        finally:
            context.close()


def main() -> int:
    """Tell the story and take the pictures."""
    if not subprocess.run(["fc-list", f":charset={_STAR}"], check=True, capture_output=True).stdout:
        raise SystemExit("No font has the star of the card: install fonts-noto-color-emoji.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser(CHROMIUM) as chromium:
        devices = [
            Device(name, Path(folder) / name, WEB | {"PLACET_WEB_PORT": str(free_port())})
            for name in ("laptop", "phone")
        ]
        laptop, phone = devices
        try:
            for device in devices:
                device.start()
            tasks = tell_story(laptop, phone)
            take(chromium, laptop, _pictures_of_laptop(tasks))
            take(chromium, phone, [Picture("permissions", "/permissions", PHONE, 800, "dark")])
        finally:
            for device in devices:
                device.stop()
    return 0


def _pictures_of_laptop(tasks: list[str]) -> list[Picture]:
    return [
        Picture("today", "/", WIDE, 800),
        Picture("inbox", "/inbox", WIDE, 1050),
        Picture("review", f"/reviews/{tasks[0]}", WIDE),
        Picture("board", "/board", WIDE, 460, "dark"),
        Picture("timeline", f"/tasks/{tasks[1]}/timeline", WIDE, 520),
        Picture("devices", "/devices", WIDE, 500),
    ]


if __name__ == "__main__":
    sys.exit(main())
