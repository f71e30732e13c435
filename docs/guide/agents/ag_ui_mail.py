"""A bridge from the interrupts of AG-UI to Placet: what a run waits for, you decide on any of your devices.

A client of AG-UI gives this the last event of a run, and sends the answer with its next run as `resume`.

Needs ag-ui-protocol 1.0, and: placet agent add AG-UI --scope none
"""

from ag_ui.core import Interrupt, ResumeEntry, RunFinishedEvent
from placet_asks import verdict_on

AGENT = "AG-UI"


def resume_for(event: RunFinishedEvent) -> list[ResumeEntry] | None:
    """Ask about each interrupt with which a run ended; None while one of them waits for a person.

    Empty if the run ended with none. The client calls this again, also after a restart, with the same event.
    """
    if event.outcome is None or event.outcome.type != "interrupt":
        return []
    entries = [_entry(event.thread_id, interrupt) for interrupt in event.outcome.interrupts]
    return None if None in entries else [entry for entry in entries if entry is not None]


def _entry(thread: str, interrupt: Interrupt) -> ResumeEntry | None:
    shown = {"message": interrupt.message, **(interrupt.metadata or {})}
    verdict = verdict_on(AGENT, f"{thread} {interrupt.id}", interrupt.reason, shown)
    if verdict is None:
        return None
    if not verdict["allowed"]:
        return ResumeEntry(
            interrupt_id=interrupt.id, status="resolved", payload={"approved": False, **verdict}
        )
    edited = {name: value for name, value in verdict["args"].items() if name != "message"}
    return ResumeEntry(
        interrupt_id=interrupt.id, status="resolved", payload={"approved": True, "args": edited}
    )
