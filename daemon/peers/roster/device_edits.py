"""What a person does with the devices of the vault: find one, rename it, remove it, leave the vault.

Never removes the device that it runs on by a reference: that device leaves instead.
"""

from daemon.peers.roster import admitted_devices, member_records
from daemon.peers.roster.member_records import DEVICE_NAME_CHARS_MAX, Member
from daemon.refusal import RefusalCode, Refused, not_found_refusal, usage_error
from daemon.text_comparison import comparison_key
from daemon.words.devices import split_name
from store.local import peer_records
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import DeviceId
from syncproto.vector_clock import Head, covers

ID_DIGITS_MIN = 3
_REMOVED_AT_ONCE = 500


def find_device(snapshot: Snapshot, ref: str, *, removed: bool = True) -> Member:
    """Return the device with this name; if there is none, the one whose id begins with `ref`.

    Two of one name are told apart as they are shown: "laptop (3f2a)". An id needs three hexadecimal digits at
    least. With `removed`, removed devices are found too, after the others. Raises Refused: not_found,
    ambiguous.
    """
    # A name is stored with single blanks.
    reference = " ".join(ref.split())
    members = member_records.read_members(snapshot).values()
    candidates = [member for member in members if removed or not member.removed]
    matching_members = [
        member for member in candidates if comparison_key(member.name) == comparison_key(reference)
    ]
    name, id_start = split_name(reference)
    matching_members = matching_members or [
        member
        for member in candidates
        if id_start and member.name == name and member.device.hex().startswith(id_start)
    ]
    by_id = [member for member in candidates if member.device.hex().startswith(reference.lower())]
    matches = matching_members or (by_id if len(reference) >= ID_DIGITS_MIN else [])
    # A removed device must not make the one that took its name ambiguous.
    matches = [member for member in matches if not member.removed] or matches
    if not matches:
        raise not_found_refusal("device", ref, sentence("see-devices", "see placet devices"))
    if len(matches) > 1:
        raise Refused(
            RefusalCode.AMBIGUOUS,
            sentence(
                "ambiguous-device", "{ref!r} could mean {count} devices", ref=ref[:80], count=len(matches)
            ),
            sentence("give-its-id", "give its id"),
        )
    return matches[0]


def rename_device(tx: Transaction, ref: str, name: str) -> DeviceId:
    """Give a device another name, on every device. Raises Refused as `find_device` does, and usage."""
    member = find_device(tx, ref)
    wanted = " ".join(name.split())
    if not 0 < len(wanted) <= DEVICE_NAME_CHARS_MAX or not wanted.isprintable():
        raise usage_error(
            sentence(
                "device-name-length",
                "a device's name must have 1 to {count} printable characters",
                count=DEVICE_NAME_CHARS_MAX,
            ),
            sentence("give-another-name", "give another name"),
        )
    if wanted != member.name:
        tx.commit([member_records.rename_write(member.device, wanted)])
    return member.device


def write_departure(tx: Transaction) -> Head | None:
    """Write that this device is no longer a member; return that commit's head, None if it is none already."""
    own = member_records.read_member(tx, tx.device)
    if own is None or own.removed:
        return None
    return tx.commit([member_records.removal_write(tx.device)])


def devices_aware_of_departure(snapshot: Snapshot) -> set[DeviceId]:
    """Return the devices that are known to have the commit by which this device leaves."""
    roster_record = snapshot.entity(member_records.roster_entity_id(snapshot.device))
    versions = [] if roster_record is None else roster_record.versions("removed")
    heads = [version.source.head for version in versions if version.value is True]
    own = [head for head in heads if snapshot.device_of(head.replica) == snapshot.device]
    return {
        device
        for device, contact in peer_records.peer_contacts(snapshot).items()
        if any(covers(contact.vector, head, snapshot.log) for head in own)
    }


def was_removed_by_another(snapshot: Snapshot) -> bool:
    """Return whether another device has removed this one."""
    roster_record = snapshot.entity(member_records.roster_entity_id(snapshot.device))
    versions = [] if roster_record is None else roster_record.versions("removed")
    return any(
        version.value is True and snapshot.device_of(version.source.head.replica) != snapshot.device
        for version in versions
    )


def remove_device(tx: Transaction, ref: str, *, with_admitted: bool = False) -> DeviceId:
    """Remove a device from the vault, if it is not yet; `with_admitted`, also those that it alone let in.

    Raises Refused as `find_device` does, and usage.
    """
    member = _find_other_device(tx, ref)
    members = [member, *(_admitted_alone(tx, member) if with_admitted else ())]
    writes = [member_records.removal_write(other.device) for other in members if not other.removed]
    for begin in range(0, len(writes), _REMOVED_AT_ONCE):
        tx.commit(writes[begin : begin + _REMOVED_AT_ONCE])
    for other in members:
        peer_records.forget_addresses(tx, other.device)
    return member.device


def find_admitted_alone(snapshot: Snapshot, ref: str) -> list[Member]:
    """Return the members that `remove_device` removes beside a device, with those that it alone let in.

    Raises Refused as `remove_device` does.
    """
    return _admitted_alone(snapshot, _find_other_device(snapshot, ref))


def _admitted_alone(snapshot: Snapshot, member: Member) -> list[Member]:
    members = member_records.read_members(snapshot)
    admitted = admitted_devices.devices_admitted_by(snapshot, member.device, members)
    return [members[device] for device in admitted if not members[device].removed]


def _find_other_device(snapshot: Snapshot, ref: str) -> Member:
    member = find_device(snapshot, ref)
    if member.device == snapshot.device:
        raise usage_error(
            sentence("device-is-this-one", "this is the device that you are on"),
            sentence("leave-instead", "to take it out of the vault: placet devices leave"),
        )
    return member
