"""What doctor says of mailboxes: those that are away, those with files that do not open, those that are well.

Never looks into a folder: the states come from the test.
"""

from typing import Any

from daemon.control.health import mailbox_checks
from daemon.peers.mailbox_pairing.pairing_state import MailboxInvitation, MailboxJoining, MailboxPairing
from daemon.peers.mailboxes.carrier import full_sentence
from daemon.peers.mailboxes.mailbox_state import MailboxState
from daemon.timestamps import iso_utc
from store.sentence import sentence, sentence_fields


def mailbox_state(**changes: Any) -> MailboxState:
    fields: dict[str, Any] = {
        "looked_at": None,
        "blobs": 0,
        "bytes": 0,
        "unreadable": 0,
        "foreign": 0,
        "gaps": 0,
        "readers": [],
    }
    trouble = sentence_fields("trouble", None)
    return MailboxState("box", "folder", "/somewhere", **(fields | trouble | changes))


def test_a_mailbox_that_is_away_is_not_well_and_says_why():
    away = sentence("mailbox-folder-fault", "{folder} cannot be used: {reason}", folder="/x", reason="gone")
    (check,) = mailbox_checks.check_mailboxes([mailbox_state(**sentence_fields("trouble", away))])
    assert (check.well, check.code) == (False, "mailbox_trouble")
    assert check.found == "mailbox box: /x cannot be used: gone"


def test_files_that_have_not_opened_for_a_day_are_counted():
    (check,) = mailbox_checks.check_mailboxes([mailbox_state(unreadable=3)])
    assert (check.well, check.code, check.given["count"]) == (False, "mailbox_unreadable", 3)


def test_files_of_nobody_in_the_vault_are_counted_beside_those_that_do_not_open():
    checks = list(mailbox_checks.check_mailboxes([mailbox_state(unreadable=3, foreign=2)]))
    assert [(check.well, check.code, check.given["count"]) for check in checks] == [
        (False, "mailbox_unreadable", 3),
        (False, "mailbox_foreign", 2),
    ]
    assert checks[1].remedy


def test_devices_without_a_version_in_common_are_named_with_what_to_install():
    checks = list(mailbox_checks.check_mailboxes([mailbox_state(newer=["phone"], older=["desk"])]))
    assert [(check.well, check.code, check.given["device"]) for check in checks] == [
        (False, "mailbox_newer", "phone"),
        (False, "mailbox_older", "desk"),
    ]
    assert [check.remedy_id for check in checks] == ["install-newer-here", "install-newer-there"]


def test_no_fault_of_a_mailbox_hides_another():
    full = sentence_fields("trouble", full_sentence("/x"))
    found_last = {"newer": ["phone"], "older": ["desk"], "unreadable": 3, "foreign": 2}
    of_last_look = ["mailbox_newer", "mailbox_older", "mailbox_unreadable", "mailbox_foreign"]
    for looks, code in (({}, []), (full, ["mailbox_full"]), ({"overdue_s": 60}, ["mailbox_overdue"])):
        checks = mailbox_checks.check_mailboxes([mailbox_state(**looks, **found_last)])
        assert [check.code for check in checks] == [*code, *of_last_look]


def test_a_place_without_room_is_told_from_one_that_is_away():
    full = sentence_fields("trouble", full_sentence("/x"))
    (check,) = mailbox_checks.check_mailboxes([mailbox_state(**full)])
    assert (check.well, check.code) == (False, "mailbox_full")


def test_a_mailbox_that_is_looked_into_is_well():
    (check,) = mailbox_checks.check_mailboxes([mailbox_state()])
    assert check.well


def joining(**changes: Any) -> MailboxJoining:
    fields = {"began_at": iso_utc(0)} | sentence_fields("trouble", None) | changes
    return MailboxJoining("box", "/somewhere", "ab" * 32, **fields)


def test_an_open_invitation_is_named_with_the_time_that_is_left():
    invitation = MailboxInvitation("17", "box", iso_utc(3 * 86_400_000))
    (check,) = mailbox_checks.check_pairing(MailboxPairing([invitation], None), 86_400_000)
    assert (check.well, check.code) == (True, "mailbox_invitation_open")
    assert check.found == "one more device can join through mailbox box for 2 days"


def test_a_device_that_waits_to_be_let_in_says_for_how_long_or_what_keeps_it():
    (check,) = mailbox_checks.check_pairing(MailboxPairing([], joining()), 3_600_000)
    assert check.well
    assert check.found == "this device waits to be let in through mailbox box for 1 hour"
    away = sentence("mailbox-folder-fault", "{folder} cannot be used: {reason}", folder="/x", reason="gone")
    waits = joining(**sentence_fields("trouble", away))
    (check,) = mailbox_checks.check_pairing(MailboxPairing([], waits), 3_600_000)
    assert (check.well, check.code) == (False, "mailbox_joining_trouble")
    assert check.found.endswith("box: /x cannot be used: gone")
    assert check.remedy
