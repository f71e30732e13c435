"""The history of decisions on the page: what it says, and taking a verdict back.

Never runs a script.
"""

import re
from functools import partial

import pytest

from daemon.agents.deciding import decisions
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.control.routes.test_decisions import proposed
from tests.daemon.web.conftest import CHANGES, Page


def take_back_buttons(text: str) -> list[str]:
    return re.findall(r'name="decide" value="(reopened:\w+:\w+)"', text)


async def test_a_verdict_is_shown_and_can_be_taken_back(page: Page) -> None:
    estimate, title = await page.propose(*CHANGES[:2])
    forms = (await page.ask("/inbox")).forms()
    await page.ask("/inbox", {"decide": forms[f"confirmed {estimate}"]})
    await page.ask("/inbox", {"decide": forms[f"rejected {title}"], "reason": "The old title is mine."})
    answer = await page.ask("/decisions")
    assert answer.status == 200
    assert "The old title is mine." in answer.text
    buttons = take_back_buttons(answer.text)
    assert [button.split(":")[1] for button in buttons] == [title, estimate]
    answer = await page.ask("/decisions", {"decide": buttons[1]})
    assert answer.status == 200
    assert await page.status_of(estimate) == "pending"
    # What was taken back is history, and has no button any more.
    assert [button.split(":")[1] for button in take_back_buttons(answer.text)] == [title]
    assert "replaced by a later decision" in answer.text


async def test_the_history_of_a_task_is_read_page_by_page(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.web.inbox.history_routes.SHOWN_MAX", 2)
    items = await page.propose(*CHANGES)
    for item in items:
        await page.store.write(partial(decisions.reject, item=id_from_text(item), via="cli"))
    answer = await page.ask("/decisions")
    assert len(take_back_buttons(answer.text)) == 2
    more = re.findall(r'href="(/decisions\?before=\d+)"', answer.text)
    answer = await page.ask(more[0])
    assert [button.split(":")[1] for button in take_back_buttons(answer.text)] == [items[0]]


async def test_a_position_or_a_task_that_is_none_is_told(page: Page) -> None:
    assert (await page.ask("/decisions?before=²")).status == 200
    assert (await page.ask(f"/decisions?before={'9' * 5000}")).status == 200
    assert (await page.ask(f"/decisions?task={'0' * 32}")).status == 404
    answer = await page.ask("/decisions")
    assert "Nothing was decided yet" in answer.text


def _task_with_note(tx: Transaction, task: EntityId) -> tuple[EntityId, EntityId]:
    """Give a task an item that a person left open, and a note; return both."""
    checklist, item, note = tx.new_id(), tx.new_id(), tx.new_id()
    tx.commit(
        [
            EntityWrite(checklist, "checklist", {"task_id": task, "title": "Todos", "position": "a"}),
            EntityWrite(
                item, "checklist_item", {"checklist_id": checklist, "title": "Tests", "position": "a"}
            ),
        ]
    )
    tx.commit([EntityWrite(item, "checklist_item", {"is_checked": False})])
    tx.commit([EntityWrite(note, "entry", {"task_id": task, "text": "The tests are written."})])
    return item, note


async def test_how_an_agent_argued_over_a_tick_is_shown_beside_the_verdict_and_in_the_timeline(page: Page):
    def tick(tx: Transaction) -> EntityId:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": "Write", "status": "OPEN"})])
        item, note = _task_with_note(tx, task)
        reason = "The note of today says that the tests are written."
        call = {"id": id_to_text(item), "isChecked": True, "rationale": "Done.", "reason": reason}
        (change,) = proposed(
            tx, "run", ("update_checklist_item", {**call, "evidenceIds": [id_to_text(note)]}), task=task
        )
        decisions.confirm(tx, id_from_text(change), via="cli")
        return task

    task = await page.store.write(tick)
    for path in ("/decisions", f"/tasks/{id_to_text(task)}/timeline"):
        text = (await page.ask(path)).text
        assert "the agent says: “The note of today says that the tests are written.”" in text, path
        assert "“The tests are written.”" in text, path


async def test_the_reason_and_the_note_behind_any_proposal_are_shown_beside_the_verdict(page: Page):
    def confirm(tx: Transaction, text: str) -> EntityId:
        task, note = tx.new_id(), tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": "Write", "status": "OPEN"})])
        tx.commit([EntityWrite(note, "entry", {"task_id": task, "text": text})])
        call = {"minutes": 120, "rationale": "You wrote how long it takes."}
        (change,) = proposed(tx, text, ("update_task_estimate", call), task=task)
        decisions.confirm(tx, id_from_text(change), via="cli")
        return task

    task = await page.store.write(lambda tx: confirm(tx, "Ana called. It takes 2 hours."))
    # What was written after the verdict says nothing of it.
    page.fleet.now_ms += 60_000
    await page.store.write(
        lambda tx: tx.commit(
            [EntityWrite(tx.new_id(), "entry", {"task_id": task, "text": "It takes 5 hours."})]
        )
    )
    for path in ("/decisions", f"/tasks/{id_to_text(task)}/timeline"):
        text = (await page.ask(path)).text
        assert "the agent says: “You wrote how long it takes.”" in text, path
        assert "a note says so (1 min ago): “It takes 2 hours.”" in text, path
