"""The route of lists: which tasks have an agent, and what waits on each.

Never tests which tasks are listed: `tests/daemon/journal/views/test_task_lines.py` does.
"""

from datetime import UTC
from typing import Any

from daemon.agents.person import lifecycle
from daemon.control.route import Call, Nothing, ReadHandler
from daemon.control.routes.journal import task_lists
from daemon.control.routes.journal.task_lists import LinesPage
from daemon.journal.human_input import HumanInput
from syncproto.ids import id_to_text
from tests.support.fleet import START_MS, Home
from tests.support.scripted_runs import new_agent

ROUTES = task_lists.routes(HumanInput(lambda: START_MS, UTC, "en"))


def test_a_line_has_the_agent_of_its_task_and_what_waits_on_it(a: Home):
    proposed, plain, left = [a.new("task", title=title, status="OPEN") for title in ("Ana", "Bo", "Cy")]
    agent, ended = new_agent(a, proposed), new_agent(a, left)
    a.write(lambda tx: lifecycle.destroy_agent(tx, ended))
    calls = [("add_checklist_item", {"title": title}) for title in ("A", "B")]
    assert len(a.propose(proposed, "run", *calls)) == 2
    handler = ROUTES[0].handler
    assert isinstance(handler, ReadHandler)
    lines: Any = a.read(lambda snapshot: handler.run(snapshot, Call({}, Nothing(), LinesPage())))
    assert {line.id: (line.waiting, line.agent_id) for line in lines} == {
        id_to_text(proposed): (2, id_to_text(agent)),
        id_to_text(plain): (0, None),
        id_to_text(left): (0, None),
    }
