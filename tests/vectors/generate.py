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
    cases_receipts,
    cases_semantics,
    cases_states,
    cases_wire,
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
    "receipts": cases_receipts.receipts,
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


if __name__ == "__main__":
    for file in FILES:
        path(file).write_text(text(file), "utf-8")
