"""One scenario, played in a journal of its own: the task's past, one run with the model, and what it left.

Never waits on a clock: the journal's time stands where the scenario puts it. Only the model takes time.
"""

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daemon.agents.deciding.waiting_items import PendingItem
from daemon.agents.person import lifecycle
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.running.conversation import run_agent
from daemon.agents.tools.agent_record import current_report, load_agent
from daemon.agents.tools.model_interface import Model, ModelFault, ModelTurn, RunContext, TokenUsage
from daemon.journal import checklist_items, entries, labels, tasks
from daemon.timestamps import iso_utc
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.judge.scenario import NOW, Note, Scenario
from tests.judge.score import Judgement, judge
from tests.support.decision_verbs import confirm, reject, waiting
from tests.support.fleet import Fleet, Home
from tests.support.scripted_runs import Script, gathered_inputs, says

HOUR_MS = 3_600_000
NOW_MS = round(NOW.timestamp() * 1000)
_TICK = "[x] "
_FIELDS = {
    "update_task_due_date": ("due", "dueDate"),
    "update_task_estimate": ("estimate", "minutes"),
    "update_task_priority": ("priority", "priority"),
    "set_task_status": ("status", "status"),
    "set_task_title": ("title", "title"),
    "add_checklist_item": ("add", "title"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `ended` is empty if it ended well, else the reason in words."""

    judgement: Judgement
    report: str
    ended: str
    turns: int
    usage: TokenUsage
    took_s: float


class _Counting:
    """A model that counts the turns and tokens of another one."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.turns = 0
        self.usage = TokenUsage()

    async def turn(self, context: RunContext) -> ModelTurn:
        """Pass the question on."""
        turn = await self._model.turn(context)
        self.turns += 1
        total = (self.usage.input + turn.usage.input, self.usage.output + turn.usage.output)
        self.usage = TokenUsage(*total, self.usage.cached + turn.usage.cached)
        return turn


async def play(scenario: Scenario, model: Model, limit_s: float) -> Outcome:
    """Play a scenario and judge it; a run of more than `limit_s` seconds is cut off."""
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        try:
            return await _play(scenario, fleet, model, limit_s)
        finally:
            fleet.close()


async def _play(scenario: Scenario, fleet: Fleet, model: Model, limit_s: float) -> Outcome:
    home = fleet.home("judge")
    fleet.now_ms = NOW_MS - 60 * 24 * HOUR_MS
    task = _make_task(home, scenario)
    if not scenario.is_first_wake:
        await _earlier_run(home, scenario, task)
    for note in sorted((*_filler(scenario), *scenario.notes), key=lambda note: -note.ago_h):
        _write_note(home, task, note)
    fleet.now_ms = NOW_MS
    agent = _agent(home, task)
    before = {item.item_id for item in waiting(home, task)}
    counting, began_s = _Counting(model), time.monotonic()
    ended = ""
    try:
        receipt = await run_agent(
            home.threads(),
            counting,
            gathered_inputs(home, agent, "judged"),
            limits=ProposalLimits(),
            timeout_s=limit_s,
            now_ms=home.now_ms(),
        )
        ended = receipt.cut_short
    except (ModelFault, TimeoutError) as fault:
        ended = str(fault) or f"more than {limit_s:g} s"
    proposals = [claim_of(item) for item in waiting(home, task) if item.item_id not in before]
    return Outcome(
        judge(proposals, scenario.wanted, scenario.harmless),
        "" if ended and not proposals else _report(home, agent),
        ended,
        counting.turns,
        counting.usage,
        time.monotonic() - began_s,
    )


def claim_of(item: PendingItem) -> str:
    """Return a waiting proposal as a claim (`score.py`)."""
    if item.tool in _FIELDS:
        kind, argument = _FIELDS[item.tool]
        return f"{kind} {item.args[argument]}"
    if item.tool == "update_checklist_item":
        return _item_claim(item.args, item.subject or "")
    return f"label {item.subject}" if item.tool == "assign_task_label" else f"{item.tool} {item.args}"


def _item_claim(arguments: Mapping[str, Any], subject: str) -> str:
    if "isChecked" in arguments:
        return f"{'check' if arguments['isChecked'] else 'uncheck'} {subject}"
    if "title" in arguments:
        return f"reword {subject} {arguments['title']}"
    return f"archive {subject}"


# -- the past -----------------------------------------------------------------------------------------


def _make_task(home: Home, scenario: Scenario) -> EntityId:
    state = scenario.task

    def use(tx: Any) -> EntityId:
        for name in state.labels:
            labels.add(tx, labels.NewLabel(name=name))
        new = tasks.NewTask(
            title=state.title,
            status=state.status,
            reason=state.reason or None,
            priority=state.priority,
            due=state.due,
            estimate_minutes=state.estimate,
            language=state.language,
        )
        task = tasks.add(tx, new).id
        for title in state.items:
            is_ticked = title.startswith(_TICK)
            item = checklist_items.NewItem(title=title.removeprefix(_TICK), is_checked=is_ticked)
            checklist_items.add_item(tx, task, item)
        return id_from_text(task)

    return home.write(use)


def _filler(scenario: Scenario) -> list[Note]:
    """Return the notes of everyday progress, the newest a day before the run."""
    return [
        Note(f"{scenario.filler} ({number + 1})", 24.0 + 10 * number) for number in range(scenario.repeat)
    ]


def _write_note(home: Home, task: EntityId, note: Note) -> None:
    home.fleet.now_ms = NOW_MS - round(note.ago_h * HOUR_MS)
    new = entries.NewEntry(text=note.text, happened_at=iso_utc(home.fleet.now_ms))
    home.write(lambda tx: entries.add(tx, id_to_text(task), new))


def _agent(home: Home, task: EntityId) -> EntityId:
    def use(tx: Any) -> EntityId:
        return lifecycle.create_agent(tx, id_to_text(task), "rules")

    existing = home.read(lambda snapshot: snapshot.ids_pointing_at(task, "agent"))
    return existing[0] if existing else home.write(use)


async def _earlier_run(home: Home, scenario: Scenario, task: EntityId) -> None:
    """Let the agent have had a run that made the earlier calls, and the person decide on them."""
    for note in sorted(scenario.seen, key=lambda note: -note.ago_h):
        _write_note(home, task, note)
    home.fleet.now_ms = max(home.fleet.now_ms, NOW_MS - 72 * HOUR_MS)
    agent = _agent(home, task)
    calls = [(call.tool, _with_item_ids(home, task, call.arguments)) for call in scenario.earlier]
    report = {"title": scenario.task.title, "tldr": scenario.task.title}
    earlier = Script([says(*calls, ("update_report", report))])
    receipt = await run_agent(
        home.threads(),
        earlier,
        gathered_inputs(home, agent, "earlier"),
        limits=ProposalLimits(),
        timeout_s=60,
        now_ms=home.now_ms(),
    )
    assert receipt.proposals == len(scenario.earlier), f"{scenario.name}: an earlier call was refused"
    home.fleet.now_ms += HOUR_MS
    items = waiting(home, task)
    for call, item in zip(scenario.earlier, items, strict=True):
        identifier = id_from_text(item.item_id)
        if call.verdict == "confirmed":
            confirm(home, identifier)
        elif call.verdict == "rejected":
            reject(home, identifier, call.reason or None)
        if call.then:
            home.fleet.now_ms += HOUR_MS
            edit = tasks.TaskEdit(**call.then)
            home.write(lambda tx, edit=edit: tasks.edit(tx, id_to_text(task), edit))  # type: ignore[misc]


def _with_item_ids(home: Home, task: EntityId, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with ids of checklist items in place of their titles."""
    if "item" not in arguments:
        return dict(arguments)
    shown = home.read(lambda snapshot: checklist_ids(snapshot, task))
    return {"id": shown[arguments["item"]]} | {
        name: value for name, value in arguments.items() if name != "item"
    }


def checklist_ids(snapshot: Snapshot, task: EntityId) -> dict[str, str]:
    """Return the ids of a task's checklist items by title."""
    shown = tasks.show(snapshot, id_to_text(task))
    return {item.title: item.id for checklist in shown.checklists or () for item in checklist.items}


def _report(home: Home, agent: EntityId) -> str:
    """Return the words of the agent's report; empty if there is none."""

    def use(snapshot: Snapshot) -> str:
        judged_agent = load_agent(snapshot, agent)
        report = None if judged_agent is None else current_report(snapshot, judged_agent)
        lines = [str(report.get(key) or "") for key in ("tldr", "goal")] if report else []
        for key in ("achieved", "remaining", "learnings"):
            lines += [str(line) for line in (report or {}).get(key) or ()]
        return "\n".join(line for line in lines if line)

    return home.read(use)
