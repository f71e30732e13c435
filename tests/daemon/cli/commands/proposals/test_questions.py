"""How a question of an agent is shown and answered: in the list of what waits, and in a review.

Never checks how the daemon decides: answers are scripted.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.examples import ITEM, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet
from tests.support.pseudo_terminal import terminal

PENDING, DECIDE = "GET /v1/pending", "POST /v1/decisions"
SECOND = "b2" * 16
ANSWERS = [
    {
        "item_id": ITEM,
        "text": "An hour",
        "tool": "update_task_estimate",
        "args": {"minutes": 60},
    },
    {"item_id": SECOND, "text": "Nobody knows", "tool": None, "args": None},
]


def _answers() -> list[dict[str, Any]]:
    def question(number: int) -> dict[str, Any]:
        return {"question_id": ITEM, "text": "How long does it take?", "number": number, "answers": ANSWERS}

    first = examples.pending(item_id=ITEM, args={"minutes": 60}, question=question(1))
    nothing = {
        "tool": "answer_question",
        "args": {},
        "summary": "-",
        "base": {},
        "current": {},
        "proposed": {},
    }
    return [first, examples.pending(item_id=SECOND, **nothing, question=question(2))]


@pytest.fixture
def asked_control(control: FakeControl) -> FakeControl:
    control.answers(PENDING, _answers())
    control.answers(f"GET /v1/tasks/{TASK}", examples.task(checklists=[]))
    control.answers(DECIDE, [examples.verdict("applied", message="Change nothing")])
    return control


def test_a_list_shows_the_question_once_above_its_answers(placet: Placet, asked_control: FakeControl):
    shown = placet("pending").out
    assert shown.count("How long does it take?") == 1
    assert (
        shown.index("How long")
        < shown.index("“An hour”: Set estimate")
        < shown.index("“Nobody knows”: Change")
    )
    assert asked_control.asked(PENDING)


def test_a_review_asks_once_and_a_number_chooses_the_answer(home: Path, asked_control: FakeControl):
    with terminal(home, "review") as shown_terminal:
        shown = shown_terminal.until("?] ")
        assert "1 of 1" in shown
        assert "Your answer? [1,2,n,d,s,j,k,u,q,?]" in shown
        assert "Press the number" in shown_terminal.press("y", then="?] ")
        assert "1 confirmed" in shown_terminal.end("2")
    (request,) = asked_control.asked(DECIDE)
    assert (request.body["verdict"], request.body["items"]) == ("confirmed", [SECOND])
