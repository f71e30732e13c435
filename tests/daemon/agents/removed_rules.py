"""The rules whose absence the histories must notice: each row removes one, in a copy, as a change of text.

Never changes the tree itself. A text that does not occur exactly once is an error of the row.
"""

from tests.daemon.agents.removed_doors import REMOVED_DOORS
from tests.daemon.agents.removed_needs import REMOVED_NEEDS, Removed
from tests.daemon.agents.removed_proofs import REMOVED_PROOFS

FOLD, VERSIONS = "store/fold/entity_state.py", "store/fold/field_versions.py"
CONDITIONAL, LIVENESS, WRITER = (
    f"store/fold/{name}.py" for name in ("conditional", "liveness", "table_writer")
)
VERDICTS, TALLIES, INDEX = (f"store/fold/{name}.py" for name in ("verdicts", "tallies", "proposal_index"))
DECISIONS, CONFIRMING = "daemon/agents/deciding/decisions.py", "daemon/agents/deciding/decision_commit.py"
JUDGING, COMPARING = "daemon/agents/deciding/item_state.py", "daemon/agents/deciding/staleness.py"
SETS = "daemon/agents/deciding/set_decisions.py"
QUESTION_TESTS = "tests/daemon/agents/deciding/test_questions.py"
WISH_TESTS = "tests/daemon/agents/running/test_wishes.py"
QUEUEING, EFFECTS = "daemon/agents/proposing/change_set_builder.py", "daemon/agents/tools/effects.py"


TABLE = (
    # -- the fold -----------------------------------------------------------------------------------------
    Removed(
        "causality first: what a write had seen is covered",
        VERSIONS,
        "replaces = place > 0 and self._may_replace(base, source.head.replica)",
        "replaces = False",
    ),
    Removed(
        "causality, and not the clock, says what is covered",
        VERSIONS,
        "elif replaces and len(versions) == 2 and self._covers(base, sources[versions[0]].head, chains):",
        "elif len(versions) == 2 and sources[versions[0]].ms < source.ms:",
    ),
    Removed(
        "rank before time",
        VERSIONS,
        "(self.rank, self.ms, self.n, self.head)",
        "(self.ms, self.n, self.head)",
    ),
    Removed(
        "time breaks ties", VERSIONS, "(self.rank, self.ms, self.n, self.head)", "(self.rank, self.head)"
    ),
    Removed(
        "a person's own write outranks all others",
        VERSIONS,
        "return RANK_USER if self.by is AuthorKind.USER else RANK_IMMEDIATE",
        "return RANK_IMMEDIATE",
    ),
    Removed(
        "edited words outrank those proposed",
        VERSIONS,
        "return RANK_EDITED if self.by is AuthorKind.USER else RANK_CONFIRMED",
        "return RANK_CONFIRMED",
    ),
    Removed(
        "an effect is live only while its item is confirmed",
        LIVENESS,
        "return status.status is DecisionStatus.CONFIRMED",
        "return True",
    ),
    Removed(
        "a verdict folds again what it changes",
        WRITER,
        "            turned |= before | after\n",
        "            turned |= set()\n",
    ),
    Removed(
        "a creation that a person has touched stays",
        CONDITIONAL,
        "self._touched.update(touched)",
        "self._touched.update(())",
    ),
    Removed(
        "only a creation is kept by a touch, no other effect",
        CONDITIONAL,
        "        if operation.creates:\n            self._creating",
        "        if True:\n            self._creating",
    ),
    Removed(
        "a deletion hides only what it has seen",
        FOLD,
        "return not tombs or not is_covered_by_any(row.person, tombs, chains)",
        "return not tombs",
    ),
    Removed(
        "a deletion is no work that keeps a thing in sight",
        FOLD,
        "by_person = is_direct_user_write(operation) and not operation.deletes",
        "by_person = is_direct_user_write(operation)",
    ),
    # -- the fold of verdicts -----------------------------------------------------------------------------
    Removed(
        "a decision that another has seen counts no more",
        TALLIES,
        "new = opinion.seen - self._select_overruled(item, whose, opinion.seen)",
        "new: frozenset[EntityId] = frozenset()",
    ),
    Removed(
        "people's decisions before agents'",
        TALLIES,
        "item_status_from(counts[OF_PERSONS] or counts[OF_ALL])",
        "item_status_from(counts[OF_ALL])",
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
    Removed("a deferral is a status", VERDICTS, "        (Verdict.DEFERRED, DecisionStatus.DEFERRED),\n", ""),
    Removed(
        "a decision says which it had seen",
        CONFIRMING,
        '"seen": [decision.id for decision in item.all_decisions],',
        '"seen": [],',
    ),
    Removed(
        "`seen` is read",
        INDEX,
        'identifiers = frozenset(_ids(fields.get("seen")))',
        "identifiers: frozenset[EntityId] = frozenset()",
    ),
    # -- stale, obsolete, expired -------------------------------------------------------------------------
    Removed(
        "stale: what was written meanwhile",
        COMPARING,
        "covers(occurrence.base, version.source.head, snapshot.log)\n",
        "True\n",
    ),
    Removed(
        "stale: what only a person's words write",
        COMPARING,
        "_is_unwritten(snapshot, state, occurrence, field) for field in added",
        "field for field in added",
        "tests/daemon/agents/deciding/test_decisions_apart.py",
    ),
    Removed(
        "stale: the value that was seen",
        COMPARING,
        "return is_own or current_value(state, field) == seen_value",
        "return True",
        "tests/daemon/agents/deciding/test_decisions.py",
    ),
    Removed(
        "stale: the item's own versions aside",
        COMPARING,
        "if not state.wrote(version)]",
        "if True]",
    ),
    Removed(
        "stale: one fresh proposal of several is enough",
        COMPARING,
        "return not any(_is_fresh(",
        "return not all(_is_fresh(",
        "tests/daemon/agents/deciding/test_decisions_apart.py",
    ),
    Removed(
        "stale: for each field, and not for the entity",
        COMPARING,
        "    added = [field for field in state.effect.fields if field not in judged]",
        "    return all(covers(occurrence.base, one, snapshot.log) for one in state.target.clock)\n"
        "    added = []",
    ),
    Removed(
        "stale: a creation that a person has written over",
        COMPARING,
        "return any(_versions_of_others(state, field) for field in state.effect.fields)",
        "return False",
    ),
    Removed(
        "what is stale is refused",
        DECISIONS,
        "if not force and staleness.is_stale(tx, with_argument):",
        "if False:",
    ),
    Removed("what is gone is refused", DECISIONS, "if missing_reason is not None:", "if False:"),
    Removed(
        "what came too late is refused",
        DECISIONS,
        "if item_state.is_expired(case.item, tx.now_ms()) and not force:",
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
        WRITER,
        "if status is None else proposal_index.NEVER_EXPIRES_MS",
        "if status is None else 0",
    ),
    Removed(
        "the latest of several proposals' times counts",
        INDEX,
        "until_ms = max(until_ms, excluded.until_ms)",
        "until_ms = min(until_ms, excluded.until_ms)",
        "tests/store/fold/test_item.py",
    ),
    Removed(
        "what is so already is obsolete",
        JUDGING,
        "if not state.effect.is_already_applied(lambda field: current_value(state, field)):",
        "if True:",
    ),
    Removed("a set leaves what is disputed", SETS, "    if item.disputed:\n", "    if False:\n"),
    Removed(
        "a set leaves what was put off",
        SETS,
        "return (DecisionOutcome.LEFT, _PUT_OFF) if status == DisplayedStatus.DEFERRED else None",
        "return None",
    ),
    Removed(
        "a set leaves what expired", SETS, "    if status == DisplayedStatus.EXPIRED:\n", "    if False:\n"
    ),
    Removed(
        "a confirmation without its effect is put into effect",
        DECISIONS,
        "if not item_state.lacks_effect(tx, case.item):",
        "if True:",
        "tests/daemon/agents/deciding/test_without_effect.py",
    ),
    Removed(
        "a confirmation without its effect is told",
        INDEX,
        '" AND NOT EXISTS")',
        '" AND FALSE AND EXISTS")',
        "tests/daemon/agents/deciding/test_without_effect.py",
    ),
    # -- what is the person's -----------------------------------------------------------------------------
    Removed(
        "a tick of the person's is guarded again at a confirmation",
        "daemon/agents/deciding/recheck.py",
        "if TOOLS[state.item.tool].writes is WriteTarget.ITEM and not force:",
        "if False:",
        "tests/daemon/agents/deciding/test_recheck.py",
    ),
    Removed(
        "what a person corrected is not proposed again",
        QUEUEING,
        "if objection is not None:",
        "if False:",
    ),
    Removed(
        "what a person corrected needs evidence from after that",
        "daemon/agents/proposing/persons_word.py",
        "is_later_note(snapshot.entity(entry), confirmed[0].task, since) for entry in evidence",
        "snapshot.entity(entry) is not None for entry in evidence",
        "tests/daemon/agents/proposing/test_persons_word.py",
    ),
    Removed(
        "evidence is later than the tick",
        "daemon/agents/proposing/sovereignty.py",
        "and created is not None and _is_users(created) and write_time_of(created).is_after(since)",
        "and created is not None and _is_users(created)",
        "tests/daemon/agents/proposing/test_sovereignty.py",
    ),
    Removed(
        "a label that was turned down is guarded",
        "daemon/agents/deciding/recheck.py",
        "and label_rules.suppressed_label_reason(snapshot, task, label, besides=state.item.id) is not None",
        "and False",
        "tests/daemon/agents/deciding/test_recheck_of_labels.py",
    ),
    Removed(
        "an agent takes back only what nobody has decided on",
        "daemon/agents/proposing/immediate_tools.py",
        "if any(decision.by is not AuthorKind.AGENT for decision in item.decisions):",
        "if False:",
    ),
    Removed(
        "what was rejected is not proposed again",
        QUEUEING,
        "if item.status is DecisionStatus.REJECTED:",
        "if False:",
    ),
    Removed(
        "confirmed as proposed stamps the agent",
        CONFIRMING,
        "by = AuthorKind.AGENT if confirmation.edited is None else AuthorKind.USER",
        "by = AuthorKind.USER",
    ),
    Removed(
        "a page that was left open writes with the clock that it showed",
        "daemon/journal/tasks.py",
        'EntityWrite(task.id, "task", changed, base=clock)',
        'EntityWrite(task.id, "task", changed)',
    ),
    # -- once, and in one commit --------------------------------------------------------------------------
    Removed(
        "two runs that propose the same make one item",
        QUEUEING,
        "identifier = name.item_id(time_of=self._run.task)",
        "identifier = name.item_id(change_set_id(self._run.run_key, 0, self._run.task)[::-1])",
    ),
    Removed(
        "two confirmations make one thing",
        CONFIRMING,
        "write = EntityWrite(effect.entity,",
        "write = EntityWrite(tx.new_id() if effect.creates else effect.entity,",
    ),
    Removed(
        "two devices make one checklist",
        CONFIRMING,
        'identifier = derived_id("checklist", *parts, time_of=task)',
        "identifier = tx.new_id()",
        "tests/daemon/agents/deciding/test_decisions_apart.py",
    ),
    Removed(
        "decision and effect are one commit",
        DECISIONS,
        "    tx.commit(\n        writes if proof is None else proof.with_assertions(tx, writes),"
        " agent=case.item.occurrences[0].agent\n    )\n",
        "    for one in writes:\n        tx.commit([one])\n",
    ),
    Removed(
        "the base is what is there now",
        CONFIRMING,
        "write = EntityWrite(effect.entity, effect.kind, fields, effect=item.id, by=by)",
        "write = EntityWrite(effect.entity, effect.kind, fields, effect=item.id, by=by,"
        " base=item.occurrences[0].base or None)",
    ),
    Removed(
        "confirmed twice is answered as such",
        DECISIONS,
        '    raise _Refused(DecisionOutcome.ALREADY, sentence("proposal-confirmed-already", '
        '"it is confirmed already"))',
        "    return",
    ),
    Removed(
        "edited words in dispute are confirmed again",
        DECISIONS,
        "edited = item_state.edited_arguments_of(case.item) if edit is None else edit",
        "edited = edit",
    ),
    Removed(
        "what was rejected is confirmed only when asked for",
        DECISIONS,
        "elif item.status is DecisionStatus.REJECTED and not (item.disputed or again):",
        "elif False:",
    ),
    Removed(
        "a dispute is settled by either verdict",
        DECISIONS,
        "refusal = None if verdict in _SETTLES else",
        "refusal = refusal if verdict in _SETTLES else",
    ),
    # -- questions, and what a person says to an agent -----------------------------------------------------
    Removed(
        "to choose an answer is to turn the others down",
        CONFIRMING,
        "return [decision, *companions, write, *needed, *messages]",
        "return [decision, write, *needed, *messages]",
        QUESTION_TESTS,
    ),
    Removed(
        "a verdict on one answer is one on all of them",
        DECISIONS,
        "companions = [] if state is None else companion_writes(tx, state, verdict, decision, via=via)",
        "companions: list[EntityWrite] = []",
        QUESTION_TESTS,
    ),
    Removed(
        "only a person's words are a wish",
        "daemon/journal/wishes.py",
        "        and source.by is AuthorKind.USER\n",
        "",
        WISH_TESTS,
    ),
    Removed(
        "a wish that a run has read is read no more",
        "daemon/agents/context/open_wishes.py",
        " if not _was_read(snapshot, agent, wish)",
        "",
        WISH_TESTS,
    ),
    *REMOVED_NEEDS,
    *REMOVED_DOORS,
    *REMOVED_PROOFS,
)
