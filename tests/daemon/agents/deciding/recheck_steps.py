"""Confirmations that are refused, for the tests of the recheck.

Never checks more than that.
"""

from typing import Any

from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from store.sentence import Sentence
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import commits, confirm, waiting
from tests.support.fleet import Home


def refused(home: Home, item: EntityId, reason: Sentence, **how: Any) -> DecisionResult:
    """Confirm what must be refused for this reason.

    Check that nothing was written and that it still waits.
    """
    before = commits(home)
    result = confirm(home, item, **how)
    assert (result.result, result.message) == (DecisionOutcome.FAILED, reason.text)
    assert commits(home) == before
    assert id_to_text(item) in [line.item_id for line in waiting(home)]
    return result


def label_proposed(home: Home, task: EntityId, name: str = "bug") -> tuple[EntityId, EntityId]:
    label = home.new("label", name=name)
    call = {"id": id_to_text(label), "confidence": "high"}
    (item,) = home.propose(task, f"run {name}", ("assign_task_label", call))
    return label, item
