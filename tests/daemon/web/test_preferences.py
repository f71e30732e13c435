"""Preferences on the page: added, changed, removed and undone, and refused with what was typed."""

import re

import pytest

from daemon.journal import categories, preferences
from daemon.journal.categories import NewCategory
from daemon.journal.preferences import TEXT_CHARS_MAX, Preference
from tests.daemon.web.conftest import Page


async def lines(page: Page) -> list[Preference]:
    return await page.store.read(preferences.list_preferences)


async def add(page: Page, text: str, category: str = "") -> str:
    answer = await page.ask("/preferences", {"do": "add", "line": "", "text": text, "category": category})
    assert answer.status == 303, answer.text
    return (await lines(page))[-1].id


async def test_a_line_is_added_changed_removed_and_comes_back_by_the_undo(page: Page):
    await page.store.write(lambda tx: categories.add(tx, NewCategory(name="Health")))
    ref = await add(page, "I call in the mornings.")
    sent = {"do": "save", "line": ref, "text": "I call in the afternoon.", "category": "Health"}
    assert (await page.ask("/preferences", sent)).status == 303
    assert [(line.text, line.category) for line in await lines(page)] == [(sent["text"], "Health")]
    # Its category is removed: what is typed now changes the words alone.
    await page.store.write(lambda tx: categories.remove(tx, "Health"))
    await page.ask("/preferences", {**sent, "category": "", "was": ""})
    await page.store.write(lambda tx: categories.restore(tx, "Health"))
    assert [line.category for line in await lines(page)] == ["Health"]
    answer = await page.ask("/preferences", {"do": "remove", "line": ref})
    assert await lines(page) == []
    await page.ask("/undo", {"change": answer.headers["Placet-Change"], "back": "/preferences"})
    assert [line.text for line in await lines(page)] == [sent["text"]]


@pytest.mark.parametrize(
    ("text", "words"), [("   ", "needs words"), ("x" * (TEXT_CHARS_MAX + 1), "500 characters at most")]
)
async def test_a_line_that_is_refused_stays_typed(page: Page, text: str, words: str):
    ref = await add(page, "I call in the mornings.")
    answer = await page.ask("/preferences", {"do": "save", "line": ref, "text": text, "category": ""})
    assert (answer.status, words in answer.text) == (409, True)
    form = answer.text.partition(f'id="f-{ref}"')[2].partition("</form>")[0]
    assert re.search(rf"required>\n{text}</textarea>", form)


async def test_hostile_words_and_lines_that_are_gone_are_no_fault(page: Page):
    await add(page, "<script>alert(1)</script>")
    assert "<script>alert" not in (await page.ask("/preferences")).text
    answer = await page.ask("/preferences", {"do": "remove", "line": "0" * 32})
    assert answer.status == 409
    answer = await page.ask("/preferences", {"do": "add", "text": "x", "category": "none such"})
    assert answer.status == 409
    assert (await page.ask("/preferences", {"do": "burn"})).status == 400
