"""The removed rules of what a verdict needs, and of permissions: rows of the table of `removed_rules.py`.

Never changes the tree itself.
"""

from typing import NamedTuple

WRITER, TALLIES = "store/fold/table_writer.py", "store/fold/tallies.py"
PRESENCE, NAMES = "store/fold/presence.py", "store/fold/item_name.py"
PRESENCE_TESTS = "tests/store/fold/test_presence.py"
USING, ASKS = "daemon/agents/asks/use_rule.py", "tests/daemon/agents/asks"
USE_TESTS, ASK_TESTS = f"{ASKS}/test_use_histories.py", f"{ASKS}/test_asks.py"


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
        " and write.signer == ask.home and write.head.replica == ask.replica",
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
)
"""The rows."""
