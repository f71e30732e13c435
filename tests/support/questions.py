"""Questions as a model asks them, for the tests of asking and of answering.

Never asks anything: the tests make the calls.
"""

from typing import Any

from syncproto.ids import EntityId
from tests.support.fleet import Home


def question(text: str, *answers: dict[str, Any]) -> dict[str, Any]:
    return {"question": text, "answers": list(answers)}


def answered_by(text: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"text": text, "tool": tool, "arguments": arguments}


DUE_QUESTION = question(
    "When is it due?",
    answered_by("On the first of March", "update_task_due_date", dueDate="2027-03-01"),
    answered_by("A week later", "update_task_due_date", dueDate="2027-03-08"),
    {"text": "It has no deadline"},
)


def asked(home: Home, task: EntityId, run_key: str = "run", **replaced: Any) -> list[EntityId]:
    """Ask when the task is due; return the items of the answers."""
    return home.propose(task, run_key, ("ask_question", {**DUE_QUESTION, **replaced}))
