"""What doctor says of mailboxes: those that are away, those with files that do not open, those that are well.

Never looks into a folder: the states come from the test.
"""

from typing import Any

from daemon.control.health import connections
from daemon.peers.mailboxes.mailboxes import MailboxState
from store.sentence import sentence, sentence_fields


def mailbox_state(**changes: Any) -> MailboxState:
    fields: dict[str, Any] = {
        "looked_at": None,
        "blobs": 0,
        "bytes": 0,
        "unreadable": 0,
        "gaps": 0,
        "readers": [],
    }
    trouble = sentence_fields("trouble", None)
    return MailboxState("box", "folder", "/somewhere", **(fields | trouble | changes))


def test_a_mailbox_that_is_away_is_not_well_and_says_why():
    away = sentence("mailbox-folder-fault", "{folder} cannot be used: {reason}", folder="/x", reason="gone")
    (check,) = connections.check_mailboxes([mailbox_state(**sentence_fields("trouble", away))])
    assert (check.well, check.code) == (False, "mailbox_trouble")
    assert check.found == "mailbox box: /x cannot be used: gone"


def test_files_that_have_not_opened_for_a_day_are_counted():
    (check,) = connections.check_mailboxes([mailbox_state(unreadable=3)])
    assert (check.well, check.code, check.given["count"]) == (False, "mailbox_unreadable", 3)


def test_a_mailbox_that_is_looked_into_is_well():
    (check,) = connections.check_mailboxes([mailbox_state()])
    assert check.well
