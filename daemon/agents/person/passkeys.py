"""A person's passkeys: adding, listing and removing them.

Never adds or removes one by this device's word alone if it is the home of an agent whose verdicts need a
passkey: every process of the person's can call its daemon.
"""

import hashlib
from typing import Final

from msgspec import Struct

from daemon.agents.deciding.passkey_proof import PASSKEY_KIND, PasskeyProof, known_passkey
from daemon.agents.person.presence_edits import presence_by_tool
from daemon.agents.tools.agent_record import DESTROYED, load_any_agent
from daemon.journal.views.lookup import NameLookup
from daemon.refusal import RefusalCode, Refused, not_found_refusal, usage_error
from daemon.timestamps import iso_utc
from store.fold.entity_state import DELETED
from store.fold.item_name import Presence
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto import codec
from syncproto.assertion import Passkey
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text

NAME_CHARS_MAX: Final = 60
CREDENTIAL_BYTES_MAX: Final = 1023
PASSKEYS_MAX: Final = 50
_CHALLENGE_OF: Final = b"placet passkey 1\0"


class PasskeyDetails(Struct, frozen=True, kw_only=True):
    """A passkey as people see it. `credential` is by which its authenticator knows it, in hexadecimal.

    `rp_id` is the name of the page on which it was made, and on which alone it can be used.
    """

    id: str
    name: str
    rp_id: str
    credential: str
    device_name: str
    added_at: str


def list_passkeys(snapshot: Snapshot) -> list[PasskeyDetails]:
    """List the passkeys that nobody has removed, in the order of their names."""
    names = NameLookup(snapshot)
    listed = []
    for entity in snapshot.entities(PASSKEY_KIND):
        passkey = known_passkey(snapshot, entity.id)
        credential, created = entity.value("credential"), entity.created
        if passkey is None or created is None:
            continue
        listed.append(
            PasskeyDetails(
                id=id_to_text(entity.id),
                name=entity.text("name")[:NAME_CHARS_MAX],
                rp_id=passkey.rp_id,
                credential=credential.hex() if isinstance(credential, bytes) else "",
                device_name=names.writing_device(created)[1],
                added_at=iso_utc(snapshot.shown_ms(created.ms)),
            )
        )
    return sorted(listed, key=lambda details: (details.name, details.id))


def add_passkey(
    tx: Transaction, passkey: Passkey, credential: bytes, name: str, proof: PasskeyProof
) -> EntityId:
    """Add a passkey; one that is there already stays as it is.

    Raises Refused for a name that cannot be one, and if there are too many; PasskeyNeeded if an earlier
    passkey has to sign for this one.
    """
    wanted = " ".join(name.split())
    if not 0 < len(wanted) <= NAME_CHARS_MAX or not wanted.isprintable():
        raise usage_error(
            sentence(
                "passkey-name", "a passkey's name has 1 to {most} printable characters", most=NAME_CHARS_MAX
            )
        )
    if known_passkey(tx, passkey.id) is not None:
        return passkey.id
    if len(list_passkeys(tx)) >= PASSKEYS_MAX:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("passkeys-many", "there are {count} passkeys already", count=PASSKEYS_MAX),
            sentence("remove-passkey", "remove one first"),
        )
    fields: dict[str, Value] = {"key": passkey.key, "rp_id": passkey.rp_id}
    _require_vouched(tx, fields, proof)
    shown: dict[str, Value] = {"name": wanted, "credential": credential[:CREDENTIAL_BYTES_MAX]}
    entity = tx.entity(passkey.id)
    # One that was removed comes back: it is known by its key alone.
    again: dict[str, Value] = {} if entity is None else {DELETED: False}
    tx.commit([EntityWrite(passkey.id, PASSKEY_KIND, fields | shown | again)])
    return passkey.id


def remove_passkey(tx: Transaction, identifier: EntityId, proof: PasskeyProof) -> None:
    """Take a passkey away: no device asks for it or takes its word in a new verdict.

    Raises Refused if there is none; PasskeyNeeded if a passkey has to sign for that, which may be the same.
    """
    if known_passkey(tx, identifier) is None:
        raise not_found_refusal("passkey", id_to_text(identifier))
    _require_vouched(tx, {"removed": identifier}, proof)
    tx.commit([EntityWrite(identifier, PASSKEY_KIND, {DELETED: True})])


def _require_vouched(tx: Transaction, fields: dict[str, Value], proof: PasskeyProof) -> None:
    if is_guarded(tx):
        proof.require(tx, [hashlib.sha256(_CHALLENGE_OF + codec.encode(fields)).digest()])


def is_guarded(snapshot: Snapshot) -> bool:
    """Report whether verdicts on the proposals of an agent at home here need a passkey."""
    for entity in snapshot.entities("agent"):
        agent = load_any_agent(snapshot, entity.id)
        if agent is None or agent.home != snapshot.device or agent.lifecycle == DESTROYED:
            continue
        if Presence.PASSKEY.value in presence_by_tool(entity).values():
            return True
    return False
