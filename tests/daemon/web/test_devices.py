"""The devices on the page: who is connected, pairing, removing, and leaving."""

import html
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from daemon.disk import DiskFloor
from daemon.peers.mailboxes.mailbox_state import MailboxReader, MailboxState
from daemon.web.devices import pairing_routes
from daemon.web.devices.device_rows import DeviceRow, device_rows, mailbox_rows
from daemon.web.devices.qr_code import QUIET, qr_code
from store.transaction import EntityWrite
from tests.daemon.peers.fleet import Device, Fleet, fleet_in
from tests.daemon.web.device_page import page_of

HOSTILE = "<img src=x> \u202egnp.exe"


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet_in(tmp_path) as new_fleet:
        yield new_fleet


@pytest.fixture
async def laptop(fleet: Fleet) -> Device:
    return await fleet.start("laptop")


@pytest.fixture
async def phone(fleet: Fleet) -> Device:
    return await fleet.start("phone")


async def names(device: Device) -> list[str]:
    return [state.name for state in await device.peers.devices.states() if not state.removed]


async def test_a_device_alone_is_shown_with_a_button_that_pairs(laptop: Device):
    async with page_of(laptop) as page:
        text = (await page.ask("/devices")).text
        assert "laptop" in text
        assert 'action="/devices/pair"' in text
        assert "/devices/leave" not in text


async def test_two_pages_pair_by_a_token_and_show_each_other(laptop: Device, phone: Device):
    async with page_of(laptop) as inviting, page_of(phone) as joining:
        assert (await inviting.ask("/devices/pair", {"do": "token"})).status == 303
        shown = (await inviting.ask("/devices/pair")).text
        token = re.search(r"<pre>([^<]+)</pre>", shown)
        assert token
        assert '<svg class="qr"' in shown
        form = {"do": "join", "secret": token[1], "name": "Ana's phone"}
        assert (await joining.ask("/devices/pair", form)).status == 303
        shown = html.unescape((await joining.ask("/devices/pair")).text)
        assert "<bdi>Joined laptop</bdi></h2>" in shown
        assert "for you: to the inbox" not in shown
        await laptop.until_linked(phone)
        ended = (await inviting.ask("/devices/pair?wait=1")).text
        assert "Ana&#39;s phone joined" in ended
        assert token[1] not in ended
        assert "data-job" not in ended
        assert "connected" in (await inviting.ask("/devices")).text


async def test_a_code_is_joined_by_the_address_that_stands_beside_it(laptop: Device, phone: Device):
    async with page_of(laptop) as inviting, page_of(phone) as joining:
        await inviting.ask("/devices/pair", {"do": "code"})
        code = re.search(r"<output>([0-9-]+)</output>", (await inviting.ask("/devices/pair")).text)
        assert code
        form = {
            "do": "join",
            "secret": "000-000" if code[1] != "000-000" else "111-111",
            "address": laptop.place,
        }
        refused = await joining.ask("/devices/pair", form)
        assert refused.status == 409
        assert laptop.place in refused.text
        assert "2 tries are left" in (await inviting.ask("/devices/pair")).text
        assert (await joining.ask("/devices/pair", {**form, "secret": code[1]})).status == 303
        assert "Joined laptop" in (await joining.ask("/devices/pair")).text
        joining.device.clock.ahead_s += pairing_routes.JOINED_SHOWN_MS / 1000
        assert "Joined laptop" not in (await joining.ask("/devices/pair")).text


async def test_whoever_has_tasks_of_their_own_is_asked_once_and_types_nothing_again(
    laptop: Device, phone: Device
):
    async with page_of(laptop) as inviting, page_of(phone) as joining:
        await phone.db.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "task", {"title": "Own"})]))
        await inviting.ask("/devices/pair", {"do": "code"})
        code = re.search(r"<output>([0-9-]+)</output>", (await inviting.ask("/devices/pair")).text)
        assert code
        form = {"secret": code[1], "address": laptop.place}
        answer = await joining.ask("/devices/pair", {**form, "do": "join"})
        assert (answer.status, "Bring them along?" in answer.text, "--unite" in answer.text) == (
            409,
            True,
            False,
        )
        assert f'value="{code[1]}"' in answer.text
        assert (await joining.ask("/devices/pair", {**form, "do": "stay"})).status == 303
        assert await names(phone) == ["phone"]
        assert code[1] not in (await joining.ask("/devices/pair")).text
        assert (await joining.ask("/devices/pair", {**form, "do": "unite"})).status == 303
        await phone.until_linked(laptop)
        assert sorted(await names(phone)) == ["laptop", "phone"]


async def test_a_device_that_nobody_announces_is_asked_for_its_address(phone: Device):
    async with page_of(phone) as joining:
        answer = await joining.ask("/devices/pair", {"do": "join", "secret": "493-027"})
        assert (answer.status, '<details id="more" open>' in answer.text) == (409, True)
        assert "No device on this network shows a code." in answer.text
        assert 'value="493-027"' in answer.text
        assert "--addr" not in answer.text


async def test_a_page_that_waits_hears_of_the_end_of_an_invitation(laptop: Device):
    async with page_of(laptop) as page:
        await page.ask("/devices/pair", {"do": "code"})
        assert "data-job" in (await page.ask("/devices/pair")).text
        await page.ask("/devices/pair", {"do": "cancel"})
        text = (await page.ask("/devices/pair?wait=1")).text
        assert "the invitation was cancelled" in text
        assert "<output>" not in text


async def test_an_invitation_that_another_one_replaced_is_shown_no_more(laptop: Device):
    async with page_of(laptop) as page:
        await page.ask("/devices/pair", {"do": "code"})
        await laptop.token()
        assert "<output>" not in (await page.ask("/devices/pair")).text


async def test_a_device_is_renamed_and_a_bad_name_is_told_with_what_was_typed(laptop: Device):
    async with page_of(laptop) as page:
        form = {"do": "rename", "device": laptop.id.hex()}
        assert (await page.ask("/devices", {**form, "name": HOSTILE})).status == 409
        assert await names(laptop) == ["laptop"]
        assert (
            "&lt;img src=x&gt; \\u202egnp.exe" in (await page.ask("/devices", {**form, "name": HOSTILE})).text
        )
        assert (await page.ask("/devices", {**form, "name": "<b>desk</b>"})).status == 303
        assert "&lt;b&gt;desk&lt;/b&gt;" in (await page.ask("/devices")).text


async def test_removing_asks_first_and_needs_a_post(fleet: Fleet, laptop: Device, phone: Device):
    await fleet.pair(laptop, phone)
    async with page_of(laptop) as page:
        question = await page.ask(f"/devices/{phone.id.hex()}/remove")
        assert "Remove phone?" in question.text
        assert sorted(await names(laptop)) == ["laptop", "phone"]
        form = {"do": "remove", "device": phone.id.hex()}
        assert (await page.ask("/devices", form, headers={"Sec-Fetch-Site": "cross-site"})).status == 403
        assert sorted(await names(laptop)) == ["laptop", "phone"]
        assert (await page.ask("/devices", form)).status == 303
        assert await names(laptop) == ["laptop"]
        assert "no longer a member" in (await page.ask(f"/devices/{phone.id.hex()}/remove")).text


async def test_leaving_says_who_knows(fleet: Fleet, laptop: Device, phone: Device):
    await fleet.pair(laptop, phone)
    async with page_of(phone) as page:
        assert "Leave the vault?" in (await page.ask("/devices/leave")).text
        answer = await page.ask("/devices", {"do": "leave"})
        assert "Said goodbye to laptop" in answer.text
        assert "no longer a member of its vault" in answer.text
        assert "Pair a device" not in answer.text


@pytest.mark.parametrize("path", ["/devices", "/devices/pair"])
async def test_nothing_is_written_with_a_full_disk(laptop: Device, path: str):
    async with page_of(laptop) as page:
        object.__setattr__(page.services, "floor", DiskFloor(page.folder, 1 << 60))
        form = {"do": "rename" if path == "/devices" else "code", "device": laptop.id.hex(), "name": "desk"}
        answer = await page.ask(path, form)
        assert answer.status == 409
        assert "MiB are free" in answer.text
        assert await names(laptop) == ["laptop"]
        assert not laptop.peers.invitations.server.has_open_invitation


@pytest.mark.parametrize("path", ["/devices", "/devices/pair"])
async def test_a_form_that_means_nothing_is_refused(laptop: Device, path: str):
    async with page_of(laptop) as page:
        assert (await page.ask(path, {"do": "format"})).status == 400


async def test_a_device_that_is_brought_up_shows_how_far_it_is(laptop: Device, phone: Device):
    (own,) = await laptop.peers.devices.states()
    other = structs.replace(own, device_id=phone.id.hex(), name="phone", this=False)
    newcomer = structs.replace(other, lag=300, missing=0)
    away = structs.replace(newcomer, connected=False)
    rows = device_rows([own, newcomer, away, structs.replace(newcomer, lag=99)], 0.0, 400)
    assert [row.progress for row in rows] == [None, (100, 400), None, None]
    (_own, row) = device_rows([own, structs.replace(other, lag=0, missing=600)], 0.0, 400)
    assert row.progress == (400, 1000)
    assert "600 commits to come" in row.facts
    async with page_of(laptop) as page:
        assert "data-job" not in (await page.ask("/devices")).text
        text = page.services.renderer.render(
            "devices/devices.html", **shown_with([row]), room="devices", after=0
        )
        assert (
            '<progress aria-label="How much of the journal is there: phone" value="400" max="1000">' in text
        )
        assert 'data-job="/devices?wait=1"' in text
        assert '<noscript><meta http-equiv="refresh"' in text


def shown_with(rows: list[DeviceRow]) -> dict[str, Any]:
    """Return what the page of devices shows if it has these rows and nothing else."""
    empty = dict.fromkeys(("fault", "typed", "at", "state", "drawing"), "")
    nothing: dict[str, Any] = {
        "done": [],
        "mailboxes": [],
        "left_out": 0,
        "waiting_count": 0,
        "asks_count": 0,
    }
    return {"rows": rows, "is_member": True, **empty, **nothing}


def test_a_mailbox_says_how_much_lies_there_and_what_waits_for_whom():
    readers = [MailboxReader("p", "phone", "1970-01-01T00:00:00Z", 3), MailboxReader("t", "tablet", "x", 0)]
    box = MailboxState("box", "folder", "/box", None, None, "", {}, 2, 3 << 20, 0, 0, 0, readers)
    (row,) = mailbox_rows([box], 0.0)
    assert row.facts == ["2 files, 3.0 MiB"]
    assert [words.rpartition(" · ")[2] for words in row.readers] == [
        "3 commits wait for it",
        "nothing waits for it",
    ]
    (row,) = mailbox_rows([structs.replace(box, bytes=1)], 0.0)
    assert row.facts == ["2 files, 0.1 MiB"]


def test_a_qr_code_is_drawn_with_its_quiet_zone():
    code = qr_code("placet")
    xs = [int(x) for x in re.findall(r"M(\d+) ", code.path)]
    assert (min(xs), max(xs)) == (QUIET, code.size - QUIET - 1)
