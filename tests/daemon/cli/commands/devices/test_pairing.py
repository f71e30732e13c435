"""Pairing as people do it: the code alone on its line, what happens while it waits, and how it ends.

Never pairs anything: the control server is scripted.
"""

import pytest

from daemon.cli.terminal.display import Display
from daemon.cli.views.devices.pairing import qr_lines
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

INVITED = {
    "id": "ab12",
    "code": "493-027",
    "token": None,
    "address": "10.0.0.1:9",
    "addresses": ["10.0.0.1:9"],
    "expires_at": "2026-03-04T12:05:00Z",
}
PHONE = {"device_id": "f0" * 32, "name": "phone", "linked": True}


def state(stage: str, tries: int = 3, device: dict[str, object] | None = None) -> dict[str, object]:
    return {"id": "ab12", "stage": stage, "tries_left": tries, "device": device}


def test_a_code_is_alone_on_its_line_and_then_who_joined(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    for fields in (state("open"), state("proved", device=PHONE), state("joined", device=PHONE)):
        control.answers("GET /v1/invitations/ab12", fields)
    result = placet("pair")
    assert (result.status, result.out) == (0, "493-027\n✓ phone joined\n")
    assert "in 5 min" in result.err
    assert "placet join --addr 10.0.0.1:9" in result.err
    assert control.asked("POST /v1/invitations")[0].body == {"by": "code"}
    assert not control.asked("DELETE /v1/invitations/ab12")


def test_a_device_that_is_not_linked_is_not_told_as_joined(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    control.answers("GET /v1/invitations/ab12", state("joined", device=PHONE | {"linked": False}))
    invited = placet("pair")
    control.answers("POST /v1/join", PHONE | {"linked": False})
    joined = placet("join", typed="493-027\n")
    assert (invited.status, joined.status) == (0, 0)
    assert "\n· phone was let in; the two devices are not linked yet: see `placet doctor`\n" in invited.out
    assert joined.out == "· phone let this device in; the two are not linked yet: see `placet doctor`\n"


def test_each_wrong_code_is_told(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    for fields in (state("open"), state("open", 2), state("open", 1), state("tried_out", 0)):
        control.answers("GET /v1/invitations/ab12", fields)
    result = placet("pair")
    assert result.status == 7
    assert "A wrong code was tried; 2 tries are left." in result.err
    assert "A wrong code was tried; 1 try is left." in result.err
    assert "no longer valid" in result.err
    assert result.err.splitlines()[-1].endswith("placet pair")


@pytest.mark.parametrize(
    ("stage", "device", "text"),
    [
        ("expired", None, "nobody joined in time"),
        ("called_off", None, "the invitation was cancelled; make a new one"),
        ("called_off", PHONE | {"name": ""}, "the device that typed the code was not let in"),
    ],
)
def test_an_invitation_that_brought_nobody_says_why(
    stage: str, device: dict[str, object] | None, text: str, placet: Placet, control: FakeControl
):
    control.answers("POST /v1/invitations", INVITED)
    control.answers("GET /v1/invitations/ab12", state(stage, device=device))
    result = placet("pair")
    assert result.status == 7
    assert text in result.err


def test_a_device_that_could_not_be_stored_is_no_wrong_code(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    control.answers("GET /v1/invitations/ab12", state("failed", device=PHONE | {"name": ""}))
    result = placet("pair")
    assert result.status == 1
    assert "the code was right, but this device could not store who came" in result.err
    assert "`placet doctor`" in result.err


def test_nobody_waits_for_ever_for_a_device_that_does_not_come_back(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    for fields in (state("proved", device=PHONE), state("away", device=PHONE)):
        control.answers("GET /v1/invitations/ab12", fields)
    result = placet("pair")
    assert result.status == 1
    assert "did not come back" in result.err
    # It is let in when it does: there is nothing to call off.
    assert not control.asked("DELETE /v1/invitations/ab12")


def test_an_invitation_is_called_off_where_waiting_for_it_fails(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    control.refuses("GET /v1/invitations/ab12", 500, "failed", "the store is gone")
    control.answers("DELETE /v1/invitations/ab12", state("called_off"))
    result = placet("pair")
    assert result.status == 1
    assert "The invitation was cancelled\n" in result.err
    assert control.asked("DELETE /v1/invitations/ab12")


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (
            state("called_off", device=PHONE | {"name": ""}),
            "cancelled; the device that typed the code was not",
        ),
        (state("joined", device=PHONE), "phone was let in before that"),
    ],
)
def test_whoever_calls_off_hears_what_came_of_it(
    ended: dict[str, object], text: str, placet: Placet, control: FakeControl
):
    control.answers("POST /v1/invitations", INVITED)
    control.answers("GET /v1/invitations/ab12", state("proved", device=PHONE))
    control.refuses("GET /v1/invitations/ab12", 500, "failed", "the wait was interrupted")
    control.answers("DELETE /v1/invitations/ab12", ended)
    assert text in placet("pair").err


def test_for_a_script_a_pairing_is_two_lines(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    control.answers("GET /v1/invitations/ab12", state("joined", device=PHONE))
    result = placet("pair", "--plain")
    assert result.out.splitlines() == [
        "493-027\t10.0.0.1:9\t2026-03-04T12:05:00Z",
        f"{PHONE['device_id']}\tphone",
    ]
    assert result.err == ""


def test_json_is_one_object_and_does_not_wait(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED)
    assert placet("pair", "--json").json == INVITED
    assert not control.asked("GET /v1/invitations/ab12")


@pytest.mark.parametrize("words", [["493-027"], ["493", "027"], ["--unite", "lAGRr"], ["lAGRr", "--unite"]])
def test_a_code_or_token_as_an_argument_is_refused(words: list[str], placet: Placet, control: FakeControl):
    control.answers("POST /v1/join", {"device_id": "de" * 32, "name": "laptop"})
    finished = placet("join", *words, typed="tok\n")
    assert (finished.status, finished.out) == (2, "")
    assert "other users of this machine can read it; make a new one, run `placet join`" in finished.err
    assert not any(word in finished.err for word in words if word[0] != "-")
    assert not control.asked("POST /v1/join")


def test_a_token_is_drawn_where_it_fits():
    text = "lAGRrzEyNy4wLjAuMTo0MTYyOcQgzmvIifSFsCyMxBmiWMh211Zj-cnXpHmRupnRjWjDU5bEEDG6Ao9nfOsnSKKpwWJsGkw"
    drawn = qr_lines(text, Display())
    assert len(drawn) == 21
    assert {len(line) for line in drawn} == {41}
    assert drawn[0] == "█" * 41
    assert qr_lines(text, Display(width=40)) == []
    assert qr_lines(text, Display(unicode=False)) == []


def test_a_token_for_a_mailbox_is_asked_for_by_the_name_of_that(placet: Placet, control: FakeControl):
    control.answers("POST /v1/invitations", INVITED | {"code": None, "token": "T" * 40, "address": ""})
    result = placet("pair", "--invite", "--mailbox", "box")
    assert (result.status, result.out) == (0, "T" * 40 + "\n")
    assert "placet join --mailbox FOLDER" in result.err
    assert control.asked("POST /v1/invitations")[0].body == {"by": "token", "mailbox": "box"}
    # A code is never tried through a mailbox.
    refused = placet("pair", "--mailbox", "box")
    assert refused.status == 2
    assert "--invite" in refused.err
