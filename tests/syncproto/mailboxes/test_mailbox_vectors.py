"""Holds what lies in mailboxes to the vector files of the second implementation.

Never skips a case.
"""

import json
from typing import Any

import pytest
from msgspec import structs

from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.mailboxes import envelope, invitations, names, sealing_keys
from syncproto.mailboxes.sealing_keys import PrivateSealingKey, SealingSuite
from tests.vectors import generate, portable
from tests.vectors.cases_mailboxes import VAULT


def cases(name: str, *outcomes: str) -> Any:
    """Run a test for each case of a file with one of these outcomes, or for all."""
    document = json.loads(generate.path(name).read_text("utf-8"))
    chosen = [case for case in document if not outcomes or case["outcome"] in outcomes]
    assert chosen
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=str(case.get("name", place))) for place, case in enumerate(chosen)]
    )


def keys_of(case: Any) -> dict[bytes, PrivateSealingKey]:
    private = [
        PrivateSealingKey(SealingSuite(row["suite"]), 1, bytes.fromhex(row["private"]))
        for row in case["keys"]
    ]
    return {names.key_tag(VAULT, key.public_key.public): key for key in private}


@cases("mailbox_tags")
def test_tags_are_derived_as_specified(case):
    vault, device = bytes.fromhex(case["vault"]), DeviceId(bytes.fromhex(case["device"]))
    assert names.vault_tag(vault).hex() == case["vault_tag"]
    assert names.device_tag(vault, device).hex() == case["device_tag"]
    assert names.key_tag(vault, bytes.fromhex(case["public_key"])).hex() == case["key_tag"]


@cases("mailbox_keys")
def test_a_key_in_the_roster_counts_only_if_its_device_signed_it(case):
    value = portable.from_value(case["value"])
    published = sealing_keys.read_roster_value(value, bytes.fromhex(case["owner"]))
    assert (published is not None) is (case["outcome"] == "ok")
    if published is not None:
        assert [int(published.key.suite), published.number, published.key.public] == value[:3]


@cases("mailbox_blobs", "ok")
def test_a_blob_of_the_second_implementation_opens(case):
    blob = envelope.read_envelope(portable.from_raw(case["blob"]))
    assert (blob.header.kind, blob.header.number) == (case["kind"], case["number"])
    assert envelope.is_signed_by(blob, bytes.fromhex(case["sender"]))
    assert blob.readers == {names.key_tag(VAULT, bytes.fromhex(public)) for public in case["readers"]}
    frames = [portable.from_raw(frame) for frame in case["frames"]]
    opened = 0
    for tag, key in keys_of(case).items():
        if tag in blob.readers:
            assert envelope.open_frames(blob, {tag: key}) == frames
            opened += 1
        else:
            with pytest.raises(envelope.NoRecipient):
                envelope.open_frames(blob, {tag: key})
    assert opened == len(case["readers"])


@cases("mailbox_blobs", "refused")
def test_a_bad_blob_is_refused_however_well_it_is_signed(case):
    with pytest.raises(RemoteProtocolError):
        envelope.open_frames(envelope.read_envelope(portable.from_raw(case["blob"])), keys_of(case))


INVITATIONS = json.loads(generate.path("mailbox_invitations").read_text("utf-8"))


def each_case_of(kind: str) -> Any:
    """Run a test for each request or each answer of the invitation."""
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case["name"]) for case in INVITATIONS[kind]]
    )


def test_the_names_of_an_invitation_are_derived_as_specified():
    case = INVITATIONS["invitation"]
    blob_names, joiner = (
        invitations.names_of(bytes.fromhex(case["secret"])),
        DeviceId(bytes.fromhex(case["joiner"])),
    )
    assert blob_names.tag.hex() == case["tag"]
    assert (blob_names.request_of(joiner), blob_names.answer_to(joiner)) == (
        case["request_name"],
        case["answer_name"],
    )


@each_case_of("requests")
def test_a_request_opens_as_specified(case):
    secret, raw = bytes.fromhex(INVITATIONS["invitation"]["secret"]), portable.from_raw(case["blob"])
    if case["outcome"] == "ok":
        request = invitations.open_request(secret, raw)
        assert list(structs.astuple(request)) == portable.from_value(case["statement"])
    else:
        with pytest.raises(RemoteProtocolError):
            invitations.open_request(secret, raw)


@each_case_of("answers")
def test_an_answer_opens_as_specified(case):
    invitation, raw = INVITATIONS["invitation"], portable.from_raw(case["blob"])

    def read() -> invitations.Answer:
        return invitations.open_answer(
            bytes.fromhex(invitation["secret"]),
            raw,
            inviter=DeviceId(bytes.fromhex(invitation["inviter"])),
            own=DeviceId(bytes.fromhex(invitation["joiner"])),
            key=PrivateSealingKey(SealingSuite.X25519, 1, bytes.fromhex(invitation["private_key"])),
        )

    if case["outcome"] == "ok":
        assert list(structs.astuple(read())) == portable.from_value(case["statement"])
    else:
        with pytest.raises(RemoteProtocolError):
            read()
