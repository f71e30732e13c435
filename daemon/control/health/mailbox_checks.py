"""The checks of mailboxes for `doctor`: those that cannot be used, and what is under way of pairing by them.

Never looks into a mailbox.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from daemon.control.health.check import Check, duration_sentence, make_check
from daemon.peers.linking.exchange_faults import UPDATE_REMEDIES
from daemon.peers.mailbox_pairing.pairing_state import MailboxPairing
from daemon.peers.mailboxes.mailbox_state import MailboxState
from daemon.peers.transport.connector import UnreachableReason
from store.sentence import sentence, sentence_of_answer

_MAILBOX_BACK = sentence("bring-mailbox-back", "bring it back, or run: placet mailbox remove NAME")
_MAILBOX_WAIT = sentence(
    "wait-for-mailbox", "wait if there is much to read; otherwise see whether the place still answers"
)
_MAILBOX_FILES = sentence(
    "let-mailbox-finish", "let whatever copies the folder finish; half files may be deleted"
)
_MAILBOX_FULL = sentence(
    "make-room-in-mailbox",
    "let the other devices read what lies there, or make more room in that place",
)
_MAILBOX_SECRET = sentence(
    "give-mailbox-its-secret",
    "run placet mailbox add with its place, and give the secret that it has now; everything else stays",
)
_SECRET_TROUBLES = ("relay-secret-refused", "nats-secret-refused", "relay-secret-lost")
_MAILBOX_FOREIGN = sentence(
    "delete-foreign-files",
    "delete them there, unless they are of a device that joined and is not known here yet",
)
_ASK_AGAIN = sentence(
    "look-who-invites", "start the device that invites; or ask there for a new invitation, and join by it"
)


def check_mailboxes(mailboxes: Sequence[MailboxState]) -> Iterator[Check]:
    """Look at each mailbox: whether it can be used, and whether what lies there opens."""
    for mailbox in mailboxes:
        faults = [*_check_looks(mailbox), *_check_versions(mailbox), *_check_files(mailbox)]
        text = sentence("mailbox-well", "mailbox {mailbox} is looked into", mailbox=mailbox.name)
        parameters: dict[str, str | int] = {"mailbox": mailbox.name}
        well = make_check("mailboxes", text, well=True, code="mailbox_well", parameters=parameters)
        yield from faults or [well]


def _check_looks(mailbox: MailboxState) -> Iterator[Check]:
    """Say why a mailbox cannot be looked into, or that no look of it ends."""
    parameters: dict[str, str | int] = {"mailbox": mailbox.name}
    if mailbox.trouble:
        trouble = sentence_of_answer(mailbox.trouble, mailbox.trouble_id, mailbox.trouble_params)
        text = sentence("mailbox-in-trouble", "mailbox {mailbox}: {seen}", mailbox=mailbox.name, seen=trouble)
        code, remedy = "mailbox_trouble", _MAILBOX_BACK
        if mailbox.trouble_id == "relay-full":
            code, remedy = "mailbox_full", _MAILBOX_FULL
        elif mailbox.trouble_id in _SECRET_TROUBLES:
            code, remedy = "mailbox_secret", _MAILBOX_SECRET
        yield make_check("mailboxes", text, remedy, well=False, code=code, parameters=parameters)
    elif mailbox.overdue_s:
        text = sentence(
            "mailbox-overdue",
            "mailbox {mailbox}: no look has ended for {duration}",
            mailbox=mailbox.name,
            duration=duration_sentence(mailbox.overdue_s * 1000),
        )
        parameters["seconds"] = mailbox.overdue_s
        yield make_check(
            "mailboxes", text, _MAILBOX_WAIT, well=False, code="mailbox_overdue", parameters=parameters
        )


def _check_versions(mailbox: MailboxState) -> Iterator[Check]:
    """Name the devices with which nothing can be exchanged through a mailbox."""
    for devices, kind in (
        (mailbox.newer, UnreachableReason.NEWER),
        (mailbox.older, UnreachableReason.OLDER),
    ):
        for device in devices:
            text = sentence(
                "mailbox-without-common-version",
                "mailbox {mailbox}: {device} speaks no version of the protocol that this device speaks",
                mailbox=mailbox.name,
                device=device,
            )
            parameters: dict[str, str | int] = {"mailbox": mailbox.name, "device": device}
            remedy, code = UPDATE_REMEDIES[kind], f"mailbox_{kind.value}"
            yield make_check("mailboxes", text, remedy, well=False, code=code, parameters=parameters)


def _check_files(mailbox: MailboxState) -> Iterator[Check]:
    """Say what has lain in a mailbox for a day and is of no use."""
    for count, code, remedy, text in (
        (
            mailbox.unreadable,
            "mailbox_unreadable",
            _MAILBOX_FILES,
            sentence(
                "mailbox-unreadable",
                "mailbox {mailbox}: files that have not opened for a day: {count}",
                mailbox=mailbox.name,
                count=mailbox.unreadable,
            ),
        ),
        (
            mailbox.foreign,
            "mailbox_foreign",
            _MAILBOX_FOREIGN,
            sentence(
                "mailbox-foreign",
                "mailbox {mailbox}: files of no device of this vault: {count}",
                mailbox=mailbox.name,
                count=mailbox.foreign,
            ),
        ),
    ):
        if count:
            parameters: dict[str, str | int] = {"mailbox": mailbox.name, "count": count}
            yield make_check("mailboxes", text, remedy, well=False, code=code, parameters=parameters)


def check_pairing(pairing: MailboxPairing, now_ms: int) -> Iterator[Check]:
    """Say who can still come in through a mailbox, and whether this device waits to be let in."""
    for invitation in pairing.invitations:
        left_ms = max(0, _unix_ms(invitation.expires_at) - now_ms)
        text = sentence(
            "mailbox-invitation-open",
            "one more device can join through mailbox {mailbox} for {duration}",
            mailbox=invitation.mailbox,
            duration=duration_sentence(left_ms),
        )
        parameters: dict[str, str | int] = {"mailbox": invitation.mailbox}
        yield make_check("mailboxes", text, well=True, code="mailbox_invitation_open", parameters=parameters)
    joining = pairing.joining
    if joining is None:
        return
    parameters = {"mailbox": joining.mailbox}
    if joining.trouble:
        trouble = sentence_of_answer(joining.trouble, joining.trouble_id, joining.trouble_params)
        text = sentence(
            "mailbox-joining-trouble",
            "this device waits to be let in through mailbox {mailbox}: {seen}",
            mailbox=joining.mailbox,
            seen=trouble,
        )
        yield make_check(
            "mailboxes", text, _ASK_AGAIN, well=False, code="mailbox_joining_trouble", parameters=parameters
        )
        return
    text = sentence(
        "mailbox-joining",
        "this device waits to be let in through mailbox {mailbox} for {duration}",
        mailbox=joining.mailbox,
        duration=duration_sentence(max(0, now_ms - _unix_ms(joining.began_at))),
    )
    yield make_check("mailboxes", text, well=True, code="mailbox_joining", parameters=parameters)


def _unix_ms(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp() * 1000)
