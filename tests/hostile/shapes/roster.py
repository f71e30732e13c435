"""Shapes of the roster: entries of devices, real and not, and changes of who is a member.

Never removes an honest device: a member may do that, and every device tells who did it.
"""

import hashlib
from collections.abc import Iterator
from itertools import count

from tests.hostile.chain_writer import SYSTEM, entity_id, operation
from tests.hostile.shape import SECOND, Parcel, Target, shape
from tests.vectors import wire
from tests.vectors.cases_pairing import certificate_bytes


def roster_id(device: bytes) -> bytes:
    """Return the id of a device's entry."""
    return wire.derived_id("device", [device.hex()], bytes(16))


def _newcomer(target: Target, number: int) -> wire.Device:
    return wire.Device(hashlib.sha256(f"{target.name} {number}".encode()).digest())


@shape("devices without end that are let in, with genuine certificates")
def genuine_members(target: Target, size: int) -> Iterator[Parcel]:
    """Let in devices, each with the certificate that its key has."""
    chain = target.chain("members")
    for number in count():
        newcomer = _newcomer(target, number)
        fields = {
            "name": f"device {number}",
            "public_key": newcomer.public_key,
            "certificate": certificate_bytes(newcomer),
            "added_by": target.member.id,
        }
        yield chain.write(operation(roster_id(newcomer.id), fields, kind="device", by=SYSTEM), by=SYSTEM)


@shape("devices without end that are let in and removed at once")
def removed_members(target: Target, size: int) -> Iterator[Parcel]:
    """Let in devices that are removed already."""
    chain = target.chain("members")
    for number in count():
        newcomer = _newcomer(target, number)
        fields = {
            "name": f"device {number}",
            "public_key": newcomer.public_key,
            "certificate": certificate_bytes(newcomer),
            "added_by": target.member.id,
            "removed": True,
        }
        yield chain.write(operation(roster_id(newcomer.id), fields, kind="device"))


@shape("roster entries without a certificate, or with bytes for one")
def garbage_members(target: Target, size: int) -> Iterator[Parcel]:
    """Write entries of keys that have no certificate."""
    chain = target.chain("members")
    for number in count():
        key = hashlib.sha256(f"{target.name} {number}".encode()).digest()
        entry = roster_id(hashlib.sha256(bytes.fromhex("302a300506032b6570032100") + key).digest())
        fields = {"name": "\x1b[2J", "public_key": key, "certificate": b"\x30" * (number % 300)}
        yield chain.write(operation(entry, fields, kind="device"))


@shape("certificates of an honest device, written anew without end")
def false_certificates(target: Target, size: int) -> Iterator[Parcel]:
    """Write other certificates into the entry of an honest device, genuine ones of other keys among them."""
    chain = target.chain("certificates")
    entry = roster_id(target.devices[SECOND])
    for number in count():
        certificate = certificate_bytes(_newcomer(target, number)) if number % 2 else b"\x30" * 300
        yield chain.write(operation(entry, {"certificate": certificate}, kind="device"))


@shape("names of an honest device, written anew without end")
def names_of_a_device(target: Target, size: int) -> Iterator[Parcel]:
    """Rename an honest device again and again, naming nothing that was seen."""
    chain = target.chain("names")
    entry = roster_id(target.devices[SECOND])
    for number in count():
        fields = {"name": f"\u202ename {number}\x00", "added_by": target.member.id}
        yield chain.write(operation(entry, fields, kind="device"))


@shape("a device that is removed and let in again, by turns")
def members_that_flip(target: Target, size: int) -> Iterator[Parcel]:
    """Change the set of removed devices with every commit: honest devices make new beacon keys for it."""
    chain = target.chain("members")
    newcomer = _newcomer(target, 0)
    entry = roster_id(newcomer.id)
    fields = {"public_key": newcomer.public_key, "certificate": certificate_bytes(newcomer), "name": "flip"}
    yield chain.write(operation(entry, fields, kind="device"))
    for number in count():
        yield chain.write(operation(entry, {"removed": number % 2 == 0}, base=chain.tip, kind="device"))


@shape("beacon keys of an honest device, written anew without end")
def false_beacons(target: Target, size: int) -> Iterator[Parcel]:
    """Write beacon keys into the entry of an honest device, as if the set of removed devices had changed."""
    chain = target.chain("beacons")
    entry = roster_id(target.devices[SECOND])
    for number in count():
        key = hashlib.sha256(f"{target.name} {number}".encode()).digest()
        yield chain.write(operation(entry, {"beacon": [key, key[:8]]}, kind="device", by=SYSTEM), by=SYSTEM)


@shape("devices that another removed device let in, in a long row")
def admissions_in_a_row(target: Target, size: int) -> Iterator[Parcel]:
    """Let each device be let in by the one before it."""
    chain = target.chain("row")
    before = target.member.id
    for number in count():
        newcomer = _newcomer(target, number)
        fields = {"name": "row", "public_key": newcomer.public_key, "added_by": before}
        certificate = {"certificate": certificate_bytes(newcomer)}
        entry = roster_id(newcomer.id)
        yield chain.write(operation(entry, {**fields, **certificate}, kind="device"))
        before = newcomer.id


@shape("entries of other kinds in the roster's place")
def kinds_in_the_roster(target: Target, size: int) -> Iterator[Parcel]:
    """Create tasks and labels under the ids of roster entries that nobody has."""
    chain = target.chain("kinds")
    for number in count():
        entry = roster_id(hashlib.sha256(f"{target.name} {number}".encode()).digest())
        written = operation(entry, {"title": "no device", "public_key": entity_id(number)}, kind="task")
        yield chain.write(written)
