"""The finder, and the keys: that the list of them, the scripts and the templates name the same ones."""

import re

import pytest

from daemon.journal import tasks
from daemon.journal.tasks import NewTask
from daemon.web.finder.finder_routes import ACTIONS_MAX, TASKS_MAX
from daemon.web.frame.entries import BAR, ENTRIES, entries_named
from daemon.web.frame.keys import KEYS, deeds_by_key
from daemon.web.frame.rendering import WEB_FOLDER
from daemon.words.translation import use_language
from store.transaction import Transaction
from tests.daemon.web.conftest import Page

SCRIPTS = {"everywhere": "frame/page.js", "row": "tasks/tasks.js", "item": "decide/review.js"}
"""The script that has the deeds of the keys of a part."""


def deeds_of(part: str) -> set[str]:
    """Return the names of the deeds that the script of a part has."""
    text = (WEB_FOLDER / SCRIPTS[part]).read_text("utf-8")
    table = text.partition("const DEEDS = {\n")[2].partition("\n};")[0]
    return set(re.findall(r"^  (\w+):", table, re.MULTILINE))


async def titles_found(page: Page, typed: str) -> list[str]:
    text = (await page.ask(f"/find?q={typed}")).text
    return re.findall(r'class="what">(?:<del>)?<bdi>([^<]*)', text)


def test_a_key_of_the_list_is_a_deed_of_its_script_and_each_deed_has_a_key():
    moves = {"next", "previous"}
    in_table = {part: {key.deed for key in KEYS if key.part == part} for part in SCRIPTS}
    pressed = {deed for deed in in_table["everywhere"] if not deed.startswith("/")} - moves
    from_finder = {entry.deed for entry in ENTRIES if entry.deed}
    assert pressed | from_finder == deeds_of("everywhere")
    assert in_table["row"] | moves == deeds_of("row")
    assert in_table["item"] | moves == deeds_of("item")


def test_nothing_is_listed_twice():
    assert len({entry.words for entry in ENTRIES}) == len(ENTRIES)


def test_no_script_keeps_a_choice_where_signing_out_empties_it():
    scripts = [script.read_text("utf-8") for script in WEB_FOLDER.rglob("*.js")]
    assert not [script for script in scripts if "localStorage" in script]
    kept = [script for script in scripts if "placet_keys=off" in script]
    assert len(kept) == 2


def test_no_key_stands_for_two_things_in_one_place():
    for part in SCRIPTS:
        read = [name for key in KEYS if key.part in (part, "everywhere") for name in key.keys]
        assert sorted(set(read)) == sorted(read)


def test_the_keys_that_templates_name_are_those_of_the_table():
    in_table = {name.replace("Ctrl k", "Control+K") for part in deeds_by_key().values() for name in part}
    named = {
        key
        for template in WEB_FOLDER.rglob("*.html")
        for keys in re.findall(r'aria-keyshortcuts="([^"{]+)"', template.read_text("utf-8"))
        for key in keys.replace("Meta+K", "Control+K").split()
    }
    assert {"x", "y", "n", "d", "c"} <= named <= in_table


async def test_the_list_of_keys_has_a_page_and_names_each(page: Page):
    text = (await page.ask("/keys")).text
    assert text.count("<kbd>") == sum(len(key.shown or key.keys) for key in KEYS)
    # The page itself carries what its scripts read, and not the list.
    other = (await page.ask("/settings-of-nobody")).text
    assert "make a new task" not in other


async def test_tasks_are_found_by_beginnings_of_words_and_are_few(page: Page):
    def add(tx: Transaction) -> None:
        for number in range(2 * TASKS_MAX):
            tasks.add(tx, NewTask(title=f"Renew passport {number}"))

    await page.store.write(add)
    rows = await titles_found(page, "renew+pass")
    assert len(rows) == TASKS_MAX + 1
    assert rows[-1] == "Search all tasks for “renew pass”"
    assert await titles_found(page, "xyzzy") == ["Search all tasks for “xyzzy”"]


@pytest.mark.parametrize("typed", ["-", '"', "%22%22", "-passport", "%00", "a" * 5000, "<b>", "*"])
async def test_words_that_search_for_nothing_are_no_fault(page: Page, typed: str):
    answer = await page.ask(f"/find?q={typed}")
    assert answer.status == 200
    assert "<b>" not in answer.text
    assert len(answer.text) < 5000


async def test_without_words_the_rooms_are_offered(page: Page):
    assert await titles_found(page, "") == ["Add a task", *(entry.words for entry in BAR)]
    assert (await page.ask("/find", headers={"Cookie": None})).status == 401


async def test_actions_come_before_tasks_and_are_few(page: Page):
    await page.propose(("set_task_title", {"title": "Devices"}))
    rows = await titles_found(page, "d")
    assert len(rows) <= ACTIONS_MAX + TASKS_MAX + 1
    assert rows[0] == "Devices"


@pytest.mark.parametrize(
    ("language", "typed"), [("de", "gerat"), ("es", "dispo"), ("fr", "appar"), ("ro", "dispozit")]
)
def test_an_action_is_found_in_each_language_whatever_its_accents(language: str, typed: str):
    use_language(language)
    try:
        assert "devices" in [entry.room for entry in entries_named(typed)]
    finally:
        use_language("en")


def test_each_icon_that_is_sent_is_drawn_somewhere():
    templates = "".join(template.read_text("utf-8") for template in WEB_FOLDER.rglob("*.html"))
    sent = set(re.findall(r'^  "([a-z]+)": "M', templates, re.MULTILINE))
    named = {name for name in sent if templates.count(f'"{name}"') > 1}
    assert named | {entry.icon for entry in ENTRIES} == sent
