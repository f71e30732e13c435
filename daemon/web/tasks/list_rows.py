"""A line of the list of tasks in words, for the template.

Never reads more of a task than its line shows.
"""

from dataclasses import dataclass

from daemon.agents.tools.agent_record import Agent
from daemon.journal.fields.validation import PLAIN_STATUS, PRIORITY_DEFAULT
from daemon.journal.views.task_lines import TaskLine
from daemon.words import terms
from daemon.words.dates import duration_words
from daemon.words.task_parts import day_facts
from daemon.words.translation import _, ngettext
from syncproto.ids import id_to_text


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task in the list: `late` and `facts` are its day, priority, length and progress in words.

    `waiting` says how many proposals wait. `agent` is the name of its agent; both are "" without any.
    `status` is "" if it is the plain one.
    """

    id: str
    title: str
    status: str
    late: str
    facts: list[str]
    labels: list[str]
    waiting: str
    agent: str
    agent_id: str


def row_of_line(line: TaskLine, agent: Agent | None, waiting_count: int, now_s: float) -> TaskRow:
    """Return a line of the list in words."""
    days = day_facts(lambda name: getattr(line, name), now_s)
    progress = line.checklist_progress
    facts = [
        *days.facts,
        line.priority if line.priority != PRIORITY_DEFAULT else "",
        duration_words(line.estimate_minutes) if line.estimate_minutes else "",
        f"{progress.completed}/{progress.total}" if progress.total else "",
        line.category or "",
    ]
    waiting = ngettext("{count} proposal waits", "{count} proposals wait", waiting_count)
    return TaskRow(
        id=line.id,
        title=line.title,
        status=terms.task_status(line.status) if line.status != PLAIN_STATUS else "",
        late=days.late,
        facts=[fact for fact in facts if fact],
        labels=line.labels,
        waiting=waiting.format(count=waiting_count) if waiting_count else "",
        agent=(agent.name or _("Agent")) if agent is not None else "",
        agent_id=id_to_text(agent.id) if agent is not None else "",
    )
