"""Standing rules in words, for the template.

Never shortens an argument that a rule allows.
"""

import json
from dataclasses import dataclass

from daemon.agents.person.standing_rules import StandingRuleDetails
from daemon.words.dates import full_time_words, relative_time
from daemon.words.translation import _

_TONES = {"stands": "green", "revoked": "red"}


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule: whom it allows what, with which arguments, how often it did. `state` is empty if it stands."""

    id: str
    title: str
    args: str
    begins: list[str]
    examples: list[str]
    facts: list[str]
    state: str
    tone: str
    uses: list[str]
    can_be_revoked: bool


def rule_row(rule: StandingRuleDetails, now_s: float) -> RuleRow:
    """Return what a card shows."""
    facts = [
        _("until {when}").format(when=full_time_words(rule.until)),
        _("{used} of {count} uses today").format(used=rule.uses_today, count=rule.uses_a_day),
        _("written on {device}, {when}").format(
            when=relative_time(rule.made_at, now_s), device=rule.device_name
        ),
    ]
    if rule.revoked_at:
        facts.append(
            _("revoked on {device}, {when}").format(
                when=relative_time(rule.revoked_at, now_s), device=rule.revoked_on
            )
        )
    shown = bool(rule.exact) or not rule.begins
    return RuleRow(
        id=rule.rule_id,
        title=_("{agent} may {action}").format(agent=rule.agent_name, action=rule.name),
        args=_json(rule.exact) if shown else "",
        begins=[
            _("{name} begins with {text}").format(name=name, text=_json(text))
            for name, text in rule.begins.items()
        ],
        examples=[
            _("lets through, for example: {args}").format(args=_json(rule.lets_through)),
            _("still asks you, for example: {args}").format(args=_json(rule.still_asks)),
        ],
        facts=facts,
        state=_state_words(rule.state),
        tone=_TONES.get(rule.state, ""),
        uses=[relative_time(use.at, now_s) for use in rule.uses],
        can_be_revoked=rule.revoked_at is None and rule.state != "over",
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _state_words(state: str) -> str:
    return {
        "revoked": _("revoked"),
        "over": _("over"),
        "idle": _(
            "permits nothing: the agent was moved, verdicts on it need more by now, "
            "its beginning would be refused today, or a clock was wrong here"
        ),
    }.get(state, "")
