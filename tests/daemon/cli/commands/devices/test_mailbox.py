"""Adding mailboxes on the command line: which place is a folder, which a box, and where its secret goes.

Never looks into a mailbox: the answers are scripted.
"""

from pathlib import Path

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

BOX = {"name": "home", "kind": "relay", "place": "https://relay.example:8484/home", "readers": []}
URL = "https://relay.example:8484/home#sha256=" + "0" * 64


@pytest.fixture(autouse=True)
def scripted_answer(control: FakeControl) -> None:
    control.answers("POST /v1/mailboxes", BOX, 201)


@pytest.mark.parametrize("words", [(URL,), ("relay", URL)])
def test_a_box_is_named_by_its_url_and_its_secret_is_piped(
    placet: Placet, control: FakeControl, words: tuple[str, ...]
) -> None:
    result = placet("mailbox", "add", *words, typed="s3cret\n")
    assert result.status == 0, result
    (request,) = control.requests
    assert request.body == {"kind": "relay", "place": URL, "name": "home", "secret": "s3cret"}
    assert "s3cret" not in result.out + result.err


def test_a_box_that_is_known_is_told_as_changed(placet: Placet, control: FakeControl) -> None:
    assert "Added home" in placet("mailbox", "add", URL, typed="s3cret").out
    control.forgets("POST /v1/mailboxes")
    control.answers("POST /v1/mailboxes", BOX | {"changed": True}, 201)
    assert "Changed home" in placet("mailbox", "add", URL, typed="another").out


@pytest.mark.parametrize("words", [("tls://a,b/team?replicas=3",), ("nats", "tls://a,b/team?replicas=3")])
def test_a_stream_of_nats_is_named_by_its_servers(
    placet: Placet, control: FakeControl, words: tuple[str, ...]
) -> None:
    assert placet("mailbox", "add", *words, typed="placet:hush\n").status == 0
    (request,) = control.requests
    assert request.body == {"kind": "nats", "place": words[-1], "name": "team", "secret": "placet:hush"}


def test_a_box_without_https_is_asked_for_by_name(placet: Placet, control: FakeControl) -> None:
    assert placet("mailbox", "add", "http://nas/b", "--unencrypted", "--name", "n", typed="s").status == 0
    (request,) = control.requests
    assert (request.body["unencrypted"], request.body["name"]) == (True, "n")


def test_a_folder_is_a_folder_whatever_its_name(placet: Placet, control: FakeControl, home: Path) -> None:
    for words in (("relay",), ("folder", "relay"), ("./https:",)):
        assert placet("mailbox", "add", *words).status == 0
    assert [request.body["kind"] for request in control.requests] == ["folder"] * 3
    assert [Path(request.body["place"]).name for request in control.requests] == ["relay", "relay", "https:"]


def test_a_mailbox_has_one_place_and_a_box_needs_a_secret(placet: Placet, control: FakeControl) -> None:
    assert placet("mailbox", "add", "a", "b").status == 2
    assert "secret" in placet("mailbox", "add", URL).err
    assert control.requests == []


def test_status_shows_who_can_come_in_and_where_this_device_waits(placet: Placet, control: FakeControl):
    invitation = {"id": "1", "mailbox": "box", "expires_at": "2026-03-05T12:00:00Z"}
    joining = {"mailbox": "stick", "place": "/s", "began_at": "2026-03-04T11:00:00Z", "trouble": None}
    status = examples.STATUS | {"mailbox_invitations": [invitation], "mailbox_joining": joining}
    control.answers("GET /v1/status", status)
    out = placet("status").out
    assert "invitation through mailbox box, ends " in out
    assert "waits to be let in through mailbox stick" in out
    rows = [line.split("\t") for line in placet("status", "--plain").out.splitlines()]
    assert ["mailbox_invitation", "box", "2026-03-05T12:00:00Z"] in rows
    assert ["mailbox_joining", "stick", "2026-03-04T11:00:00Z", ""] in rows
