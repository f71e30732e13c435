"""Each place where a field of a task stands, asked for a field that is made up.

Never runs by itself: `test_task_fields.py` runs it with the plugin that makes up the field.
"""

import html
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.agents.context.task_view import view_of_task
from daemon.agents.models.openai.prompt_json import prompt_json_within
from daemon.agents.outside import readable_tasks
from daemon.cli.commands.journal import task as task_commands
from daemon.cli.terminal.display import Display
from daemon.cli.views.journal.tasks import task_page
from daemon.file_formats import JSON_LINES
from daemon.journal import tasks
from daemon.journal.fields.schema import is_known_field
from daemon.journal.human_input import HumanInput
from daemon.journal.views import task_lines
from daemon.web.typed_words import words_to_copy
from daemon.words.values import field_words
from syncproto.ids import id_from_text
from tests.daemon.agents.models.openai.connected_model import CONTEXT
from tests.daemon.formats import transfers
from tests.daemon.formats.jsonl.files import imported
from tests.daemon.web.task_page import TaskPage, hidden_fields, task_page_of
from tests.support.fleet import Home
from tests.support.made_up_field import ROW
from tests.support.outside import added

DAY, SAID = "2030-11-25", "made up 25 Nov 2030"


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[TaskPage]:
    async with task_page_of(tmp_path) as page:
        yield page


def new_task(home: Home, words: str | None = DAY) -> Any:
    human_input = HumanInput(home.now_ms, UTC, "en")
    given: dict[str, Any] = {"title": "Write to Ana", ROW.name: words}
    return home.write(lambda tx: tasks.add(tx, human_input.read_new_task(tasks.NewTask(**given))))


def edit(home: Home, ref: str, words: str | None) -> Any:
    human_input = HumanInput(home.now_ms, UTC, "en")
    given: dict[str, Any] = {ROW.name: words}
    return home.write(lambda tx: tasks.edit(tx, ref, human_input.read_task_edit(tasks.TaskEdit(**given))))


def test_the_journal_reads_it_as_people_type_it_and_keeps_it(a: Home) -> None:
    human_input = HumanInput(a.now_ms, UTC, "en")
    task = new_task(a, "tomorrow")
    assert task.made_up == human_input.due_day("tomorrow")
    assert edit(a, task.id, DAY).made_up == DAY
    assert edit(a, task.id, "none").made_up is None


def test_the_log_knows_it_and_calls_it_by_its_word() -> None:
    assert is_known_field("task", ROW.name)
    assert field_words(ROW.name) == ROW.word


def test_a_list_has_it(a: Home) -> None:
    new_task(a)
    (line,) = a.read(lambda snapshot: task_lines.task_lines_page(snapshot, closed=False, removed=False))
    assert getattr(line, ROW.name) == DAY


@pytest.mark.parametrize("command", [task_commands.add_command, task_commands.edit_command])
def test_a_command_has_an_option_for_it(command: Any) -> None:
    assert ("--made-up", ROW.name) in [(option.opts[0], option.name) for option in command.params]


def test_the_command_line_shows_it(a: Home) -> None:
    task: Any = msgspec.to_builtins(new_task(a))
    now_s = a.now_ms() / 1000
    assert any(SAID in line for line in task_page(task, None, Display(width=200, now_s=now_s)))


def test_agents_are_shown_it(a: Home) -> None:
    entity = a.entity(id_from_text(new_task(a).id))
    view = a.read(lambda snapshot: view_of_task(snapshot, entity))
    assert prompt_json_within(replace(CONTEXT, task=view), 100_000)["task"][ROW.prompt] == DAY


def test_agents_of_other_makers_may_read_it(a: Home) -> None:
    task, agent, now_ms = new_task(a), added(a), a.now_ms()
    read = a.read(lambda snapshot: readable_tasks.readable_task(snapshot, agent, task.id, now_ms))
    assert getattr(read, ROW.name) == DAY


@pytest.mark.parametrize("format_", ["icalendar", "taskwarrior", "todotxt", JSON_LINES])
def test_a_file_has_it_and_brings_it_back(a: Home, b: Home, format_: str) -> None:
    new_task(a)
    text = transfers.export(a, format_)
    if format_ == JSON_LINES:
        imported(b, text)
    else:
        transfers.bring(b, format_, text)
    assert [getattr(task, ROW.name) for task in transfers.stored_tasks(b)] == [DAY]


@pytest.mark.parametrize("format_", ["markdown", "todotxt"])
def test_an_edit_of_it_in_an_exported_file_is_seen(a: Home, format_: str) -> None:
    """Only todo.txt has a place for it: the other one says nothing of it, not even that it has gone."""
    new_task(a)
    transfers.bring(a, format_, transfers.export(a, format_).replace(DAY, "2031-01-02"))
    (task,) = transfers.stored_tasks(a)
    assert getattr(task, ROW.name) == ("2031-01-02" if format_ == "todotxt" else DAY)


async def test_a_new_task_of_the_page_is_asked_for_it(page: TaskPage) -> None:
    assert "A day that is made up" in (await page.ask("/tasks/new")).text
    await page.follow(await page.ask("/tasks/new", {"title": "x", ROW.name: DAY}))
    refused = await page.ask("/tasks/new", {"title": "x", ROW.name: "no day"})
    assert f'id="e-new-{ROW.name}"' in refused.text


async def test_the_page_edits_it(page: TaskPage) -> None:
    address = f"/tasks/{await page.task()}"
    shown = hidden_fields((await page.ask(address)).text, "edit")
    answer = await page.follow(await page.ask(address, {**shown, "do": "edit", ROW.name: DAY}))
    assert f'value="{DAY}"' in answer.text


async def test_the_page_shows_it_of_a_task_and_in_the_list(page: TaskPage) -> None:
    task = await page.task(**{ROW.name: DAY})
    for address in (f"/tasks/{task}", "/tasks"):
        assert SAID in html.unescape((await page.ask(address)).text), address


def test_what_was_typed_of_it_is_given_back() -> None:
    assert words_to_copy({ROW.name: DAY}) == [("Made up", DAY)]
