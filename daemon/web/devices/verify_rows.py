"""What the page says of a check of the whole journal: how far it is, and what came of it.

Never calls a journal intact of which something was found.
"""

from dataclasses import dataclass
from typing import Any

from daemon.journal.verification import CheckProgress, Verified
from daemon.refusal import Refused
from daemon.web.devices.verify_job import Ended
from daemon.web.refusals import refusal_words, sentence_text
from daemon.words.dates import relative_time
from daemon.words.sentences import answer_words
from daemon.words.translation import _, ngettext


@dataclass(frozen=True, slots=True)
class VerifyRow:
    """A check that ended: what to say of it, whether all is well, what was counted, and each finding.

    `findings` are pairs of what was found where, and the remedy.
    """

    words: str
    well: bool
    when: str
    counts: str
    findings: list[tuple[str, str]]
    left_out: int


def progress_fields(progress: CheckProgress) -> dict[str, Any]:
    """Return how far the check is, for a bar and in words."""
    percent = 100 * progress.position // progress.end if progress.end else None
    stage = _(progress.stage) if progress.stage else _("The check begins.")
    return {"percent": percent, "words": stage if percent is None else f"{stage} {percent} %"}


def verify_row(ended: Ended, now_s: float) -> VerifyRow:
    """Return what came of a check, in words."""
    when, outcome = relative_time(ended.at_ms, now_s), ended.outcome
    if not isinstance(outcome, Verified):
        words = refusal_words(outcome) if isinstance(outcome, Refused) else sentence_text(outcome)
        return VerifyRow(words, False, when, "", [], 0)
    count = len(outcome.findings) + outcome.more
    words = (
        _("Everything is intact.")
        if outcome.sound
        else ngettext("{count} thing is wrong", "{count} things are wrong", count).format(count=count)
    )
    findings = [
        (
            f"{answer_words(finding, 'what')} ({answer_words(finding, 'where')})",
            answer_words(finding, "remedy"),
        )
        for finding in outcome.findings
    ]
    return VerifyRow(words, outcome.sound, when, _counted_words(outcome), findings, outcome.more)


def _counted_words(verified: Verified) -> str:
    parts = [
        ngettext("{count} commit", "{count} commits", verified.commits).format(count=verified.commits),
        ngettext("{count} entity", "{count} entities", verified.entities).format(count=verified.entities),
        ngettext("{count} signature checked", "{count} signatures checked", verified.signatures).format(
            count=verified.signatures
        ),
    ]
    return " · ".join(parts)
