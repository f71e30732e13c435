"""Preferences on the page: added, changed, removed and undone, and refused with what was typed."""

import re

import pytest

from daemon.journal import categories, preferences
from daemon.journal.categories import NewCategory
from daemon.journal.preferences import TEXT_CHARS_MAX, Preference, PreferenceEdit
from tests.daemon.web.conftest import Page, PageAnswer


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


def form_of(answer: PageAnswer, ref: str) -> dict[str, str]:
    """Return what the form of a line sends without a script, but for its words."""
    form = answer.text.partition(f'id="f-{ref}"')[2].partition("</form>")[0]
    return {"do": "save", **dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))}


async def test_an_old_form_writes_over_nothing_newer(page: Page):
    await page.store.write(lambda tx: categories.add(tx, NewCategory(name="Health")))
    ref = await add(page, "I call in the mornings.")
    old = form_of(await page.ask("/preferences"), ref)
    await page.store.write(lambda tx: preferences.edit(tx, ref, PreferenceEdit("I never call.")))
    # Its words were not touched, so that they are not sent back.
    sent = old | {"text": "I call in the mornings.", "category": "Health"}
    assert (await page.ask("/preferences", sent)).status == 303
    assert [(line.text, line.category) for line in await lines(page)] == [("I never call.", "Health")]
    answer = await page.ask("/preferences", old | {"text": "I call at noon.", "category": ""})
    assert (answer.status, "it has changed since it was shown" in answer.text) == (409, True)
    # What was refused is marked as typed, so that no news takes it away; sent again, it counts.
    form = answer.text.partition(f'id="f-{ref}"')[2].partition("</form>")[0]
    assert (" data-typed" in form.partition(">")[0], 'value="Health" selected' in form) == (True, False)
    again = form_of(answer, ref) | {"text": "I call at noon.", "category": ""}
    assert (await page.ask("/preferences", again)).status == 303
    assert [(line.text, line.category) for line in await lines(page)] == [("I call at noon.", None)]


async def test_hostile_words_and_lines_that_are_gone_are_no_fault(page: Page):
    await add(page, "<script>alert(1)</script>")
    assert "<script>alert" not in (await page.ask("/preferences")).text
    answer = await page.ask("/preferences", {"do": "remove", "line": "0" * 32})
    assert answer.status == 409
    answer = await page.ask("/preferences", {"do": "add", "text": "x", "category": "none such"})
    assert answer.status == 409
    assert (await page.ask("/preferences", {"do": "burn"})).status == 400
