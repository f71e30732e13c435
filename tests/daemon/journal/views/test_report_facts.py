"""A report has the facts of its task as they are now, and says if they have changed.

Never expects a word of the agent to change.
"""

from typing import Any

from daemon.agents.person.lifecycle import create_agent
from daemon.agents.tools.agent_record import state_id
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.report_facts import UPDATED, with_current_facts
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import agent_details_of
from tests.support.decision_verbs import confirm, undo
from tests.support.fleet import Home

REPORT = {
    "tldr": "Still at the beginning.",
    "status": "OPEN",
    "estimate": 60,
    "remaining": ["call Ana", "Ship it"],
    "achieved": ["Wrote a test"],
}
TICKS = [("Call Ana", True), ("x", True), ("wrote a test", False)]


def test_facts_and_what_is_done_are_those_of_now_and_marked():
    current = with_current_facts(REPORT, {"status": "OPEN", "estimate": 90, "due": None}, TICKS)
    assert current == {
        "tldr": "Still at the beginning.",
        "status": "OPEN",
        "estimate": 90,
        "remaining": ["Ship it", "Wrote a test"],
        "achieved": ["call Ana"],
        UPDATED: True,
    }


def test_a_report_that_is_still_right_is_not_marked():
    ticks = [("Buy milk", True), ("Wrote a test", True), ("Call Ana", False)]
    assert with_current_facts(REPORT, {"status": "OPEN", "estimate": 60}, ticks) == REPORT
    odd: dict[str, Any] = {"remaining": "no list", "achieved": [1], "tldr": 7}
    assert with_current_facts(odd, {"status": "DONE"}, [("no list", True)]) == odd


def test_a_confirmation_shows_in_the_report_at_once_and_undoing_it_too(a: Home) -> None:
    """Old: the report went on to say 60 minutes until the agent woke."""
    task = a.new("task", title="Write the report", status="OPEN", priority="P2", estimate_minutes=60)
    item = a.estimate(task, 120)
    agent = a.write(lambda tx: create_agent(tx, id_to_text(task), "rules"))
    _give_report(a, agent, task)
    for decide, minutes, marked in ((confirm, 120, True), (undo, 60, None)):
        assert decide(a, item).result == "applied"
        for report in (_shown_report(a, task), agent_details_of(a, agent).report):
            assert report is not None
            assert (report["estimate"], report.get(UPDATED), report["tldr"]) == (
                minutes,
                marked,
                REPORT["tldr"],
            )


def _shown_report(home: Home, task: EntityId) -> dict[str, Any] | None:
    def read(snapshot: Any) -> dict[str, Any] | None:
        entity = snapshot.entity(task)
        return JournalPresenter(snapshot).task(entity).report

    return home.read(read)


def _give_report(home: Home, agent: EntityId, task: EntityId) -> None:
    def use(tx: Any) -> None:
        report = tx.new_id()
        fields: dict[str, Any] = {"agent_id": agent, "scope": "task", "content": REPORT}
        tx.commit(
            [
                EntityWrite(report, "report", fields),
                EntityWrite(state_id(agent), "agent_state", {"agent_id": agent, "report_id": report}),
            ],
            by=AuthorKind.AGENT,
            agent=agent,
        )

    home.write(use)
