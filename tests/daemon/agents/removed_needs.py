"""The removed rules of what a verdict needs, and of permissions: rows of the table of `removed_rules.py`.

Never changes the tree itself.
"""

from typing import NamedTuple

WRITER, TALLIES = "store/fold/table_writer.py", "store/fold/tallies.py"
PRESENCE, NAMES = "store/fold/presence.py", "store/fold/item_name.py"
PRESENCE_TESTS = "tests/store/fold/test_presence.py"
USING, ASKS = "daemon/agents/asks/use_rule.py", "tests/daemon/agents/asks"
USE_TESTS, ASK_TESTS = f"{ASKS}/test_use_histories.py", f"{ASKS}/test_asks.py"
RULES, PATTERNS = (
    "daemon/agents/standing_rules/rule_record.py",
    "daemon/agents/standing_rules/argument_pattern.py",
)
RULE_USES, PERMITTING = (
    "daemon/agents/standing_rules/rule_uses.py",
    "daemon/agents/asks/standing_permission.py",
)
OUTCOMES = "daemon/agents/asks/ask_outcome.py"
STANDING = "tests/daemon/agents/standing_rules"
RULE_HISTORIES, RULE_TESTS = f"{STANDING}/test_rule_histories.py", f"{STANDING}/test_standing_rules.py"
PATTERN_TESTS = f"{STANDING}/test_argument_pattern.py"


class Removed(NamedTuple):
    """A rule, its file, its text, and the text without the rule.

    `proof` is the test that notices the absence of a rule that histories seldom reach; else it is empty.
    """

    rule: str
    file: str
    before: str
    after: str
    proof: str = ""


REMOVED_NEEDS = (
    # -- what a verdict needs -----------------------------------------------------------------------------
    Removed(
        "a verdict of the agent's own device does not count",
        PRESENCE,
        "return signer != requirement.home",
        "return True",
        PRESENCE_TESTS,
    ),
    Removed(
        "a verdict without its passkey does not count",
        PRESENCE,
        "return row is not None and is_asserted(decision.assertion, Passkey(*row), decision.challenge)",
        "return row is not None",
        PRESENCE_TESTS,
    ),
    Removed(
        "an agent decides nothing about what needs a person",
        PRESENCE,
        "return opinion.verdict is Verdict.RETRACTED",
        "return True",
        PRESENCE_TESTS,
    ),
    Removed(
        "only a person makes a passkey",
        WRITER,
        " or operation.by is not AuthorKind.USER:",
        ":",
        PRESENCE_TESTS,
    ),
    Removed(
        "a requirement holds for verdicts that came before it",
        WRITER,
        "        if not positions:\n            return set()\n",
        "        if positions is not None:\n            return set()\n",
        PRESENCE_TESTS,
    ),
    Removed(
        "a passkey holds for verdicts that came before it",
        WRITER,
        "for seq, identifier in self._presence.record_passkey(passkey):",
        "for seq, identifier in self._presence.record_passkey(passkey)[:0]:",
        PRESENCE_TESTS,
    ),
    Removed(
        "an item's id follows from what its verdicts need",
        NAMES,
        "if (entity or requirement) and name.item_id(time_of=item) == item:",
        "if entity or requirement:",
        PRESENCE_TESTS,
    ),
    Removed(
        "what a verdict that does not count had seen still counts",
        TALLIES,
        '" AND counts AND (by = ? OR ?) GROUP BY verdict",',
        '" AND (by = ? OR ?) GROUP BY verdict",',
        PRESENCE_TESTS,
    ),
    # -- permissions --------------------------------------------------------------------------------------
    Removed(
        "what was asked before a restore grants nothing",
        USING,
        "    if not permission.asked_here:\n",
        "    if False:\n",
        USE_TESTS,
    ),
    Removed(
        "a yes is used once",
        USING,
        "        if used.execution != execution:\n",
        "        if False:\n",
        USE_TESTS,
    ),
    Removed(
        "a yes is for the arguments that the person saw",
        USING,
        "            if permission.granted_hash != args_hash:\n",
        "            if False:\n",
        USE_TESTS,
    ),
    Removed(
        "a yes is used in time",
        USING,
        "return UseResult.EXPIRED if is_late else UseResult.GRANTED",
        "return UseResult.GRANTED",
        USE_TESTS,
    ),
    Removed(
        "a yes to what was asked before a restore is none to what is asked after it",
        "daemon/agents/asks/ask_record.py",
        'return tagged_digest("ask args", name, args, replica.hex())',
        'return tagged_digest("ask args", name, args)',
        ASK_TESTS,
    ),
    Removed(
        "nobody else proposes in the name of an agent of another maker",
        "daemon/agents/proposing/authenticity.py",
        "agent.home == proposed.signer and ",
        "",
        "tests/daemon/agents/outside/test_proposals.py",
    ),
    Removed(
        "only the home device tells of a use",
        "daemon/agents/asks/ask_record.py",
        "        and write.signer == ask.home\n        and write.head.replica == ask.replica\n",
        "",
        ASK_TESTS,
    ),
    Removed(
        "an agent that may not act uses nothing",
        USING,
        "    if permission.is_hindered:\n",
        "    if False:\n",
        ASK_TESTS,
    ),
    Removed(
        "what was taken back is not used",
        USING,
        "permission.is_withdrawn or ",
        "",
        ASK_TESTS,
    ),
    # -- standing rules -----------------------------------------------------------------------------------
    Removed(
        "a standing rule is used so often a day",
        RULE_USES,
        " and uses_on_day(tx, rule.id, at_ms) < rule.uses_a_day",
        "",
        RULE_HISTORIES,
    ),
    Removed(
        "uses are counted by the day of the stamp",
        RULE_USES,
        "return max(now_ms, snapshot.stamp_ms_at(now_ms))",
        "return now_ms",
        RULE_TESTS,
    ),
    Removed(
        "a database that was put back applies no rule that day",
        RULE_USES,
        " and not _began_again(snapshot, at_ms // DAY_MS)",
        "",
        RULE_HISTORIES,
    ),
    Removed(
        "a database that was put back reckons with stamps ahead of its clock",
        RULE_USES,
        ".stamp.ms + LEAD_MS_MAX) // DAY_MS",
        ".stamp.ms) // DAY_MS",
        RULE_TESTS,
    ),
    Removed(
        "a revoked rule permits nothing",
        OUTCOMES,
        "if rule is not None and rule.revoked is None:",
        "if rule is not None:",
        RULE_HISTORIES,
    ),
    Removed(
        "any later write ends a rule",
        RULES,
        "revoked=next((write for write in writes if write is not creation), None),",
        'revoked=next((write for write in writes if write.fields.get("revoked")), None),',
        RULE_TESTS,
    ),
    Removed(
        "what a rule permits ends with it",
        OUTCOMES,
        "min(ask.not_after_ms, rule.until_ms))",
        "ask.not_after_ms)",
        RULE_HISTORIES,
    ),
    Removed(
        "a rule is for the arguments that it names",
        PATTERNS,
        "    if args.keys() != pattern.exact.keys() | pattern.begins.keys():\n",
        "    if not args.keys() >= pattern.exact.keys() | pattern.begins.keys():\n",
        RULE_HISTORIES,
    ),
    Removed(
        "a value of another type is another value",
        PATTERNS,
        "return codec.encode(value) == codec.encode(allowed)",
        "return value == allowed",
        RULE_HISTORIES,
    ),
    Removed(
        "no sign of a shell follows a beginning",
        PATTERNS,
        "all(sign.isalnum() or sign in _PLAIN for sign in rest)",
        "True",
        PATTERN_TESTS,
    ),
    Removed(
        "no option follows a beginning",
        PATTERNS,
        "is_data and not has_option and",
        "is_data and",
        PATTERN_TESTS,
    ),
    Removed(
        "a rule chooses no option",
        PERMITTING,
        "        and not ask.options\n",
        "",
        RULE_HISTORIES,
    ),
    Removed(
        "a rule is for the home where it was written for",
        PERMITTING,
        "        and rule.home == ask.home\n",
        "",
        RULE_HISTORIES,
    ),
    Removed(
        "a rule from an agent's home is none of another device",
        RULES,
        "return self.maker != self.home",
        "return True",
        RULE_TESTS,
    ),
    Removed(
        "a person writes a rule",
        RULES,
        "        and write.by is AuthorKind.USER\n",
        "",
        RULE_TESTS,
    ),
    Removed(
        "the device that a rule names signed it",
        RULES,
        '        and write.fields.get("maker") == write.signer\n',
        "",
        RULE_TESTS,
    ),
    Removed(
        "a rule's id follows from what it says",
        RULES,
        "        and rule_id(write.fields) == rule\n",
        "",
        RULE_TESTS,
    ),
    Removed(
        "a decision that names a rule is of the agent's home",
        PERMITTING,
        " or signer != ask.home",
        "",
        RULE_TESTS,
    ),
    Removed(
        "a person outranks a rule",
        OUTCOMES,
        "    if by_person or is_withdrawn(decisions):\n",
        "    if is_withdrawn(decisions):\n",
        RULE_HISTORIES,
    ),
    Removed(
        "a rule that comes later leaves the ask to a person",
        "daemon/agents/asks/ask_requests.py",
        "            return identifier\n",
        "            permit_by_rule(tx, before)\n            return identifier\n",
        RULE_HISTORIES,
    ),
)
"""The rows."""
