"""A line of a list of tasks in words, for the template.

Never reads more of a task than its line shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from daemon.agents.tools.agent_record import Agent
from daemon.journal.fields.validation import CLOSED, PLAIN_STATUS, PRIORITY_DEFAULT
from daemon.journal.views.lookup import clock_json
from daemon.journal.views.task_lines import TaskLine
from daemon.web.tasks.conflict_rows import clock_text
from daemon.words import terms
from daemon.words.dates import due_words, duration_words
from daemon.words.task_parts import day_facts
from daemon.words.translation import _, ngettext
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task in a list. `due` is its day in short, `late` that it has passed in full, `facts` the rest.

    `series_id` is that of what it is one of, if it comes again. `waiting` says how many proposals wait.
    `agent` is the name of its agent; both are "" without any. `status` is "" if it is the plain one,
    `priority` if it is the usual one. `base` is what its forms give back, so that they count against what the
    row showed; `next_status` is the one that its tick sets.
    """

    id: str
    title: str
    status: str
    is_closed: bool
    next_status: str
    priority: str
    due: str
    late: str
    facts: list[str]
    labels: list[str]
    waiting: str
    waiting_count: int
    agent: str
    agent_id: str
    base: str
    series_id: str = ""

    @property
    def tone(self) -> str:
        """Return the class of its priority: what presses is seen at the tick."""
        return self.priority.lower()


def rows_of_lines(
    snapshot: Snapshot,
    lines: Sequence[TaskLine],
    waiting: Mapping[str, int],
    now_s: float,
    agents: Mapping[EntityId, Agent] | None = None,
) -> list[TaskRow]:
    """Return lines of tasks in words; `waiting` counts proposals by the ids of their tasks."""
    return [
        _row(snapshot, line, (agents or {}).get(id_from_text(line.id)), waiting.get(line.id, 0), now_s)
        for line in lines
    ]


def _row(
    snapshot: Snapshot, line: TaskLine, agent: Agent | None, waiting_count: int, now_s: float
) -> TaskRow:
    is_closed = line.status in CLOSED
    days = day_facts(lambda name: getattr(line, name), now_s, is_over=is_closed)
    due = due_words(line.due, now_s, line.due_time)[0] if line.due else ""
    progress = line.checklist_progress
    facts = [
        *(fact for fact in days.facts if not line.due or due not in fact),
        duration_words(line.estimate_minutes) if line.estimate_minutes else "",
        f"{progress.completed}/{progress.total}" if progress.total else "",
        line.category or "",
    ]
    waiting = ngettext("{count} proposal waits", "{count} proposals wait", waiting_count)
    entity = snapshot.entity(id_from_text(line.id))
    return TaskRow(
        id=line.id,
        title=line.title,
        status=terms.task_status(line.status) if line.status != PLAIN_STATUS else "",
        is_closed=is_closed,
        next_status=PLAIN_STATUS if is_closed else "DONE",
        priority=line.priority if line.priority != PRIORITY_DEFAULT else "",
        due=due,
        late=days.late,
        facts=[fact for fact in facts if fact],
        labels=line.labels,
        waiting=waiting.format(count=waiting_count) if waiting_count else "",
        waiting_count=waiting_count,
        agent=(agent.name or _("Agent")) if agent is not None else "",
        agent_id=id_to_text(agent.id) if agent is not None else "",
        base=clock_text({} if entity is None else clock_json(entity.clock)),
        series_id=line.series_id or "",
    )
