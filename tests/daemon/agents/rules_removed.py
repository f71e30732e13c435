"""The rules that agents' histories must miss: each row takes one away, in a copy, as a change of text.

Never changes the tree itself. A text that is not found, or found twice, is an error of the row, told at once.
"""

from typing import NamedTuple

FOLD, VERDICTS, INDEX = "store/fold.py", "store/verdicts.py", "store/proposals.py"
DECISIONS, CONFIRMING = "daemon/agents/decisions.py", "daemon/agents/confirming.py"
JUDGING, COMPARING = "daemon/agents/judging.py", "daemon/agents/comparing.py"
QUEUEING, EFFECTS = "daemon/agents/queueing.py", "daemon/agents/effects.py"


class Removed(NamedTuple):
    """A rule, the file that keeps it, its text, and the text without the rule.

    `proof` is the test that misses a rule which histories seldom come to; empty where they do.
    """

    rule: str
    file: str
    before: str
    after: str
    proof: str = ""


TABLE = (
    # -- the fold -----------------------------------------------------------------------------------------
    Removed(
        "causality first: what a write had seen is covered",
        FOLD,
        "kept = [version for version in versions if not covers(base, version.source.head, chains)]",
        "kept = list(versions)",
    ),
    Removed(
        "causality, and not the clock, says what is covered",
        FOLD,
        "kept = [version for version in versions if not covers(base, version.source.head, chains)]",
        "kept = [one for one in versions if one.source.ms > write.source.ms]",
    ),
    Removed(
        "rank before time", FOLD, "(self.rank, self.ms, self.n, self.head)", "(self.ms, self.n, self.head)"
    ),
    Removed("time breaks ties", FOLD, "(self.rank, self.ms, self.n, self.head)", "(self.rank, self.head)"),
    Removed(
        "a person's own write outranks all others",
        FOLD,
        "return RANK_USER if self.by is By.USER else RANK_IMMEDIATE",
        "return RANK_IMMEDIATE",
    ),
    Removed(
        "edited words outrank those proposed",
        FOLD,
        "return RANK_EDITED if self.by is By.USER else RANK_CONFIRMED",
        "return RANK_CONFIRMED",
    ),
    Removed(
        "an effect is live only while its item is confirmed",
        "store/folding.py",
        "        return standing.status is Status.CONFIRMED",
        "        return True",
    ),
    Removed(
        "a verdict folds again what it changes",
        "store/folding.py",
        "        return proposals.entities_of(self._db, turned)",
        "        return set()",
    ),
    Removed(
        "a creation that a person has touched stays",
        FOLD,
        "live = any(covers(base, write.head, chains) for base in persons)",
        "live = False",
    ),
    Removed(
        "a person's write on a dead creation brings it back",
        FOLD,
        "if row.dead and write.operation.base and is_person(write.operation):",
        "if False:",
    ),
    Removed(
        "only a creation is kept by a touch, no other effect",
        FOLD,
        "if not live and write.operation.creates:",
        "if not live:",
    ),
    Removed(
        "a deletion hides only what it has seen",
        FOLD,
        "return not tombs or not within(row.person, tombs, chains)",
        "return not tombs",
    ),
    Removed(
        "a deletion is no work that keeps a thing in sight",
        FOLD,
        "if is_person(operation) and not operation.deletes:",
        "if is_person(operation):",
    ),
    # -- the fold of verdicts -----------------------------------------------------------------------------
    Removed(
        "a decision that another has seen counts no more",
        VERDICTS,
        "new = opinion.seen - self._seen",
        "new: frozenset[EntityId] = frozenset()",
    ),
    Removed(
        "people's decisions before agents'",
        VERDICTS,
        "_standing(self._persons.counts or self._all.counts)",
        "_standing(self._all.counts)",
    ),
    Removed(
        "rejected beats confirmed",
        VERDICTS,
        "if counts.get(Verdict.REJECTED) or counts.get(Verdict.UNDONE):",
        "if counts.get(Verdict.REJECTED, counts.get(Verdict.UNDONE)) and not counts.get(Verdict.CONFIRMED):",
    ),
    Removed(
        "undone beats confirmed",
        VERDICTS,
        "if counts.get(Verdict.REJECTED) or counts.get(Verdict.UNDONE):",
        "if counts.get(Verdict.REJECTED):",
    ),
    Removed(
        "a rejection beside a confirmation is a dispute",
        VERDICTS,
        "disputed=bool(counts.get(Verdict.CONFIRMED))",
        "disputed=False",
    ),
    Removed("a deferral is a status", VERDICTS, "        (Verdict.DEFERRED, Status.DEFERRED),\n", ""),
    Removed(
        "a decision says which it had seen",
        CONFIRMING,
        '"seen": [decision.id for decision in item.decisions],',
        '"seen": [],',
    ),
    Removed(
        "`seen` is read",
        INDEX,
        'seen = frozenset(_ids(fields.get("seen")))',
        "seen: frozenset[EntityId] = frozenset()",
    ),
    # -- stale, obsolete, expired -------------------------------------------------------------------------
    Removed(
        "stale: what was written meanwhile",
        COMPARING,
        "covers(occurrence.base, one.source.head, snapshot.log) for one in _others(found, field)",
        "True for one in _others(found, field)",
    ),
    Removed(
        "stale: what only a person's words write",
        COMPARING,
        "_is_unwritten(snapshot, found, occurrence, field) for field in added",
        "field for field in added",
        "tests/daemon/agents/test_decisions_apart.py",
    ),
    Removed(
        "stale: the value that was seen",
        COMPARING,
        "return own or current(found, field) == seen",
        "return True",
        "tests/daemon/agents/test_decisions.py",
    ),
    Removed(
        "stale: the item's own versions aside",
        COMPARING,
        "if one.source.effect != found.item.id]",
        "if True]",
    ),
    Removed(
        "stale: one fresh proposal of several is enough",
        COMPARING,
        "return not any(_is_fresh(",
        "return not all(_is_fresh(",
        "tests/daemon/agents/test_decisions_apart.py",
    ),
    Removed(
        "stale: for each field, and not for the entity",
        COMPARING,
        "    added = [field for field in found.effect.fields if field not in judged]",
        "    return all(covers(occurrence.base, one, snapshot.log) for one in found.target.clock)\n"
        "    added = []",
    ),
    Removed(
        "stale: a creation that a person has written over",
        COMPARING,
        "return any(_others(found, field) for field in found.effect.fields)",
        "return False",
    ),
    Removed(
        "what is stale is refused",
        DECISIONS,
        "if not force and comparing.is_stale(tx, written):",
        "if False:",
    ),
    Removed("what is gone is refused", DECISIONS, "if gone is not None:", "if False:"),
    Removed(
        "what came too late is refused",
        DECISIONS,
        "if judging.is_expired(case.item, tx.now_ms()) and not force:",
        "if False:",
    ),
    Removed(
        "a decision beats expiry",
        JUDGING,
        "return not item.decisions and item.expires_ms <= now_ms",
        "return item.expires_ms <= now_ms",
    ),
    Removed(
        "what is deferred waits for ever",
        INDEX,
        "int(standing.disputed), FOR_EVER_MS)",
        "int(standing.disputed), 0)",
    ),
    Removed(
        "the latest of several proposals' times counts",
        INDEX,
        "until_ms = max(until_ms, excluded.until_ms)",
        "until_ms = min(until_ms, excluded.until_ms)",
        "tests/store/test_items.py",
    ),
    Removed(
        "what is so already is obsolete",
        JUDGING,
        "if not found.effect.is_so(lambda field: current(found, field)):",
        "if True:",
    ),
    # -- what is the person's -----------------------------------------------------------------------------
    Removed(
        "a tick of the person's is guarded again at a confirmation",
        "daemon/agents/allowing.py",
        "if TOOLS[found.item.tool].writes is Writes.ITEM and not force:",
        "if False:",
        "tests/daemon/agents/test_allowing.py",
    ),
    Removed(
        "evidence is later than the tick",
        "daemon/agents/sovereignty.py",
        "and created is not None and _is_users(created) and _moment(created).is_after(since)",
        "and created is not None and _is_users(created)",
        "tests/daemon/agents/test_sovereignty.py",
    ),
    Removed(
        "a label that was turned down is guarded",
        "daemon/agents/allowing.py",
        "if not force and labelling.suppressed(snapshot, task, label, besides=found.item.id) is not None:",
        "if False:",
        "tests/daemon/agents/test_allowing.py",
    ),
    Removed(
        "an agent takes back only what nobody has decided on",
        "daemon/agents/retracting.py",
        "if any(decision.by is not By.AGENT for decision in item.decisions):",
        "if False:",
    ),
    Removed(
        "what was rejected is not proposed again",
        QUEUEING,
        "if item.status is Status.REJECTED:",
        "if False:",
    ),
    Removed(
        "confirmed as proposed stamps the agent",
        CONFIRMING,
        "by = By.AGENT if confirmation.edited is None else By.USER",
        "by = By.USER",
    ),
    Removed(
        "a page that was left open writes with the clock that it showed",
        "daemon/journal/tasks.py",
        'Write(task.id, "task", changed, base=clock)',
        'Write(task.id, "task", changed)',
    ),
    # -- once, and in one commit --------------------------------------------------------------------------
    Removed(
        "two runs that propose the same make one item",
        QUEUEING,
        "identifier = item_id(fingerprint, None if last is None else last.id, self._run.task)",
        "identifier = item_id(fingerprint, None if last is None else last.id,"
        " change_set_id(self._run.run_key, 0, self._run.task)[::-1])",
    ),
    Removed(
        "two confirmations make one thing",
        CONFIRMING,
        "write = Write(effect.entity,",
        "write = Write(tx.new_id() if effect.creates else effect.entity,",
    ),
    Removed(
        "two devices make one checklist",
        CONFIRMING,
        'identifier = derived_id("checklist", *parts, time_of=task)',
        "identifier = tx.new_id()",
        "tests/daemon/agents/test_decisions_apart.py",
    ),
    Removed(
        "decision and effect are one commit",
        DECISIONS,
        "    tx.commit(confirmation_writes(tx, confirmation), agent=case.item.occurrences[0].agent)\n",
        "    for one in confirmation_writes(tx, confirmation):\n        tx.commit([one])\n",
    ),
    Removed(
        "the base is what is there now",
        CONFIRMING,
        "write = Write(effect.entity, effect.kind, fields, effect=item.id, by=by)",
        "write = Write(effect.entity, effect.kind, fields, effect=item.id, by=by,"
        " base=item.occurrences[0].base or None)",
    ),
    Removed(
        "confirmed twice is answered as such",
        DECISIONS,
        '    raise _Refused(Outcome.ALREADY, "it is confirmed already")',
        "    return",
    ),
    Removed(
        "edited words in dispute are confirmed again",
        DECISIONS,
        "words = judging.edited_words(case.item) if edit is None else edit",
        "words = edit",
    ),
    Removed(
        "what was rejected is confirmed only when asked for",
        DECISIONS,
        "elif item.status is Status.REJECTED and not (item.disputed or again):",
        "elif False:",
    ),
    Removed(
        "a dispute is settled by either verdict",
        DECISIONS,
        "answer = None if verdict in _SETTLES else",
        "answer = answer if verdict in _SETTLES else",
    ),
)
