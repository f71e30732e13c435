"""The details of what waits: what is selected, what is changed first, and what is refused, by plain forms.

Never runs a script: tests/e2e/page/test_page_review.py does.
"""

import html
import re
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest
from aiohttp import web

from daemon.agents.outside.proposals import NewProposals, ProposedChange, propose
from daemon.agents.person import lifecycle, presence_edits
from daemon.agents.person.external_agents import add_external_agent
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.journal import tasks
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import TaskEdit
from daemon.web.decide import review_routes
from store.transaction import EntityWrite, Transaction
from syncproto.ids import id_from_text, id_to_text
from tests.daemon.web.conftest import CHANGES, Page
from tests.support.questions import DUE_QUESTION


class ReviewPage(Page):
    """A page with the room of reviews."""

    def more_routes(self) -> list[web.RouteDef]:
        return review_routes.routes(self.services, HumanInput(self.now_ms, UTC, "en"))

    async def task_of(self, item: str) -> str:
        stored = await self.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
        assert stored is not None
        return id_to_text(stored.task)

    async def field(self, item: str, name: str) -> object:
        task = id_from_text(await self.task_of(item))
        entity = await self.store.read(lambda snapshot: snapshot.entity(task))
        assert entity is not None
        return entity.value(name)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[ReviewPage]:
    page = ReviewPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


async def test_what_is_selected_is_confirmed_and_the_rest_waits(page: ReviewPage) -> None:
    estimate, title, step = await page.propose(*CHANGES)
    path = f"/reviews/{await page.task_of(estimate)}"
    answer = await page.ask(path)
    assert answer.status == 200
    boxes = re.findall(r'name="shown" value="(\w+:\w+)" checked', answer.text)
    assert {box.partition(":")[0] for box in boxes} == {estimate, title, step}
    chosen = [box for box in boxes if not box.startswith(title)]
    answer = await page.ask(path, [("decide", "confirmed"), *(("shown", box) for box in chosen)])
    assert answer.status == 200
    assert "2 changes confirmed" in answer.text
    states = [await page.status_of(item) for item in (estimate, title, step)]
    assert states == ["confirmed", "pending", "confirmed"]


async def test_a_length_is_changed_as_people_type_it_before_it_is_confirmed(page: ReviewPage) -> None:
    (estimate,) = await page.propose(CHANGES[0])
    path = f"/reviews/{await page.task_of(estimate)}"
    answer = await page.ask(path)
    assert 'name="arg.minutes"' in answer.text
    shown = answer.forms()[f"confirmed {estimate}"]
    answer = await page.ask(path, {"edit": "yes", "decide": shown, "arg.minutes": "1h 30"})
    assert answer.status == 200, answer.text
    assert await page.field(estimate, "estimate_minutes") == 90
    assert "Nothing waits for you here" in answer.text


async def test_a_refused_edit_decides_nothing_and_stays_in_its_form(page: ReviewPage) -> None:
    (estimate,) = await page.propose(CHANGES[0])
    path = f"/reviews/{await page.task_of(estimate)}"
    shown = (await page.ask(path)).forms()[f"confirmed {estimate}"]
    for typed in ("soon", "99999 min"):
        answer = await page.ask(path, {"edit": "yes", "decide": shown, "arg.minutes": typed})
        assert answer.status == 409
        assert f'value="{typed}"' in answer.text
        assert await page.status_of(estimate) == "pending"
        assert await page.field(estimate, "estimate_minutes") is None


async def test_an_edit_names_no_other_target_and_no_other_tool(page: ReviewPage) -> None:
    (estimate,) = await page.propose(CHANGES[0])
    path = f"/reviews/{await page.task_of(estimate)}"
    shown = (await page.ask(path)).forms()[f"confirmed {estimate}"]
    forged = {"edit": "yes", "decide": shown, "arg.id": "0" * 32, "arg.title": "Other", "arg.minutes": "60"}
    answer = await page.ask(path, forged)
    assert answer.status == 200
    assert await page.field(estimate, "estimate_minutes") == 60
    assert await page.field(estimate, "title") != "Other"


async def test_an_edit_of_what_was_decided_elsewhere_is_refused_in_place(page: ReviewPage) -> None:
    (estimate,) = await page.propose(CHANGES[0])
    path = f"/reviews/{await page.task_of(estimate)}"
    forms = (await page.ask(path)).forms()
    await page.ask(path, {"decide": forms[f"rejected {estimate}"]})
    edit = {"edit": "yes", "decide": forms[f"confirmed {estimate}"], "arg.minutes": "60"}
    answer = await page.ask(path, edit)
    assert answer.status == 409
    assert await page.status_of(estimate) == "rejected"


async def test_a_stale_proposal_is_refused_in_words_of_the_page_and_then_applied(page: ReviewPage) -> None:
    (estimate,) = await page.propose(CHANGES[0])
    task = await page.task_of(estimate)
    await page.store.write(lambda tx: tasks.edit(tx, task, TaskEdit(estimate_minutes=45)))
    path = f"/reviews/{task}"
    shown = (await page.ask(path)).forms()[f"confirmed {estimate}"]
    refused = await page.ask(path, {"decide": shown})
    assert refused.status == 409
    toast = refused.text.partition('id="outcome"')[2]
    assert re.search(r'<p role="alert"><bdi>estimate in minutes changed since: it was empty, is 45', toast)
    assert "--force" not in toast
    assert "Apply it all the same" in toast
    assert (await page.ask(path, {"decide": shown, "force": "yes"})).status == 200
    assert await page.field(estimate, "estimate_minutes") == 120


async def test_hostile_words_are_shown_as_text(page: ReviewPage) -> None:
    hostile = '<script>alert("1")</script>\u202e'
    (item,) = await page.propose(("set_task_title", {"title": hostile}))
    text = (await page.ask(f"/reviews/{await page.task_of(item)}")).text
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert html.escape("<script>alert") in text


async def test_what_a_person_left_alone_is_no_edit_even_if_it_is_shown_as_a_code(page: ReviewPage) -> None:
    (item,) = await page.propose(("set_task_status", {"status": "BLOCKED", "reason": "No\u202e photo"}))
    path = f"/reviews/{await page.task_of(item)}"
    answer = await page.ask(path)
    reason = html.unescape(re.findall(r'name="arg.reason".*?>(.*?)</textarea>', answer.text)[0])
    form = {"edit": "yes", "decide": answer.forms()[f"confirmed {item}"], "arg.reason": reason}
    assert (await page.ask(path, form | {"arg.status": "ON HOLD"})).status == 200
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    edited = stored.decisions[0].edited_args
    assert edited == {"status": "ON HOLD", "reason": "No\u202e photo"}


async def test_a_task_that_is_not_there_is_told(page: ReviewPage) -> None:
    answer = await page.ask(f"/reviews/{'0' * 32}")
    assert answer.status == 404


async def test_a_new_task_beside_no_task_is_reviewed_under_its_agent_without_a_task_to_go_to(
    page: ReviewPage,
) -> None:
    item, agent = await page.store.write(_propose_new_task)
    assert f'href="/reviews/{agent}"' in (await page.ask("/inbox")).text
    answer = await page.ask(f"/reviews/{agent}")
    assert answer.status == 200
    assert "Claude" in answer.text
    assert 'href="/tasks/' not in answer.text.replace('href="/tasks/new"', "")
    answer = await page.ask(f"/reviews/{agent}", {"decide": answer.forms()[f"confirmed {item}"]})
    assert answer.status == 200
    assert await page.status_of(item) == "confirmed"
    history = await page.ask("/decisions")
    assert "Claude" in history.text
    assert f"/tasks/{agent}" not in history.text


def _propose_new_task(tx: Transaction) -> tuple[str, str]:
    agent = add_external_agent(tx, "Claude", "all")
    request = NewProposals("Claude", [ProposedChange("add_task", {"title": "Call Ana"})], "k")
    (item,) = propose(tx, agent, None, request, ProposalLimits()).items
    assert item.item is not None
    return item.item, id_to_text(agent)


async def proposed_to_be_decided_elsewhere(page: ReviewPage) -> list[str]:
    """Let an agent of this device propose what only another device may decide; return the items."""
    home = page.fleet.home("unused")
    home.close()

    def use(tx: Transaction) -> list[str]:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": "Write to Ana", "status": "OPEN"})])
        agent = lifecycle.create_agent(tx, id_to_text(task), "rules")
        presence_edits.set_presence(tx, agent, "all", "other_device", has_other_devices=True)
        desk = home.desk(tx, task, agent, "run")
        for tool, arguments in (*CHANGES, ("ask_question", DUE_QUESTION)):
            desk.answer_call(tool, arguments, tx)
        tx.commit(desk.run_end_writes(tx))
        return [id_to_text(item.id) for item in tx.items(task)]

    return await page.store.write(use)


async def test_nothing_is_offered_if_no_verdict_on_this_device_counts(page: ReviewPage) -> None:
    items = await proposed_to_be_decided_elsewhere(page)
    path = f"/reviews/{await page.task_of(items[0])}"
    # What is proposed is stale, too.
    edit = TaskEdit(title="Written")
    await page.store.write(lambda tx: tasks.edit(tx, path.rpartition("/")[2], edit))
    for shown in (await page.ask("/inbox"), await page.ask(path)):
        text = shown.text.partition("<main")[2]
        assert (shown.status, shown.forms(), "Set the title" in text or "Better" in text) == (200, {}, True)
        assert "Decide on another device: an agent works on this one" in text
        assert "counts only if another device decides" in text
        for word in ("Change it first", "None of these", "Choose", 'name="shown"'):
            assert word not in text


async def test_a_question_is_deferred_or_rejected_as_a_whole_in_its_details(page: ReviewPage) -> None:
    answers = await page.propose(("ask_question", DUE_QUESTION))
    path = f"/reviews/{await page.task_of(answers[0])}"
    text = (await page.ask(path)).text
    assert text.count("None of these") == text.count(">Later<") == 1
    assert text.index("None of these") > text.index(f'id="i-{answers[-1]}"')
    buttons = (await page.ask(path)).forms()
    deferred = next(button for name, button in buttons.items() if name.startswith("deferred"))
    answer = await page.ask(path, {"decide": deferred})
    assert answer.status == 200
    assert {await page.status_of(item) for item in answers} == {"deferred"}
    rejected = next(button for name, button in answer.forms().items() if name.startswith("rejected"))
    assert (await page.ask(path, {"decide": rejected, "reason": "No idea"})).status == 200
    assert {await page.status_of(item) for item in answers} == {"rejected"}
