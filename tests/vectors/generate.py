"""Writes the vector files: `python -m tests.vectors.generate`, from the root of the project.

Never asks the implementation under test for anything.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.vectors import (
    cases_ids,
    cases_invitations,
    cases_mailboxes,
    cases_pairing,
    cases_proposals,
    cases_receipts,
    cases_semantics,
    cases_series,
    cases_states,
    cases_wire,
    known_folds,
)

FOLDER = Path(__file__).parent
FILES: dict[str, Callable[[], Any]] = {
    "ids": cases_ids.ids,
    "derived_ids": cases_ids.derived_ids,
    "replica_ids": cases_ids.replica_ids,
    "devices": cases_ids.devices,
    "certificates": cases_pairing.certificates,
    "pairings": cases_pairing.pairings,
    "stamps": cases_ids.stamps,
    "values": cases_wire.values,
    "commits": cases_wire.commits,
    "frames": cases_wire.frames,
    "clocks": cases_semantics.clocks,
    "verdicts": cases_semantics.verdicts,
    "pages": cases_semantics.pages,
    "states": cases_states.states,
    "mailbox_tags": cases_mailboxes.mailbox_tags,
    "mailbox_keys": cases_mailboxes.mailbox_keys,
    "mailbox_blobs": cases_mailboxes.mailbox_blobs,
    "mailbox_invitations": cases_invitations.mailbox_invitations,
    "args_hashes": cases_proposals.args_hashes,
    "proposals": cases_proposals.proposals,
    "receipts": cases_receipts.receipts,
    "occurrences": cases_series.occurrences,
}


def text(name: str) -> str:
    """Return what a vector file should hold: one case a line."""
    created = FILES[name]()
    if isinstance(created, list):
        lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in created)
        return f"[\n{lines}\n]\n"
    parts = ",\n".join(f"{json.dumps(key)}: {json.dumps(part)}" for key, part in created.items())
    return f"{{\n{parts}\n}}\n"


def path(name: str) -> Path:
    """Return where a vector file lies."""
    return FOLDER / f"{name}.json"


def present_folds() -> dict[str, str]:
    """Return a digest of each case of which devices have to agree on the outcome."""
    return known_folds.outcomes({name: FILES[name]() for name in known_folds.FOLDED})


def main() -> None:
    """Write all files. A case that came to something else needs another protocol version first."""
    for file in FILES:
        path(file).write_text(text(file), "utf-8")
    folds = present_folds()
    if changed := known_folds.changed_cases(known_folds.read(), folds):
        raise SystemExit(
            f"under protocol version {known_folds.VERSION} these cases came to something else: "
            f"{', '.join(changed)}. Raise the version, in PROTOCOL.md and syncproto/messages.py too, or give"
            " a case with another input another name"
        )
    known_folds.FILE.write_text(known_folds.document(folds), "utf-8")


if __name__ == "__main__":
    main()
