"""One task on the page: what it shows, and what a person does to it, by plain forms.

Never runs a script: tests/e2e/page/test_page_tasks.py does.
"""

import html
import re
from collections.abc import AsyncIterator
from datetime import UTC
from functools import partial
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from daemon.agents.person import lifecycle
from daemon.agents.running.timetable import Outlook
from daemon.disk import DiskFloor
from daemon.journal import checklists, entries, links, time_records
from daemon.journal import tasks as task_use_cases
from daemon.journal.checklists import NewChecklist
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.fields.validation import TITLE_CHARS_MAX
from daemon.journal.human_input import HumanInput
from daemon.journal.links import NewLink
from daemon.journal.tasks import TaskEdit
from daemon.journal.time_records import NewTimer, Stop
from daemon.journal.views.structures import Origin
from daemon.web.tasks.task_rows import ShownTask, page_of_task
from store.sentence import sentence
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import id_from_text, id_to_text
from tests.daemon.web.conftest import PageAnswer
from tests.daemon.web.task_page import TaskPage, hidden_fields, task_page_of


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[TaskPage]:
    async with task_page_of(tmp_path) as page:
        yield page


async def test_a_person_writes_notes_ticks_items_and_sets_the_status(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    await page.follow(await page.ask(path, {"do": "note", "note": "She answers on Monday."}))
    shown = await page.follow(await page.ask(path, {"do": "item", "title": "Buy stamps"}))
    shown = await page.follow(await page.ask(path, {"do": "tick", **hidden_fields(shown.text, "tick")}))
    assert "Take the tick from: Buy stamps" in shown.text
    shown = await page.follow(await page.ask(path, {"do": "untick", **hidden_fields(shown.text, "untick")}))
    menu = {**hidden_fields(shown.text, "rows"), "set": "status:BLOCKED", "reason": "No stamps"}
    await page.follow(await page.ask(path, menu))
    task = await page.shown(ref)
    assert (task.status, task.reason, task.entries[0].text) == (
        "BLOCKED",
        "No stamps",
        "She answers on Monday.",
    )
    assert "0/1" in (await page.ask("/tasks")).text
    assert [item.is_checked for item in task.checklists[0].items] == [False]
    refused = await page.ask(path, menu | {"set": "status:SOON"})
    assert (refused.status, "no status is called" in refused.text) == (409, True)


async def test_a_person_starts_and_stops_a_timer(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    shown = await page.follow(await page.ask(path, {"do": "start"}))
    assert [record.is_running for record in (await page.shown(ref)).times] == [True]
    stop = hidden_fields(shown.text, "stop")
    shown = await page.follow(await page.ask(path, {"do": "stop", **stop}))
    assert [record.is_running for record in (await page.shown(ref)).times] == [False]
    assert 'value="stop"' not in shown.text
    ended = (await page.shown(ref)).times
    # Once more, from a page that is not new: it is as it was.
    await page.follow(await page.ask(path, {"do": "stop", **stop}))
    assert (await page.shown(ref)).times == ended
    assert (await page.ask(path, {"do": "stop"})).status == 400


@pytest.mark.parametrize(
    "form", [{}, {"do": "rm"}, {"do": "status", "status": "DONE"}, {"do": "tick", "base": "x"}]
)
async def test_a_form_that_the_page_does_not_send_is_refused(page: TaskPage, form: dict[str, str]) -> None:
    path = f"/tasks/{await page.task()}"
    assert (await page.ask(path, form)).status == 400


async def test_a_task_that_is_gone_is_said_to_be(page: TaskPage) -> None:
    ref = await page.task()
    await page.store.write(lambda tx: task_use_cases.remove(tx, ref))
    for answer in (await page.ask(f"/tasks/{ref}"), await page.ask(f"/tasks/{'0' * 32}")):
        assert answer.status == 404
    lost = await page.ask(f"/tasks/{ref}", {"do": "note", "note": "Too <b>late"})
    assert lost.status == 404
    assert "\nToo &lt;b&gt;late</textarea>" in lost.text


async def test_a_removed_task_comes_back_with_what_was_typed_meanwhile(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    edit = {"do": "edit", **hidden_fields((await page.ask(path)).text, "edit"), "due": "someday"}
    await page.store.write(lambda tx: task_use_cases.remove(tx, ref))
    assert "was removed" in (await page.ask(path)).text
    assert (await page.follow(await page.ask(path, {"do": "restore"}))).status == 200
    await page.store.write(lambda tx: task_use_cases.remove(tx, ref))
    # What is wrong is told before the journal is asked.
    gone = await page.ask(path, edit | {"title": "Write to Bea", "due": "2027-03-01"})
    assert (gone.status, "\nWrite to Bea</textarea>" in gone.text) == (404, True)
    back = await page.ask(path, {"do": "restore", **hidden_fields(gone.text, "restore")})
    assert (back.status, 'value="Write to Bea"' in back.text) == (200, True)
    typed = {"do": "edit", **hidden_fields(back.text, "edit"), "title": "Write to Bea", "due": ""}
    await page.follow(await page.ask(path, typed))
    assert (await page.shown(ref)).title == "Write to Bea"
    # A task that never was cannot come back.
    assert "restore" not in (await page.ask(f"/tasks/{'0' * 32}")).text
    assert (await page.ask(f"/tasks/{'0' * 32}", {"do": "restore"})).status == 404


async def test_only_what_was_typed_over_is_a_persons_edit(page: TaskPage) -> None:
    ref = await page.task(due="2026-12-24", estimate_minutes=30)
    path = f"/tasks/{ref}"
    fields = {"do": "edit", **hidden_fields((await page.ask(path)).text, "edit")}
    typed = {"title": "Write to Ana", "due": "", "estimate_minutes": "2 h"}
    before = await page.commits()
    unchanged = {"title": "Write to Ana", "due": "2026-12-24", "estimate_minutes": "30 min"}
    await page.follow(await page.ask(path, fields | unchanged))
    assert await page.commits() == before
    await page.follow(await page.ask(path, fields | typed))
    task = await page.shown(ref)
    assert (task.title, task.due, task.estimate_minutes) == ("Write to Ana", None, 120)
    for wrong in ({"title": " "}, {"due": "someday"}):
        assert (await page.ask(path, fields | typed | wrong)).status == 409


async def test_an_hour_is_typed_with_its_day_and_gone_if_it_is_typed_no_more(page: TaskPage) -> None:
    path = f"/tasks/{await page.task()}"
    for due, words in (
        ("2030-05-01 14:00", "1 May 2030 14:00"),
        ("2030-05-02 9:30", "2 May 2030 09:30"),
        ("2030-05-02", "2 May 2030<"),
    ):
        fields = hidden_fields((await page.ask(path)).text, "edit")
        shown = await page.follow(await page.ask(path, {"do": "edit", **fields, "due": due}))
        assert f"due {words}" in shown.text


async def test_each_field_says_what_is_wrong_with_it_and_keeps_what_was_typed(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    before, shown = await page.commits(), (await page.ask(path)).text
    title = "x" * (TITLE_CHARS_MAX + 1)
    typed = {"title": title, "due": "some <day>", "estimate_minutes": "long", "labels": "y" * 101}
    answer = await page.ask(path, {"do": "edit", **hidden_fields(shown, "edit"), **typed})
    assert answer.status == 409
    faults = dict(re.findall(r'class="fault" id="e-edit-(\w+)" role="alert"><bdi>(.*?)</bdi>', answer.text))
    assert faults.keys() == typed.keys()
    assert "401 characters is longer than 400" in faults["title"]
    assert f'value="{title}"' in answer.text
    assert 'aria-describedby="e-edit-due" autocomplete="off" value="some &lt;day&gt;"' in answer.text
    assert answer.text.count("autofocus") == 1
    assert re.search(r'<details id="edit" open>', answer.text)
    for form, words in (
        ({"do": "item", "title": "z" * 401}, "401 characters"),
        ({"do": "note", "note": " "}, "a note cannot be empty"),
        ({**hidden_fields(shown, "rows"), "set": "status:ON HOLD"}, "This status needs a reason"),
    ):
        refused = await page.ask(path, form)
        assert (refused.status, words in refused.text) == (409, True)
    assert await page.commits() == before
    exact = {"do": "edit", **hidden_fields(shown, "edit"), "title": title[:-1]}
    await page.follow(await page.ask(path, exact))
    assert (await page.shown(ref)).title == title[:-1]


async def test_a_refused_form_still_counts_against_what_it_was_typed_on(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    typed = {"do": "edit", **hidden_fields((await page.ask(path)).text, "edit")}
    typed |= {"title": "Write to Ana", "due": "someday"}
    other = TaskEdit(title="Write to Bea")
    await page.store.write(lambda tx: task_use_cases.edit(tx, ref, other))
    again = {"do": "edit", **hidden_fields((await page.ask(path, typed)).text, "edit")}
    await page.follow(await page.ask(path, again | {"title": "Write to Ana", "due": "2027-03-01"}))
    task = await page.shown(ref)
    assert (task.title, task.due, task.conflicts) == ("Write to Bea", "2027-03-01", [])


async def test_a_task_reads_as_what_it_is_how_it_stands_and_who_works_on_it(page: TaskPage) -> None:
    ref, other = await page.task(estimate_minutes=180, due="2020-01-01"), await page.task(title="Post it")
    path = f"/tasks/{ref}"
    human_input, timer = HumanInput(page.now_ms, UTC, "en"), NewTimer("1 hour ago", "Called <b>her")
    await page.store.write(lambda tx: time_records.start(tx, ref, timer, human_input))
    await page.store.write(lambda tx: time_records.stop(tx, Stop(), human_input))
    await page.store.write(lambda tx: links.add(tx, ref, NewLink("blocks", other)))
    for status, reason in (("IN PROGRESS", None), ("BLOCKED", "No <stamps>")):
        edit = TaskEdit(status=status, reason=reason)
        await page.store.write(partial(task_use_cases.edit, ref=ref, change=edit))
    assert "Create an agent" in (await page.ask(path)).text
    await page.store.write(lambda tx: lifecycle.create_agent(tx, ref, "rules", name="Laura <b>"))
    page.outlook = Outlook(60.0, sentence("nothing-new", "nothing new"))
    text = (await page.ask(path)).text
    for words in (
        'data-menu="status"><bdi>blocked</bdi>',
        'class="chip red" popovertarget="row-menu" data-menu="due"><bdi>overdue: 1 Jan 2020</bdi>',
        "<bdi>1 h of 3 h</bdi>",
        "<bdi>because: No &lt;stamps&gt;</bdi>",
        "<bdi>Laura &lt;b&gt;</bdi></a> · <bdi>run",
        "<bdi>Called &lt;b&gt;her</bdi>",
        f'<span class="sub">blocks</span> <a href="/tasks/{other}"><bdi>Post it</bdi></a>',
        '<span class="label">in progress</span>',
        f'<a href="/tasks/{ref}/timeline">',
    ):
        assert words in text
    assert "Create an agent" not in text
    # What one seldom looks for is folded away.
    assert re.findall(r'<details id="(\w+)"', text) == ["edit", "times", "links", "history"]


async def test_an_item_says_who_ticked_it_and_goes_to_the_list_that_was_chosen(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    for title in ("Paper", "Post"):
        await page.store.write(partial(checklists.add, ref=ref, new=NewChecklist(title)))
    shown = await page.follow(await page.ask(path, {"do": "item", "title": "Stamps", "checklist": "Post"}))
    assert '<span class="count">0/1</span>' in shown.text
    answer = await page.ask(path, {"do": "tick", **hidden_fields(shown.text, "tick")})
    shown = await page.follow(answer)
    item = (await page.shown(ref)).checklists[1].items[0]
    assert answer.headers["Location"] == f"{path}#i-{item.id}"
    assert "<bdi>checked by you" in shown.text


async def test_labels_are_added_and_taken_away_a_line_each(page: TaskPage) -> None:
    ref = await page.task()
    edit = TaskEdit(add_labels=["home, sweet", "paper"], category="Office")
    await page.store.write(lambda tx: task_use_cases.edit(tx, ref, edit))
    hidden = hidden_fields((await page.ask(f"/tasks/{ref}")).text, "edit")
    typed = hidden | {"do": "edit", "title": "Write to Ana", "due": "", "estimate_minutes": ""}
    typed |= {"category": "Family", "labels": "home, sweet\r\npost\r\n"}
    await page.follow(await page.ask(f"/tasks/{ref}", typed))
    task = await page.shown(ref)
    assert (task.category, sorted(task.labels)) == ("Family", ["home, sweet", "post"])


async def test_a_refused_note_of_several_lines_stays_as_it_was_typed(page: TaskPage) -> None:
    ref = await page.task()
    object.__setattr__(page.services, "floor", DiskFloor(page.folder, 1 << 60))
    typed = "\r\n\tTwo <photos>.\r\nBoth new.\r\n"
    answer = await page.ask(f"/tasks/{ref}", {"do": "note", "note": typed})
    assert answer.status == 409
    assert 'placeholder="Add a note">\n\n\tTwo &lt;photos&gt;.\nBoth new.\n</textarea>' in answer.text


async def test_a_conflict_is_settled_by_keeping_one_of_the_values(page: TaskPage) -> None:
    ref = await page.task()
    task = await page.shown(ref)
    for title in ("Write to Bea", "Write to Cleo"):
        edit = TaskEdit(title=title, base=task.vector_clock)
        await page.store.write(partial(task_use_cases.edit, ref=ref, change=edit))
    text = (await page.ask(f"/tasks/{ref}")).text
    assert "Devices changed this while apart" in text
    forms = [form for form in re.findall(r"<form.*?</form>", text, re.DOTALL) if 'value="keep"' in form]
    assert len(forms) == 2
    shown_first = "Write to Cleo" in forms[0]
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', forms[1]))
    keep = {"do": "keep"} | {name: value.replace("&#34;", '"') for name, value in hidden.items()}
    for wrong in ({"n": "0"}, {"n": "x"}, {"n": "\u00b2"}, {"base": "{"}):
        assert (await page.ask(f"/tasks/{ref}", keep | wrong)).status == 400
    assert (await page.ask(f"/tasks/{ref}", keep | {"n": "7"})).status == 409
    answer = await page.follow(await page.ask(f"/tasks/{ref}", keep))
    assert "Devices changed this while apart" not in answer.text
    task = await page.shown(ref)
    assert (task.title, task.conflicts) == ("Write to Bea" if shown_first else "Write to Cleo", [])
    # An old tab shows what was settled since.
    assert (await page.ask(f"/tasks/{ref}", keep)).status == 409


async def test_what_waits_on_a_task_does_not_say_again_which_task_it_is(page: TaskPage) -> None:
    (item,) = await page.propose(("update_task_estimate", {"minutes": 120}))
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    text = (await page.ask(f"/tasks/{id_to_text(stored.task)}")).text
    icon = r'<svg[^>]*><use href="#icon-spark"/></svg>'
    assert re.search(rf'<h2 id="h-[^"]+">{icon} [^<]*suggests 1 change</h2>', text)
    assert f"confirmed {item}" in PageAnswer(200, text, {}).forms()


async def noted(page: TaskPage, ref: str, text: str) -> str:
    """Write a note; return it."""
    await page.store.write(lambda tx: entries.add(tx, ref, NewEntry(text)))
    return str((await page.shown(ref)).entries[-1].id)


async def texts(page: TaskPage, ref: str) -> list[str]:
    return [entry.text for entry in (await page.shown(ref)).entries]


async def test_a_persons_own_note_is_edited_and_an_agents_is_not(page: TaskPage) -> None:
    ref = await page.task()
    path, note = f"/tasks/{ref}", await noted(page, ref, "Two <photos>.\r\n\tBoth new.")
    await noted(page, ref, "Nothing\u202eseen.")
    fields: dict[str, Value] = {"task_id": id_from_text(ref), "text": "By the agent.", "source": "note"}
    await page.store.write(
        lambda tx: tx.commit([EntityWrite(tx.new_id(), "entry", fields)], by=AuthorKind.AGENT)
    )
    text = (await page.ask(path)).text
    assert ("By the agent." in text, text.count('value="edit-note"')) == (True, 1)
    assert ">\nTwo &lt;photos&gt;.\n\tBoth new.</textarea>" in text
    before = await page.commits()
    form = {"do": "edit-note", **hidden_fields(text, f"note-{note}")}
    same = await page.ask(path, form | {"note": "Two <photos>.\r\n\tBoth new."})
    assert (same.headers["Location"], await page.commits()) == (f"{path}#n-{note}", before)
    await page.follow(await page.ask(path, form | {"note": "Three photos.\r\n"}))
    assert sorted(await texts(page, ref)) == ["By the agent.", "Nothing\u202eseen.", "Three photos.\n"]


@pytest.mark.parametrize("own", [{}, {"text": ""}])
async def test_a_note_without_words_of_another_device_is_shown_and_edited(
    page: TaskPage, own: dict[str, Value]
) -> None:
    ref = await page.task()
    fields: dict[str, Value] = {"task_id": id_from_text(ref), "source": "note", **own}
    await page.store.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "entry", fields)]))
    note = (await page.shown(ref)).entries[-1].id
    answer = await page.ask(f"/tasks/{ref}")
    assert (answer.status, '>Edit<span class="unseen">: Note</span>' in answer.text) == (200, True)
    form = {"do": "edit-note", **hidden_fields(answer.text, f"note-{note}")}
    await page.follow(await page.ask(f"/tasks/{ref}", form | {"note": "Three photos."}))
    assert "Three photos." in (await page.ask(f"/tasks/{ref}")).text


async def test_an_edit_of_a_note_that_changed_meanwhile_loses_neither(page: TaskPage) -> None:
    ref = await page.task()
    path, note = f"/tasks/{ref}", await noted(page, ref, "On Monday.")
    form = {"do": "edit-note", **hidden_fields((await page.ask(path)).text, f"note-{note}")}
    await page.store.write(lambda tx: entries.edit(tx, note, EntryEdit("On Tuesday.")))
    # What was not typed over is nobody's edit.
    await page.follow(await page.ask(path, form | {"note": "On Monday."}))
    assert await texts(page, ref) == ["On Tuesday."]
    refused = await page.ask(path, form | {"note": " "})
    assert (refused.status, f'<details id="edit-{note}" open>' in refused.text) == (409, True)
    again = {"do": "edit-note", **hidden_fields(refused.text, f"note-{note}")}
    answer = await page.follow(await page.ask(path, again | {"note": "On Wednesday."}))
    conflict = answer.text.partition("Devices changed this while apart")[2].partition("</section>")[0]
    assert ("On Tuesday." in conflict, "On Wednesday." in conflict) == (True, True)


async def test_what_was_typed_into_a_note_that_is_gone_can_be_copied(page: TaskPage) -> None:
    ref = await page.task()
    path, note = f"/tasks/{ref}", await noted(page, ref, "On Monday.")
    form = {"do": "edit-note", **hidden_fields((await page.ask(path)).text, f"note-{note}")}
    await page.store.write(lambda tx: entries.remove(tx, note))
    answer = await page.ask(path, form | {"note": "On <Tuesday>."})
    assert answer.status == 409
    assert '<textarea readonly rows="3">\nOn &lt;Tuesday&gt;.</textarea>' in answer.text
    for wrong in ({"base": "{"}, {"base": ""}):
        assert (await page.ask(path, form | {"note": "x"} | wrong)).status == 400


async def test_a_task_beside_its_list_does_there_what_its_own_page_does(page: TaskPage) -> None:
    ref, other = await page.task(due="2026-01-01"), await page.task(title="Post it")
    for address in (f"/?task={ref}", f"/tasks?sort=title&task={ref}"):
        shown = (await page.ask(address)).text
        assert f'<li class="task on" id="t-{ref}"' in shown
        assert (f'id="one-{ref}"' in shown, f'id="t-{other}"' in shown) == (True, address != f"/?task={ref}")
        sent = html.escape(address)
        assert shown.count(f'action="{sent}"') > shown.count('action="/tasks/')
        answer = await page.ask(address, {"do": "note", "note": "On Monday."})
        assert (answer.status, answer.headers["Location"]) == (303, f"{address}#notes")
        menu = {**hidden_fields(shown, "rows"), "set": "priority:P0"}
        assert (await page.ask(address, menu)).headers["Location"] == address
        refused = await page.ask(address, {"do": "note", "note": " "})
        assert (
            refused.status,
            "a note cannot be empty" in refused.text,
            f'id="t-{ref}"' in refused.text,
        ) == (
            409,
            True,
            True,
        )
    assert len((await page.shown(ref)).entries) == 2
    address = f"/tasks?sort=title&task={ref}"
    removal = {**hidden_fields((await page.ask(address)).text, "rows"), "set": "remove"}
    assert (await page.ask(address, removal)).headers["Location"] == "/tasks?sort=title"
    gone = (await page.ask(address)).text
    assert ("was removed" in gone, f'action="/tasks/{ref}" id="f-restore"' in gone) == (True, True)
    for nothing in ("x", "0" * 33, "passport"):
        text = (await page.ask(f"/tasks?task={nothing}")).text
        assert ('class="pane"' in text, f'id="t-{other}"' in text) == (False, True)
    assert (await page.ask("/tasks", {"do": "note", "note": "On Monday."})).status == 400


async def test_what_waits_is_decided_beside_the_list(page: TaskPage) -> None:
    (item,) = await page.propose(("update_task_estimate", {"minutes": 120}))
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    address = f"/tasks?task={id_to_text(stored.task)}"
    shown = await page.ask(address)
    answer = await page.ask(address, {"decide": shown.forms()[f"confirmed {item}"]})
    assert (answer.status, await page.status_of(item), 'class="pane"' in answer.text) == (
        200,
        "confirmed",
        True,
    )
    # The card stands once on the page.
    again = await page.propose(("set_task_title", {"title": "Better"}), run_key="next")
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(again[0])))
    assert stored is not None
    assert (await page.ask(f"/?task={id_to_text(stored.task)}")).text.count(f'id="i-{again[0]}"') == 1


async def test_an_item_is_edited_moved_archived_and_put_back(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    for title in ("Paper", "Stamps", "Ink"):
        await page.follow(await page.ask(path, {"do": "item", "title": title}))

    async def send(item_title: str, deed: str, **typed: str) -> PageAnswer:
        lists = (await page.shown(ref)).checklists
        item = next(item for checklist in lists for item in checklist.items if item.title == item_title)
        fields = {"item": item.id, "base": msgspec.json.encode(item.vector_clock).decode()}
        return await page.ask(path, {"do": deed, **fields, **typed})

    async def titles() -> list[list[str]]:
        lists = (await page.shown(ref)).checklists
        return [[item.title for item in checklist.items if not item.is_archived] for checklist in lists]

    answer = await send("Paper", "edit-item", title="Thick paper")
    assert answer.headers["Location"].startswith(f"{path}#i-")
    await send("Ink", "move-item:up")
    assert await titles() == [["Thick paper", "Ink", "Stamps"]]
    await send("Ink", "archive-item")
    assert "1 archived item" in (await page.ask(path)).text
    # What is out of sight is passed with the next one; at an end an item stays.
    await send("Thick paper", "move-item:down")
    await send("Thick paper", "move-item:down")
    assert await titles() == [["Stamps", "Thick paper"]]
    await send("Ink", "unarchive-item")
    first = (await page.shown(ref)).checklists[0].items[0]
    await send("Thick paper", f"move-item:before:{first.id}")
    await send("Stamps", "move-item:list", checklist="At the post")
    await send("Ink", f"move-item:list:{(await page.shown(ref)).checklists[1].id}")
    assert await titles() == [["Thick paper"], ["Stamps", "Ink"]]
    for deed, typed in (("edit-item", {"title": " "}), ("move-item:list", {"checklist": " "})):
        refused = await send("Ink", deed, **typed)
        assert (refused.status, 'class="refusal"' in refused.text) == (409, True)
    for wrong in ("move-item", "move-item:away"):
        assert (await send("Ink", wrong)).status == 400


async def test_a_value_says_which_agent_proposed_it_and_whether_a_person_changed_it(page: TaskPage) -> None:
    (item,) = await page.propose(("set_task_title", {"title": "Better"}))
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    path = f"/tasks/{id_to_text(stored.task)}"
    await page.ask(path, {"decide": (await page.ask(path)).forms()[f"confirmed {item}"]})
    text = (await page.ask(path)).text
    pattern = r"title <bdi>Better</bdi>: <bdi>proposed by an agent, confirmed by you"
    assert re.search(pattern, text)
    origin = Origin(by="user", at="", device="", device_name="", item_id=item, as_proposed=False)
    task = replace(await page.shown(id_to_text(stored.task)), provenance={"label_ids/home": origin})
    shown = page_of_task(ShownTask(task, None, [], None, {item: "Laura"}), 0.0, with_all_notes=False)
    assert [(row.words, row.by) for row in shown.origins] == [("home", "proposed by Laura, changed by you")]
