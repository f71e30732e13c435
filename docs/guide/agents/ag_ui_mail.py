"""A bridge from the interrupts of AG-UI to Placet: what a run waits for, you decide on any of your devices.

A client of AG-UI gives this the last event of a run, and sends the answer with its next run as `resume`.

Needs ag-ui-protocol 1.0, and: placet agent add AG-UI --scope none
"""

from pathlib import Path
from typing import Any

from ag_ui.core import Interrupt, ResumeEntry, RunFinishedEvent
from placet_asks import keep_stop, kept_stop, verdicts_on

AGENT = "AG-UI"


def resume_for(event: RunFinishedEvent, file: Path = Path("interrupts.json")) -> list[ResumeEntry] | None:
    """Ask about each interrupt with which a run ended; None while one of them waits for a person.

    Empty if the run ended with none. The client calls this again, also after a restart, with the same event,
    until it gets an answer. That is given once: an equal event after it is another run's.
    """
    if event.outcome is None or event.outcome.type != "interrupt":
        return []
    said, stop = event.model_dump(mode="json"), kept_stop(file)
    if stop is None or stop.state != said:
        stop = keep_stop(file, said)
    waiting = event.outcome.interrupts
    verdicts = verdicts_on(AGENT, stop.key, [(wait.id, wait.reason, _shown(wait)) for wait in waiting])
    if verdicts is None:
        return None
    file.unlink()
    return [_entry(wait, verdict) for wait, verdict in zip(waiting, verdicts, strict=True)]


def _shown(interrupt: Interrupt) -> dict[str, Any]:
    return {"message": interrupt.message, **(interrupt.metadata or {})}


def _entry(interrupt: Interrupt, verdict: dict[str, Any]) -> ResumeEntry:
    payload = {"approved": False, **verdict}
    if verdict["allowed"]:
        edited = {name: value for name, value in verdict["args"].items() if name != "message"}
        payload = {"approved": True, "args": edited}
    return ResumeEntry(interrupt_id=interrupt.id, status="resolved", payload=payload)
