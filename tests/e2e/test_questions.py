"""An agent asks, and a person answers on another device: two daemons, the installed command.

Never looks into a store: what was decided, the installed command says.
"""

from datetime import date, timedelta

import pytest

from tests.support.devices import Device, MakeDevice, pair
from tests.support.patience import LIMIT_S, wait_until
from tests.support.pseudo_terminal import terminal

pytestmark = pytest.mark.e2e


def _due(device: Device) -> object:
    return device.do("show", "invoice")["due"]


def test_a_question_is_answered_on_another_device_and_the_answer_is_taken_back(device: MakeDevice):
    laptop, desktop = device("laptop"), device("desktop")
    pair(laptop, desktop)
    added = laptop.do("add", "Pay the invoice")
    over = date.fromisoformat(added["created_at"][:10]) - timedelta(days=3)
    laptop.do("note", "invoice", f"Due {over:%d %B}.".replace(" 0", " "))
    laptop.do("agent", "create", "invoice")
    wait_until("the agent asks", lambda: len(laptop.do("pending")) == 2, LIMIT_S)
    wait_until("the question arrives", lambda: len(desktop.do("pending")) == 2, LIMIT_S)
    ahead, nothing = desktop.do("pending")
    assert ahead["question"]["answers"][0]["tool"] == "update_task_due_date"
    assert (nothing["tool"], nothing["question"]["number"]) == ("answer_question", 2)
    assert laptop.do("status")["pending_items"] == 1
    with terminal(desktop.home, "review") as shown_terminal:
        assert ahead["question"]["text"][:20] in shown_terminal.until("?] ")
        assert "1 confirmed" in shown_terminal.end("1")
    wait_until("the answer is in effect", lambda: _due(laptop) == ahead["proposed"], LIMIT_S)
    assert laptop.do("pending") == []
    (decision,) = laptop.do("decisions")
    assert decision["answer"] == ahead["question"]["answers"][0]["text"]
    laptop.do("undo", ahead["item_id"])
    wait_until("the answer is taken back", lambda: _due(desktop) is None, LIMIT_S)
