"""Every state of the page at three widths in both themes: axe-core finds nothing, nothing runs or sticks out.

In the other languages each page is looked at once, on a phone: words differ in their length alone.
Never compares pictures: `make look` takes them for a person to look at.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.page.states.new_journal import new_world, states_of_new_journal
from tests.e2e.page.states.state import THEMES, WIDTHS, Look, State, World, looks, speaking
from tests.e2e.page.states.used_journal import USED_STATES, used_world
from tests.support.page_faults import axe_findings, faults_for_a_finger, faults_of_shape

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


OTHER_LANGUAGES = ("de", "es", "fr", "ro")
SMALL_DEEDS = {"inbox-confirmed", "pair-code", "pair-ended", "pair-token"}
"""The states with a deed that can be done once more in each language."""
VIEWS = (*((width, THEMES[0]) for width in WIDTHS), (WIDTHS[-1], THEMES[-1]))
"""What of each state is asked something: shapes at each width, and the dark theme once."""
WHOLE_BARS = {"today-first-run", "today"}


def faults_at(look: Look) -> list[str]:
    """Return what is wrong, of which each rule is asked at the looks that can differ in it.

    Shapes follow the width and contrast the theme alone; no colour of the page depends on the width. The bar
    is the only part that shows more on a wide screen, and the same in every state.
    """
    if look.theme == THEMES[0]:
        findings = axe_findings(look.page) if look.width == WIDTHS[0] else []
        return [*look.complaints, *findings, *faults_of_shape(look.page)]
    rules = () if look.state.name in WHOLE_BARS else ("color-contrast",)
    return axe_findings(look.page, *rules)


def faults_by_look(chromium: Browser, world: World, states: list[State]) -> dict[str, list[str]]:
    """Return what is wrong, by state, width and theme."""
    faults = {
        f"{look.state.name} {look.width} {look.theme}": faults_at(look)
        for look in looks(chromium, world, states, views=VIEWS)
    }
    return {name: faults_there for name, faults_there in faults.items() if faults_there}


def faults_by_language(chromium: Browser, world: World, states: list[State]) -> dict[str, list[str]]:
    """Return what is wrong on a phone with what opens at once, by state and language."""
    plain = [state for state in states if state.deed is None or state.name in SMALL_DEEDS]
    faults: dict[str, list[str]] = {}
    for language in OTHER_LANGUAGES:
        with speaking(world, language):
            for look in looks(chromium, world, plain, phone=True):
                assert look.page.get_attribute("html", "lang") == language
                name = f"{look.state.name} {language}"
                faults[name] = [
                    *look.complaints,
                    *faults_of_shape(look.page),
                    *faults_for_a_finger(look.page),
                ]
    return {name: faults_there for name, faults_there in faults.items() if faults_there}


def test_a_new_journal_can_be_read_in_every_state(chromium: Browser, tmp_path: Path):
    with new_world(tmp_path) as world:
        states = states_of_new_journal(tmp_path)
        # What is imported comes last, and stays.
        before_imports = states[: [state.name for state in states].index("import-failed")]
        assert faults_by_language(chromium, world, before_imports) == {}
        assert faults_by_look(chromium, world, states) == {}


def test_a_journal_with_a_past_can_be_read_in_every_state(chromium: Browser, tmp_path: Path):
    with used_world(tmp_path) as world:
        assert faults_by_language(chromium, world, USED_STATES) == {}
        assert faults_by_look(chromium, world, USED_STATES) == {}
