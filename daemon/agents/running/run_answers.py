"""What a person who waits for a run is told if it did not end as it should.

Never decides whether a run is tried again.
"""

from daemon.agents.tools.model_interface import ModelUnavailable
from daemon.refusal import RefusalCode, Refused
from store.local import run_log
from store.local.run_log import RunStatus
from store.sentence import Sentence, foreign_text, sentence


def fault_words(fault: Exception) -> Sentence:
    """Return what went wrong with a run, in one line."""
    return (
        fault.words
        if isinstance(fault, ModelUnavailable)
        else foreign_text(f"{type(fault).__name__}: {fault}")
    )


def no_run_refusal(reason: Sentence) -> Refused:
    """Return the answer to a person whose request brought no end of a run."""
    return Refused(
        RefusalCode.FAILED,
        sentence("agent-run-not-ended", "the agent's run did not complete: {why}", why=reason),
        sentence("see-agent-show", "placet agent show says more"),
    )


def stopping_sentence() -> Sentence:
    """Return why no run ends any more."""
    return sentence("placet-is-stopping", "placet is stopping")


def is_queued_again(answer: run_log.AgentRun | Refused) -> bool:
    """Report whether a request is queued again: its run failed, and nobody waits who could ask again."""
    return isinstance(answer, run_log.AgentRun) and answer.status is RunStatus.QUEUED
