"""The removed rules of what proves a person: files, receipts and passkeys.

Never changes the tree itself: rows for `removed_rules.py`.
"""

from typing import Final

from tests.daemon.agents.removed_needs import Removed

RECORD, IMPORTING = "daemon/agents/asks/ask_record.py", "daemon/formats/jsonl/importer.py"
RULE, PERMITTING = "daemon/agents/standing_rules/rule_record.py", "daemon/agents/asks/standing_permission.py"
RECEIPT, FORM = "daemon/agents/receipts/receipt_check.py", "daemon/agents/receipts/receipt_form.py"
ASSERTION, PROOF = "syncproto/assertion.py", "daemon/agents/deciding/passkey_proof.py"
PASSKEYS = "daemon/agents/person/passkeys.py"

FILE_TESTS = "tests/daemon/formats/jsonl/test_permissions.py"
CHANGE_TESTS = "tests/daemon/agents/asks/test_changed_arguments.py"
RECEIPT_TESTS = "tests/daemon/agents/receipts/test_receipts.py"
FORGED_RECEIPTS = "tests/daemon/agents/receipts/test_forged_receipts.py"
PROOF_TESTS = "tests/daemon/agents/deciding/test_passkey_proof.py"
ASSERTION_TESTS = "tests/syncproto/test_assertion.py"

REMOVED_PROOFS: Final = (
    # -- a file gives no permission -----------------------------------------------------------------------
    Removed(
        "a file asks nothing",
        RECORD,
        "        or creation.is_imported\n",
        "",
        FILE_TESTS,
    ),
    Removed(
        "a file gives no yes to an ask",
        RECORD,
        "        if decision.is_imported:\n",
        "        if False:\n",
        FILE_TESTS,
    ),
    Removed(
        "a file tells of no use",
        RECORD,
        "        and not write.is_imported\n        and write.entity == use_id",
        "        and write.entity == use_id",
        FILE_TESTS,
    ),
    Removed(
        "a file has no standing rule",
        RULE,
        "        and not write.is_imported\n",
        "",
        FILE_TESTS,
    ),
    Removed(
        "a file permits nothing by a rule that stands",
        PERMITTING,
        " or decision.is_imported:",
        ":",
        FILE_TESTS,
    ),
    Removed(
        "a file brings no passkey",
        IMPORTING,
        "if entity_record.kind == PASSKEY and (merge is None or not merge.is_known):",
        "if False:",
        FILE_TESTS,
    ),
    Removed(
        "a file gives no verdict that needs another device",
        IMPORTING,
        "if comparison.is_new and _is_verdict_of_devices(snapshot, placed.whole):",
        "if False:",
        FILE_TESTS,
    ),
    Removed(
        "a file says nothing of what an agent may do",
        IMPORTING,
        "if comparison.job is not None and _is_agent_of_devices(snapshot, placed.whole):",
        "if False:",
        FILE_TESTS,
    ),
    Removed(
        "what a file calls a task is an agent if it is one here",
        IMPORTING,
        "if _AGENT_KIND not in (entity_record.kind, None if entity is None else entity.kind):",
        "if _AGENT_KIND != entity_record.kind:",
        FILE_TESTS,
    ),
    # -- receipts -----------------------------------------------------------------------------------------
    Removed(
        "a receipt states what was signed",
        RECEIPT,
        '    if _canonical(statement) != _canonical(receipt["statement"]):\n',
        "    if False:\n",
        RECEIPT_TESTS,
    ),
    Removed(
        "a receipt takes no 1 for true",
        RECEIPT,
        "return json.dumps(value, sort_keys=True)",
        "return value  # type: ignore[return-value]",
        CHANGE_TESTS,
    ),
    Removed(
        "a receipt's proofs are signed",
        FORM,
        " or not signature_holds(run[-1], key):",
        ":",
        RECEIPT_TESTS,
    ),
    Removed(
        "a receipt's key is that of the device",
        FORM,
        "if not is_chain or replica_id(made_ms, key, nonce) != first.replica or not",
        "if not is_chain or not",
        RECEIPT_TESTS,
    ),
    Removed(
        "a receipt states no use twice",
        FORM,
        "        if proven.head in heads:\n",
        "        if False:\n",
        FORGED_RECEIPTS,
    ),
    # -- passkeys -----------------------------------------------------------------------------------------
    Removed(
        "an assertion is of the passkey that it names",
        ASSERTION,
        "    if assertion.passkey != passkey.id:\n        return False\n",
        "",
        ASSERTION_TESTS,
    ),
    Removed(
        "an assertion is for the domain of its passkey",
        ASSERTION,
        "    if data[:_RP_ID_HASH_BYTES] != hashlib.sha256(passkey.rp_id.encode()).digest():\n"
        "        return False\n",
        "",
        ASSERTION_TESTS,
    ),
    Removed(
        "an assertion is of a person who was present and verified",
        ASSERTION,
        "& _NEEDED_FLAGS != _NEEDED_FLAGS:",
        "& _NEEDED_FLAGS == 0:",
        ASSERTION_TESTS,
    ),
    Removed(
        "an assertion is over this decision, as an assertion",
        ASSERTION,
        "    if not assertion.client_data.startswith(client_data_prefix(challenge)):\n        return False\n",
        "",
        ASSERTION_TESTS,
    ),
    Removed(
        "an assertion is signed",
        ASSERTION,
        "    return _verify(passkey.key, assertion.signature,",
        "    return not False or _verify(passkey.key, assertion.signature,",
        ASSERTION_TESTS,
    ),
    Removed(
        "an assertion is over all of a decision",
        ASSERTION,
        "others = {name: value for name, value in fields.items() if name != ASSERTION_FIELD}",
        'others = {name: fields[name] for name in ("item_id", "verdict") if name in fields}',
        ASSERTION_TESTS,
    ),
    Removed(
        "a point of a passkey has one spelling",
        ASSERTION,
        "return len(key) == _P256_POINT_BYTES and key[0] == _UNCOMPRESSED",
        "return len(key) == _P256_POINT_BYTES",
        ASSERTION_TESTS,
    ),
    Removed(
        "a passkey that was removed is not taken",
        PROOF,
        " or not entity.visible:",
        ":",
        PROOF_TESTS,
    ),
    Removed(
        "a verdict that needs a passkey is written with an assertion that counts",
        PROOF,
        " and is_asserted(assertion, passkey, challenge)",
        "",
        PROOF_TESTS,
    ),
    Removed(
        "a further passkey is vouched for where a guarded agent works",
        PASSKEYS,
        "    if is_guarded(tx):\n",
        "    if False:\n",
        PROOF_TESTS,
    ),
)
"""The rows."""
