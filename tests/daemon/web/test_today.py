"""The first page by plain forms: the groups of a day, what waits, and what is done to rows in place.

Never runs a script: tests/e2e/page/test_page_today.py does.
"""

import html
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon.journal import tasks
from daemon.journal.tasks import TaskEdit
from daemon.web.tasks.row_deeds import ROWS_MAX
from daemon.web.today import day_routes
from tests.daemon.web.conftest import CHANGES, PageAnswer
from tests.daemon.web.task_page import TaskPage, task_page_of


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[TaskPage]:
    async with task_page_of(tmp_path) as page:
        yield page


def day(page: TaskPage, ahead: int) -> str:
    today = datetime.fromtimestamp(page.now_ms() / 1000, UTC).date()
    return (today + timedelta(ahead)).isoformat()


def row_of(answer: PageAnswer, ref: str) -> str:
    return answer.text.partition(f'id="t-{ref}"')[2].partition("</li>")[0]


def form_of(answer: PageAnswer, *refs: str) -> list[tuple[str, str]]:
    """Return what the menu sends of these rows: what the row shows goes along."""
    bases = [re.search(r'name="base" value="([^"]*)"', row_of(answer, ref)) for ref in refs]
    assert all(bases)
    return [
        *(("task", ref) for ref in refs),
        *(("base", html.unescape(base[1])) for base in bases if base),
        ("do", "set"),
    ]


def groups_of(answer: PageAnswer) -> dict[str, list[str]]:
    """Return the titles of each group by its head."""
    sections = re.findall(r'<h2 class="group[^"]*" id="g-\d+">(.*?)</section>', answer.text, re.DOTALL)
    return {
        re.split(r"<", section)[0].strip(): re.findall(r'class="title"[^>]*><bdi>([^<]*)', section)
        for section in sections
    }


async def test_a_day_shows_each_task_once_under_its_head(page: TaskPage) -> None:
    for title, ahead in (("Tax", -3), ("Rent", 0), ("Stamps", 1), ("Trip", 5), ("Far away", 30)):
        await page.task(title=title, due=day(page, ahead))
    await page.task(title="Under way", status="IN PROGRESS")
    await page.task(title="Some day")
    await page.task(title="Done", due=day(page, 0), status="DONE")
    answer = await page.ask("/")
    (in_five_days,) = groups_of(answer).keys() - {"Overdue", "Today", "Tomorrow", "In progress without a day"}
    assert list(groups_of(answer).items()) == [
        ("Overdue", ["Tax"]),
        ("Today", ["Rent"]),
        ("Tomorrow", ["Stamps"]),
        (in_five_days, ["Trip"]),
        ("In progress without a day", ["Under way"]),
    ]


async def test_an_empty_day_says_so_and_a_long_one_leads_to_the_rest(
    page: TaskPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "These are the first steps." in (await page.ask("/")).text
    monkeypatch.setattr(day_routes, "ROWS_MAX", 2)
    for number in range(5):
        await page.task(title=f"Late {number}", due=day(page, -1))
    text = (await page.ask("/")).text
    assert "Nothing is due today." in text
    assert '<a href="/tasks?due=overdue">3 more</a>' in text
    assert text.count('class="task"') == 2


async def test_a_tick_finishes_a_task_where_it_stands(page: TaskPage) -> None:
    ref = await page.task(title="Rent", due=day(page, 0))
    shown = await page.ask("/")
    answer = await page.ask("/", [*form_of(shown, ref), ("set", "status:DONE")])
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    assert row_of(await page.ask("/"), ref) == ""
    assert (await page.shown(ref)).status == "DONE"


@pytest.mark.parametrize(
    ("pressed", "field", "value"),
    [
        ([("set", "priority:P0")], "priority", "P0"),
        ([("set", "due"), ("due", "2030-12-24")], "due", "2030-12-24"),
        ([("set", "due:")], "due", None),
        ([("set", "status:IN PROGRESS")], "status", "IN PROGRESS"),
        ([("set", "labels"), ("label", "Home")], "labels", ["Home"]),
        ([("set", "title"), ("title", "Better")], "title", "Better"),
        ([("set", "status:BLOCKED"), ("reason", "No stamps")], "reason", "No stamps"),
        ([("set", "start:2030-12-24")], "start", "2030-12-24"),
        ([("set", "estimate_minutes:30")], "estimate_minutes", 30),
        ([("set", "category"), ("category", "Home")], "category", "Home"),
        # Enter in a field names no part of the menu.
        ([("set", "typed"), ("due", "2030-12-24"), ("label", "")], "due", "2030-12-24"),
        ([("set", "typed"), ("reason", "It can wait")], "reason", "It can wait"),
    ],
)
async def test_a_menu_changes_all_rows_that_are_chosen(
    page: TaskPage, pressed: list[tuple[str, str]], field: str, value: object
) -> None:
    refs = [await page.task(title=title, due=day(page, 0)) for title in ("Rent", "Stamps")]
    answer = await page.ask("/", [*form_of(await page.ask("/"), *refs), *pressed])
    assert answer.status == 303, answer.text
    assert [getattr(await page.shown(ref), field) for ref in refs] == [value, value]


async def test_a_menu_takes_a_label_away_from_all_rows_that_have_it(page: TaskPage) -> None:
    refs = [await page.task(title=title, due=day(page, 0)) for title in ("Rent", "Stamps")]
    both = form_of(await page.ask("/"), *refs)
    await page.ask("/", [*both, ("set", "labels:Home")])
    await page.ask("/", [*form_of(await page.ask("/"), refs[0]), ("set", "labels:Post")])
    shown = await page.ask("/")
    assert 'name="set" value="labels:Home"' in shown.text
    await page.ask("/", [*form_of(shown, *refs), ("set", "unlabel:Home")])
    assert [(await page.shown(ref)).labels for ref in refs] == [["Post"], []]
    own = (await page.ask(f"/tasks/{refs[0]}")).text
    assert ('value="unlabel:Post" aria-pressed="true"' in own, 'value="labels:Home"' in own) == (True, True)
    before = await page.commits()
    await page.ask("/", [*form_of(shown, *refs), ("set", "typed")])
    assert await page.commits() == before


async def test_what_is_refused_is_said_and_changes_no_row(page: TaskPage) -> None:
    rent, stamps = [await page.task(title=title, due=day(page, 0)) for title in ("Rent", "Stamps")]
    before = await page.commits()
    shown = await page.ask("/")
    unknown = [("task", "0" * 32), ("base", '{"' + "0" * 32 + '":1}')]
    for form in (
        [*form_of(shown, rent, stamps), ("set", "due"), ("due", "someday")],
        [*form_of(shown, rent), ("set", "status:BLOCKED")],
        [*form_of(shown, rent), *unknown, ("set", "status:DONE")],
    ):
        answer = await page.ask("/", form)
        assert (answer.status, 'class="refusal"' in answer.text) == (409, True)
    for wrong in (
        [("set", "status:DONE")],
        [*form_of(shown, rent), ("set", "nothing:1")],
        [*form_of(shown, rent), ("task", stamps), ("set", "status:DONE")],
        [("task", rent), ("base", "no clock"), ("set", "status:DONE")],
    ):
        assert (await page.ask("/", wrong)).status == 400
    assert await page.commits() == before


async def test_an_outdated_row_writes_beside_what_it_did_not_show(page: TaskPage) -> None:
    ref = await page.task(title="Rent", due=day(page, 0))
    form = form_of(await page.ask("/"), ref)
    await page.store.write(lambda tx: tasks.edit(tx, ref, TaskEdit(title="Pay the rent", priority="P0")))
    assert (await page.ask("/", [*form, ("set", "title"), ("title", "Better")])).status == 303
    shown = await page.shown(ref)
    assert {value.value for conflict in shown.conflicts for value in conflict.versions} == {
        "Pay the rent",
        "Better",
    }
    assert shown.priority == "P0"


async def test_a_press_that_is_sent_twice_is_done_once(page: TaskPage) -> None:
    ref = await page.task(title="Rent", due=day(page, 0))
    form = [*form_of(await page.ask("/"), ref), ("set", "status:DONE")]
    await page.ask("/", form)
    commits = await page.commits()
    assert (await page.ask("/", form)).status == 303
    assert await page.commits() == commits


async def test_a_row_that_a_form_has_twice_is_changed_once(page: TaskPage) -> None:
    ref = await page.task(title="Rent", due=day(page, 0))
    form = [*form_of(await page.ask("/"), ref)] * 2
    assert (await page.ask("/", [*form, ("set", "priority:P0")])).status == 303
    shown = await page.shown(ref)
    assert (shown.priority, shown.conflicts) == ("P0", [])


async def test_a_form_with_more_rows_than_a_page_sends_is_refused(page: TaskPage) -> None:
    ref = await page.task(title="Rent", due=day(page, 0))
    pair = form_of(await page.ask("/"), ref)[:2]
    commits = await page.commits()
    for count, status in ((ROWS_MAX + 1, 400), (ROWS_MAX, 303)):
        answer = await page.ask("/", [*pair * count, ("do", "set"), ("set", "priority:P0")])
        assert answer.status == status
        assert await page.commits() == commits + (status == 303)


async def test_a_row_is_removed_from_the_list_that_shows_it(page: TaskPage) -> None:
    ref = await page.task(title="Rent")
    address = "/tasks?sort=title"
    shown = await page.ask(address)
    assert f'action="{address}"' in shown.text
    answer = await page.ask(address, [*form_of(shown, ref), ("set", "remove")])
    assert (answer.status, answer.headers["Location"]) == (303, address)
    assert (await page.ask(f"/tasks/{ref}")).status == 404


async def test_what_waits_unfolds_to_its_card_and_is_decided_there(page: TaskPage) -> None:
    items = await page.propose(*CHANGES)
    shown = await page.ask("/")
    assert re.search(r"<summary>.*Task of run.*suggests 3 changes.*</summary>", shown.text, re.DOTALL)
    answer = await page.ask("/", {"decide": shown.forms()[f"confirmed {items[0]}"]})
    assert (answer.status, await page.status_of(items[0])) == (200, "confirmed")


async def test_what_is_read_of_a_line_is_shown_before_it_is_sent(page: TaskPage) -> None:
    address = "/tasks/read?line=Buy+stamps+2030-12-24+45+min+%23home"
    for keep, shown in (
        ("", ["24 Dec 2030", "45 min", "#home"]),
        ("&keep=%23home", ["24 Dec 2030", "45 min"]),
    ):
        assert re.findall(r"<bdi[^>]*>([^<]*)", (await page.ask(address + keep)).text) == shown
    assert "<bdi" not in (await page.ask("/tasks/read?line=Buy+stamps")).text
    assert page.made == []
