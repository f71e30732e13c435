"""What a person does with standing rules: writes one, looks at them and their uses, revokes one.

Never makes a rule of what a person decided, and never changes one: another rule takes its place.
"""

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from daemon.agents.asks.ask_bounds import require_keepable
from daemon.agents.standing_rules.argument_pattern import Pattern, examples_of, wide_arguments
from daemon.agents.standing_rules.rule_record import (
    STANDING_RULE,
    RuleTerms,
    StandingRule,
    read_rule,
    rule_fields,
    rule_id,
    rules_in_force_on,
    rules_on,
)
from daemon.agents.standing_rules.rule_uses import DAY_MS, OF_RULE, judged_ms, stands_at, uses_on_day
from daemon.agents.tools.actions import ACTION_CHARS_MAX
from daemon.agents.tools.agent_record import DESTROYED, load_any_agent
from daemon.agents.tools.policy import denies_action
from daemon.agents.tools.presence import ANY, presence_on_action
from daemon.journal.views.lookup import NameLookup, json_value
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.timestamps import iso_utc, stamp_utc
from store.fold.item_name import Presence
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.hlc import LEAD_MS_MAX
from syncproto.ids import DeviceId, EntityId, id_to_text

LIFETIME_MAX_MS: Final = 90 * 86_400_000
USES_A_DAY_MAX: Final = 100
RULES_MAX: Final = 100
"""How many rules on one agent may stand at once."""
USES_SHOWN_MAX: Final = 50


class NewStandingRule(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a person allows an agent beforehand: the action by its exact name, and its arguments.

    `exact` has the arguments that must be so; of those in `begins` only the beginning must be so, and only
    whole words of letters, digits and `-_./:@+,` may follow on the line, with no `..` in a path, and none
    that starts with `-`: options belong into the beginning. A beginning that runs what follows, such as
    `sh -c`, is refused. An action with any other argument still waits for a
    person. `until` is milliseconds of Unix time, 90 days ahead at
    most, or a time as a person types it; `uses_a_day` counts days of UTC.
    """

    agent: Annotated[str, Meta(min_length=1, max_length=200)]
    name: Annotated[str, Meta(min_length=1, max_length=ACTION_CHARS_MAX)]
    exact: dict[str, Any] = {}
    begins: dict[str, str] = {}
    until: int | str
    uses_a_day: Annotated[int, Meta(ge=1, le=USES_A_DAY_MAX)]


class RuleUse(Struct, frozen=True, kw_only=True):
    """A use of a rule: the ask that it permitted, and when (ISO 8601 in UTC)."""

    decision_id: str
    ask_id: str
    at: str


class StandingRuleDetails(Struct, frozen=True, kw_only=True):
    """A standing rule. `state` is stands, over, revoked, or idle.

    Idle is a rule that permits nothing: the agent has another home than when it was written, verdicts on
    its asks need more by now, its beginning, which an earlier version took, would be refused today, or this
    device cannot tell by its stamps whether it ended. `uses_today` counts on the day of UTC that counts for
    it. `lets_through` is an example of arguments that fit, and `still_asks` one of similar ones that do not.
    `uses` are the latest, the newest first. Times are ISO 8601 in UTC.
    """

    rule_id: str
    agent_id: str
    agent_name: str
    name: str
    exact: Any
    begins: dict[str, str]
    until: str
    lets_through: Any
    still_asks: Any
    uses_a_day: int
    uses_today: int
    state: str
    made_at: str
    device: str
    device_name: str
    revoked_at: str | None = None
    revoked_on: str | None = None
    uses: list[RuleUse] = []


def make_rule(tx: Transaction, agent: EntityId, request: NewStandingRule, until_ms: int) -> EntityId:
    """Write a rule; return its id. Raises Refused if it breaks a bound, or could permit nothing.

    `until_ms` is what `until` says, Unix time in milliseconds.
    """
    known_agent = load_any_agent(tx, agent)
    if known_agent is None or known_agent.lifecycle == DESTROYED:
        raise Refused(RefusalCode.CONFLICT, sentence("agent-destroyed", "it was destroyed"))
    pattern = _checked_pattern(request)
    # Stamps further ahead are those of a clock that was wrong once, and end no rule that is made now.
    now_ms, stamp_ms = tx.now_ms(), tx.stamp_ms_at(tx.now_ms())
    now_ms = max(now_ms, stamp_ms) if stamp_ms <= now_ms + LEAD_MS_MAX else now_ms
    if not now_ms < until_ms <= now_ms + LIFETIME_MAX_MS:
        raise usage_error(
            sentence("rule-until", "a rule ends ahead, and in {days} days at most", days=90),
        )
    _require_usable(presence_on_action(tx.entity(agent), request.name), is_home=known_agent.home == tx.device)
    if len(rules_in_force_on(tx, agent, now_ms)) >= RULES_MAX:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("rules-too-many", "this agent has {count} rules in force already", count=RULES_MAX),
        )
    home = DeviceId(known_agent.home)
    terms = RuleTerms(agent, home, request.name, pattern, until_ms, request.uses_a_day)
    fields = rule_fields(terms, tx.device, tx.new_id())
    identifier = rule_id(fields)
    assert identifier is not None, "what was checked is a rule"
    tx.commit([EntityWrite(identifier, STANDING_RULE, fields)])
    return identifier


def _checked_pattern(request: NewStandingRule) -> Pattern:
    """Return the pattern. Raises Refused if it cannot be kept, or would let through any arguments."""
    if not request.name.strip():
        raise usage_error(sentence("rule-name-missing", "a rule names the action that it allows"))
    doubled = sorted(request.exact.keys() & request.begins.keys())
    if doubled:
        raise usage_error(
            sentence("rule-argument-twice", "the rule names {name!r} twice", name=doubled[0][:80])
        )
    require_keepable(request.name, {**request.exact, **request.begins})
    if request.begins and not request.exact and not any(request.begins.values()):
        raise usage_error(
            sentence("rule-allows-all", "a rule needs an argument, or it would permit everything: name one")
        )
    if empty := sorted(name for name, text in request.begins.items() if not text.strip()):
        raise usage_error(
            sentence(
                "rule-beginning-empty",
                "the beginning of {name!r} is empty: write how it begins",
                name=empty[0][:80],
            )
        )
    pattern = Pattern(request.exact, request.begins)
    if wide := wide_arguments(pattern):
        raise usage_error(
            sentence(
                "rule-beginning-runs",
                "Placet cannot rule out that what follows {beginning!r} chooses a command or a file: "
                "write the whole argument {name!r}",
                beginning=pattern.begins[wide[0]][:80],
                name=wide[0][:80],
            )
        )
    return pattern


def _require_usable(setting: str, *, is_home: bool) -> None:
    if setting == ANY:
        return
    if setting != Presence.OTHER_DEVICE:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("rule-against-passkey", "each verdict on this needs a passkey: no rule can give that"),
        )
    if is_home:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence(
                "rule-made-at-home",
                "a rule for this agent must come from another device than the one where it works",
            ),
            sentence("use-another-device", "do this on another device"),
        )


def revoke_rule(tx: Transaction, rule: EntityId) -> None:
    """Revoke a rule, for good. Raises Refused if there is none."""
    if require_rule(tx, rule).revoked is None:
        tx.commit([EntityWrite(rule, STANDING_RULE, {"revoked": True})])


def require_rule(snapshot: Snapshot, rule: EntityId) -> StandingRule:
    """Return a rule. Raises Refused if there is none under this id."""
    stored = read_rule(snapshot, rule)
    if stored is None:
        raise Refused(RefusalCode.NOT_FOUND, sentence("rule-unknown", "there is no such rule"))
    return stored


def list_rules(
    snapshot: Snapshot, now_ms: int, *, agent: EntityId | None = None, every: bool = False
) -> list[StandingRuleDetails]:
    """List the rules in force, of one agent or of all, the first to end at the top; with `every`, all."""
    if agent is not None:
        rules = rules_on(snapshot, agent)
    else:
        # A rule stands whatever was written to its entity since: one out of sight is listed, too.
        entities = [
            entity
            for removed in (False, True)
            for entity in snapshot.entities(STANDING_RULE, removed=removed)
        ]
        stored = (read_rule(snapshot, entity.id) for entity in entities)
        rules = [rule for rule in stored if rule is not None]
    rules.sort(key=lambda rule: (rule.until_ms, rule.id))
    return [rule_details(snapshot, rule, now_ms) for rule in rules if every or rule.is_in_force(now_ms)]


def rule_details(snapshot: Snapshot, rule: StandingRule, now_ms: int) -> StandingRuleDetails:
    """Return a rule as people see it, with its latest uses."""
    names = NameLookup(snapshot)
    agent = load_any_agent(snapshot, rule.agent)
    revoked, examples = rule.revoked, examples_of(rule.pattern)
    at_ms = judged_ms(snapshot, rule, now_ms)
    return StandingRuleDetails(
        rule_id=id_to_text(rule.id),
        agent_id=id_to_text(rule.agent),
        agent_name="" if agent is None else agent.name or agent.display_name,
        name=rule.name,
        exact=json_value(dict(rule.pattern.exact)),
        begins=dict(rule.pattern.begins),
        until=iso_utc(rule.until_ms),
        lets_through=json_value(dict(examples.let_through)),
        still_asks=json_value(dict(examples.asking)),
        uses_a_day=rule.uses_a_day,
        uses_today=uses_on_day(snapshot, rule.id, at_ms),
        state=_state_of(snapshot, rule, now_ms, at_ms),
        made_at=stamp_utc(rule.made_ms, now_ms),
        device=rule.maker.hex(),
        device_name=names.device_name(rule.maker),
        revoked_at=None if revoked is None else stamp_utc(revoked.stamp_ms, now_ms),
        revoked_on=None if revoked is None else names.device_name(revoked.signer),
        uses=_latest_uses(snapshot, rule, now_ms),
    )


def _state_of(snapshot: Snapshot, rule: StandingRule, now_ms: int, at_ms: int) -> str:
    """Return the state of a rule, given the clock and the time that counts for it."""
    if rule.revoked is not None:
        return "revoked"
    if not rule.is_in_force(now_ms):
        return "over"
    if rule.home == snapshot.device and not stands_at(snapshot, rule, at_ms):
        return "idle"
    if at_ms // DAY_MS > now_ms // DAY_MS and uses_on_day(snapshot, rule.id, at_ms) >= rule.uses_a_day:
        # Its day does not end before the clock comes up to it.
        return "idle"
    agent, entity = load_any_agent(snapshot, rule.agent), snapshot.entity(rule.agent)
    if agent is None or agent.lifecycle == DESTROYED or agent.home != rule.home:
        return "idle"
    if denies_action(entity, rule.name):
        return "idle"
    if wide_arguments(rule.pattern):
        return "idle"
    setting = presence_on_action(entity, rule.name)
    needed = None if setting == ANY else Presence(setting)
    return "stands" if rule.meets_need(needed) else "idle"


def _latest_uses(snapshot: Snapshot, rule: StandingRule, now_ms: int) -> list[RuleUse]:
    uses = []
    for decision in snapshot.newest_ids_pointing_at(rule.id, OF_RULE, USES_SHOWN_MAX):
        entity = snapshot.entity(decision)
        version = None if entity is None else entity.version("item_id")
        if version is None or not isinstance(version.value, bytes):
            continue
        uses.append(
            RuleUse(
                decision_id=id_to_text(decision),
                ask_id=id_to_text(version.value),
                at=stamp_utc(version.source.ms, now_ms),
            )
        )
    return uses
