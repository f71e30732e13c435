"""An ask in detail, for the template: what verdicts on it need, its form, and who decided what.

Never leaves out an argument.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.web.decide.ask_form import PREFIX, AskField, ask_fields
from daemon.web.decide.ask_rows import AskRow, ask_row
from daemon.web.decide.review_rows import decided_words
from daemon.words.dates import full_time_words, relative_time
from daemon.words.translation import _


@dataclass(frozen=True, slots=True)
class AskReviewRow:
    """One ask in detail. `reason` is what a refused form said, as `fields` are."""

    ask: AskRow
    facts: list[str]
    verdicts: list[str]
    fields: list[AskField]
    reason: str
    is_edited: bool


def ask_review_row(
    ask: AskDetails,
    records: Sequence[DecisionRecord],
    own_device: str,
    now_s: float,
    typed: Mapping[str, Mapping[str, str]],
) -> AskReviewRow:
    """Return an ask in detail, with the decisions on it; `typed` is what refused forms said, by ids."""
    form = typed.get(ask.ask_id, {})
    facts = [
        _("asked {when}").format(when=relative_time(ask.made_at, now_s)),
        _("may be used until {when}").format(when=full_time_words(ask.not_after)),
        _need_words(ask),
    ]
    return AskReviewRow(
        ask=ask_row(ask, own_device, now_s),
        facts=facts,
        verdicts=[decided_words(record, now_s) for record in records],
        fields=ask_fields(ask.asked_args, form),
        reason=form.get("reason", ""),
        is_edited=any(name.startswith(PREFIX) for name in form),
    )


def _need_words(ask: AskDetails) -> str:
    """Say in whole words what a verdict on an ask needs."""
    match ask.presence:
        case "other_device":
            words = _("a verdict counts only if it comes from another device than {device}")
            return words.format(device=ask.home_device_name)
        case "passkey":
            return _("a verdict counts only with your passkey, on this page")
    return _("a verdict on any of your devices counts")
