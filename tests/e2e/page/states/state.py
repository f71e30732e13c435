"""A state of the page, and how a browser is brought to it and looks at it in each width and theme.

Never judges what is seen: a test does, and the person who looks at the pictures.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

from tests.support.browser import sign_in_address
from tests.support.devices import Device
from tests.support.finger import PHONE
from tests.support.patience import LIMIT_S

WIDTHS: Final = (320, 768, 1440)
THEMES: Final = ("light", "dark")
VIEWS: Final = tuple((width, theme) for width in WIDTHS for theme in THEMES)
"""Each width in both themes."""
HEIGHT: Final = 900

Deed = Callable[[Page], Any]
"""What is done on a page to bring it to a state, such as a click."""


@dataclass(frozen=True, slots=True)
class State:
    """A state: a name for its pictures, the path of its page, what is done there, and the answer's status.

    `path` may name places of the world, such as {task}. A state without a session is looked at signed out.
    """

    name: str
    path: str = "/"
    deed: Deed | None = None
    status: int = 200
    has_session: bool = True


@dataclass(frozen=True, slots=True)
class World:
    """A device whose page is looked at, and the places on it that states name."""

    device: Device
    places: dict[str, str]


@dataclass(frozen=True, slots=True)
class Look:
    """A state as it is seen once: on this page, now, at this width and in this theme.

    `complaints` are scripts that failed or were refused, and dialogs that opened, since the state before.
    """

    state: State
    page: Page
    width: int
    theme: str
    complaints: tuple[str, ...] = ()


def looks(
    chromium: Browser,
    world: World,
    states: Sequence[State],
    *,
    phone: bool = False,
    views: Sequence[tuple[int, str]] = VIEWS,
) -> Iterator[Look]:
    """Yield each state in one tab: at each width and in each theme of `views`, or once on a phone."""
    address = sign_in_address(world.device)
    screen = PHONE if phone else {}
    context = chromium.new_context(reduced_motion="reduce", locale="en-GB", service_workers="block", **screen)
    context.set_default_timeout(LIMIT_S * 1000)
    page = context.new_page()
    complaints = _complaints_of(page)
    try:
        page.goto(address)
        page.wait_for_selector("#main h1")
        cookies = context.cookies()
        for state in states:
            if not state.has_session:
                context.clear_cookies()
            if not phone:
                page.set_viewport_size({"width": WIDTHS[-1], "height": HEIGHT})
            _bring(page, world, state, address)
            if phone:
                yield Look(state, page, WIDTHS[0], THEMES[0], tuple(complaints))
            else:
                yield from _looks_of(page, state, tuple(complaints), views)
            complaints.clear()
            if not state.has_session:
                context.add_cookies(cookies)  # type: ignore[arg-type]
    finally:
        context.close()


@contextmanager
def speaking(world: World, language: str) -> Iterator[None]:
    """Let the page of a world speak a language: it is that of its daemon, which starts again for it."""
    laptop = world.device
    before = laptop.settings
    laptop.stop()
    laptop.settings = before | {"PLACET_LANGUAGE": language}
    laptop.start()
    yield
    laptop.stop()
    laptop.settings = before
    laptop.start()


def _bring(page: Page, world: World, state: State, address: str) -> None:
    origin = urlsplit(address)._replace(path="", query="", fragment="").geturl()
    answer = page.goto(f"{origin}{state.path.format_map(world.places)}", wait_until="load")
    assert answer is not None
    assert (state.name, answer.status) == (state.name, state.status)
    if state.deed is not None:
        state.deed(page)


def _complaints_of(page: Page) -> list[str]:
    """Return a list that grows with what the page complains about."""
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        # That an answer is a refusal is in the table.
        if message.type == "error" and "responded with a status" not in message.text:
            complaints.append(message.text)

    def hear_dialog(dialog: Dialog) -> None:
        # A form in which something was typed asks before it is left.
        if dialog.type != "beforeunload":
            complaints.append(f"a dialog: {dialog.message}")
        dialog.accept()

    page.on("console", hear)
    page.on("pageerror", lambda fault: complaints.append(str(fault)))
    page.on("dialog", hear_dialog)
    return complaints


def _looks_of(
    page: Page, state: State, complaints: tuple[str, ...], views: Sequence[tuple[int, str]]
) -> Iterator[Look]:
    for width, theme in views:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        yield Look(state, page, width, theme, complaints)
