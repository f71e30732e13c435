"""What a person does on a page to bring it to a state.

Never waits for a time to pass: each ends when what it did can be seen.
"""

from pathlib import Path

from playwright.sync_api import Page

from tests.e2e.page.states.state import Deed


def clicked(selector: str, sign: str) -> Deed:
    """Click on something, and wait for the `sign` of what comes of it."""

    def deed(page: Page) -> None:
        page.click(selector)
        page.wait_for_selector(sign)

    return deed


def hovered(selector: str) -> Deed:
    """Point at something."""

    def deed(page: Page) -> None:
        page.hover(selector)

    return deed


def pressed(key: str, sign: str) -> Deed:
    """Press a key, once the page listens to keys, and wait for what comes of it."""

    def deed(page: Page) -> None:
        page.wait_for_function("navigator.locks.query().then((locks) => locks.held.length > 0)")
        page.keyboard.press(key)
        page.wait_for_selector(sign)

    return deed


def filled(values: dict[str, str], button: str, sign: str) -> Deed:
    """Fill fields in, press a button, and wait for what comes of it."""

    def deed(page: Page) -> None:
        for field, value in values.items():
            page.fill(field, value)
        page.click(button)
        page.wait_for_selector(sign)

    return deed


def in_turn(*deeds: Deed) -> Deed:
    """Do one thing after the other."""

    def deed(page: Page) -> None:
        for step in deeds:
            step(page)

    return deed


def unfolded(page: Page) -> None:
    """Open everything that is folded and that a person can unfold there: a key or a menu opens the rest."""
    for summary in page.query_selector_all("details:not([open]) > summary"):
        if summary.is_visible():
            summary.click()


def uploaded(file: Path, sign: str) -> Deed:
    """Choose a file for an import, have it looked at, and wait for what comes of it."""

    def deed(page: Page) -> None:
        page.set_input_files("[type=file]", file)
        page.click("form[data-drop] button")
        page.wait_for_selector(sign)

    return deed


def fetched(script: str, sign: str) -> Deed:
    """Run a script in the page, and wait for what comes of it."""

    def deed(page: Page) -> None:
        page.evaluate(script)
        page.wait_for_selector(sign)

    return deed
