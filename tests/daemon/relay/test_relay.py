"""The relay: who is let in, what is kept and for how long, who is woken, and what it writes down.

Never fakes a part of it: requests go over real connections.
"""

import asyncio
import io
import os
from pathlib import Path

import aiohttp
import pytest

from daemon.clock import SystemClock
from daemon.peers.mailboxes.carrier import CarrierFault
from daemon.peers.mailboxes.folder import FolderCarrier
from daemon.relay import server
from daemon.relay.boxes import FILE_BYTES_MAX, FILE_NAME, BoxFault, BoxFile
from daemon.relay.request_limits import RateLimit, RelayLimits
from daemon.relay.vault_news import WRITERS_MAX, VaultNews
from syncproto.mailboxes.envelope import ENVELOPE_BYTES_MAX
from tests.daemon.relay.running_relay import RunningRelay, relay_in
from tests.support.patience import LIMIT_S

MIB = 1 << 20
DROP = "aa/00000000000001-0011223344556677.drop"
VAULT = bytes(16).hex()


async def status_of(relay: RunningRelay, method: str, path: str, secret: str = "", **given: object) -> int:
    headers = {"Authorization": f"Bearer {secret or relay.secret}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, f"{relay.url}/{path}", **given) as answer,  # type: ignore[arg-type]
    ):
        await answer.read()
        return answer.status


def kept_files(relay: RunningRelay) -> list[Path]:
    return all_files(relay.folder / "blobs")


def all_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def test_nothing_is_answered_without_the_secret_of_the_box(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as relay:
        await relay.carrier().put(DROP, b"sealed")
        for secret in ("wrong", "é", relay.secret[:-1]):
            with pytest.raises(CarrierFault, match="does not know this box"):
                await relay.carrier(secret=secret).get(DROP, 100)
        with pytest.raises(CarrierFault, match="does not know this box"):
            await relay.carrier(url=relay.url.replace("/box", "/other")).list_blobs()


async def test_wrong_secrets_are_slowed_down_and_the_right_one_is_not(tmp_path: Path) -> None:
    async with relay_in(tmp_path, limits=RelayLimits(wrong_rate=1e-9, wrong_burst=3)) as relay:
        answers = [await status_of(relay, "GET", VAULT, "wrong") for _ in range(5)]
        assert answers == [401, 401, 401, 429, 429]
        assert await relay.carrier().list_blobs() == []


async def test_a_box_answers_no_more_than_its_rate(tmp_path: Path) -> None:
    async with relay_in(tmp_path, limits=RelayLimits(rate=1e-9, burst=2)) as relay:
        assert [await status_of(relay, "GET", VAULT) for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    "path",
    [
        f"{VAULT}/blobs/../../boxes.json",
        f"{VAULT}/blobs/..%2f..%2fboxes.json",
        f"{VAULT}/blobs/%2e%2e/x.drop",
        f"{VAULT}/blobs/aa/bb/x.drop",
        f"{VAULT}/blobs/aa/x.exe",
        f"{VAULT}/blobs/.x.drop",
        f"{VAULT}/blobs/aa/{'x' * 300}.drop",
        f"{VAULT.upper()[:-1]}F/blobs/x.drop",
        "..%2f..%2f/blobs/x.drop",
        "short/blobs/x.drop",
    ],
)
async def test_names_that_no_mailbox_has_are_refused(tmp_path: Path, path: str) -> None:
    async with relay_in(tmp_path / "relay") as relay:
        before = all_files(tmp_path)
        # Without a body: the refusal would otherwise race with the rest of the request.
        assert await status_of(relay, "PUT", path) in (400, 404, 405)
        assert all_files(tmp_path) == before


async def test_a_blob_longer_than_any_is_refused(tmp_path: Path) -> None:
    async with relay_in(tmp_path, quota_mib=100) as relay:
        too_long = io.BytesIO(bytes(ENVELOPE_BYTES_MAX + 1))
        assert await status_of(relay, "PUT", f"{VAULT}/blobs/{DROP}", data=too_long) == 413
        assert kept_files(relay) == []


async def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    async with relay_in(tmp_path, limits=RelayLimits(body_s=0.05)) as relay:
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        head = (
            f"PUT /box/{VAULT}/blobs/{DROP} HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {relay.secret}\r\nContent-Length: 100\r\n\r\nhalf"
        )
        writer.write(head.encode())
        async with asyncio.timeout(LIMIT_S):
            assert b" 408 " in await reader.readline()
        writer.close()
        await writer.wait_closed()
        assert kept_files(relay) == []


async def test_a_full_box_says_so_and_has_room_again_after_a_delete_and_a_restart(tmp_path: Path) -> None:
    async with relay_in(tmp_path, quota_mib=1) as relay:
        carrier = relay.carrier()
        await carrier.put(DROP, bytes(MIB - 10))
        with pytest.raises(CarrierFault, match="is full"):
            await carrier.put("bb/x.drop", bytes(11))
        # In place of itself it needs no room of its own, and what a device has is always taken.
        await carrier.put(DROP, bytes(MIB))
        await carrier.put("aa.have", bytes(1000))
        await relay.stop()
        await relay.start()
        with pytest.raises(CarrierFault, match="is full"):
            await carrier.put("bb/x.drop", bytes(1))
        await carrier.delete(DROP)
        await carrier.put("bb/x.drop", bytes(1))
        assert sorted(blob.name for blob in await carrier.list_blobs()) == ["aa.have", "bb/x.drop"]


async def test_a_box_keeps_few_vaults(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as relay:
        for number in range(8):
            await relay.carrier(bytes([number]) * 16).put("aa.have", b"x")
        with pytest.raises(CarrierFault, match="is full"):
            await relay.carrier(bytes([9]) * 16).put("aa.have", b"x")


async def test_a_list_of_many_pages_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.relay.blob_keeper.PAGE_BLOBS_MAX", 3)
    async with relay_in(tmp_path) as relay:
        names = [f"{device}/{number:014x}-00.drop" for device in ("aa", "bb") for number in range(5)]
        for name in names:
            await relay.carrier().put(name, b"x")
        assert [blob.name for blob in await relay.carrier().list_blobs()] == names


async def test_a_put_wakes_the_others_and_not_the_one_who_put(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as relay:
        anna, bea = relay.carrier(), relay.carrier()
        for carrier in (anna, bea):
            assert await carrier.wait_for_news()
        waits = {carrier: asyncio.create_task(carrier.wait_for_news()) for carrier in (anna, bea)}
        await bea.put(DROP, b"sealed")
        async with asyncio.timeout(LIMIT_S):
            assert await waits[anna]
        assert not waits[bea].done()
        waits[bea].cancel()
        # What was put between two waits is not missed.
        await anna.put("bb/x.drop", b"sealed")
        async with asyncio.timeout(LIMIT_S):
            assert await bea.wait_for_news()


async def test_a_relay_that_ends_answers_those_who_wait(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as relay:
        anna = relay.carrier()
        await anna.wait_for_news()
        wait = asyncio.create_task(anna.wait_for_news())
        assert await anna.list_blobs() == []
        await relay.stop()
        async with asyncio.timeout(LIMIT_S):
            try:
                assert not await wait
            except CarrierFault:
                pass  # the relay was gone before the question reached it
        await relay.start()
        assert await anna.list_blobs() == []


async def test_a_box_that_is_removed_is_shut_at_once_and_made_anew_is_empty(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as relay:
        carrier = relay.carrier()
        await carrier.put(DROP, b"sealed")
        boxes = BoxFile(str(tmp_path))
        boxes.remove("box")
        with pytest.raises(CarrierFault, match="does not know"):
            await carrier.list_blobs()
        assert kept_files(relay) == []
        secret = boxes.add("box", 1, SystemClock().randomness)
        assert await relay.carrier(secret=secret).list_blobs() == []
        with pytest.raises(CarrierFault, match="does not know"):
            await carrier.list_blobs()


async def test_a_box_gets_another_quota_and_another_secret_in_place(tmp_path: Path) -> None:
    async with relay_in(tmp_path, quota_mib=1) as relay:
        carrier = relay.carrier()
        await carrier.put(DROP, bytes(MIB - 10))
        with pytest.raises(CarrierFault, match="is full"):
            await carrier.put("bb/x.drop", bytes(11))
        boxes = BoxFile(str(tmp_path))
        assert boxes.change("box", 2, None)[1] is None
        await carrier.put("bb/x.drop", bytes(11))
        # Less than it keeps: nothing goes, and nothing comes.
        box, secret = boxes.change("box", 1, SystemClock().randomness)
        assert (box.quota, secret != relay.secret) == (MIB, True)
        with pytest.raises(CarrierFault, match="does not know"):
            await carrier.list_blobs()
        renewed = relay.carrier(secret=secret or "")
        assert sorted(blob.name for blob in await renewed.list_blobs()) == sorted([DROP, "bb/x.drop"])
        with pytest.raises(CarrierFault, match="is full"):
            await renewed.put("cc/x.drop", bytes(11))
        with pytest.raises(BoxFault, match="unknown"):
            boxes.change("other", 1, None)


async def test_half_files_of_an_earlier_process_go_when_the_relay_starts(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as relay:
        carrier = relay.carrier()
        await carrier.put(DROP, b"sealed")
        (kept,) = kept_files(relay)
        await relay.stop()
        half = kept.with_name(f".{kept.name}.part")
        half.write_bytes(b"half")
        await relay.start()
        assert len(await carrier.list_blobs()) == 1
        assert not half.exists()


async def test_the_log_names_no_secret_and_no_vault(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with relay_in(tmp_path) as relay:
        await relay.carrier().put(DROP, b"sealed")
        assert await status_of(relay, "GET", VAULT, "wrongsecret") == 401
    out, err = capfd.readouterr()
    assert relay.secret not in out + err
    assert "wrongsecret" not in out + err
    assert VAULT not in out + err
    assert relay.secret not in (tmp_path / "boxes.json").read_text()
    assert (tmp_path / "boxes.json").stat().st_mode & 0o077 == 0


def test_boxes_have_plain_names_and_are_made_once(tmp_path: Path) -> None:
    boxes = BoxFile(str(tmp_path))
    for name in ("", "..", "a/b", "A", "é", "x" * 64):
        with pytest.raises(BoxFault, match="name"):
            boxes.add(name, 1, SystemClock().randomness)
    boxes.add("home", 1, SystemClock().randomness)
    with pytest.raises(BoxFault, match="taken"):
        boxes.add("home", 1, SystemClock().randomness)
    with pytest.raises(BoxFault, match="unknown"):
        boxes.remove("other")


def test_a_rate_is_given_back_with_time_and_remembers_few_names() -> None:
    now_s = [0.0]
    rate = RateLimit(1, 2, lambda: now_s[0])
    assert [rate.count("a") for _ in range(3)] == [True, True, False]
    now_s[0] = 1.0
    assert [rate.count("a") for _ in range(2)] == [True, False]
    for number in range(5000):
        rate.count(str(number))
    assert len(rate._left) <= 4096


async def test_writers_that_are_forgotten_count_as_others() -> None:
    news = VaultNews(100)
    for number in range(WRITERS_MAX + 1):
        news.note_put(f"writer {number}")
    assert len(news._by_writer) == WRITERS_MAX
    assert await news.wait("writer 64", 100) == news.turn
    assert await news.wait("anybody", news.turn + 5) == news.turn


async def test_folders_of_a_box_go_with_their_last_blob_also_those_of_an_earlier_process(
    tmp_path: Path,
) -> None:
    async with relay_in(tmp_path) as relay:
        for number in range(30):
            carrier = relay.carrier(bytes([number]) * 16)
            await carrier.put(f"{number:02x}/00000000000001-0011223344556677.drop", b"sealed")
            await carrier.delete(f"{number:02x}/00000000000001-0011223344556677.drop")
        assert list((tmp_path / "blobs" / "box").iterdir()) == []
        await relay.stop()
        left = tmp_path / "blobs" / "box" / VAULT / "aa"
        left.mkdir(parents=True)
        await relay.start()
        assert await relay.carrier().list_blobs() == []
        assert not left.parent.exists()


async def test_a_box_that_is_removed_during_a_put_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = FolderCarrier.put

    async def put_late(self: FolderCarrier, name: str, content: bytes) -> None:
        boxes.remove("box")
        (tmp_path / "blobs" / "box").mkdir()
        await put(self, name, content)

    async with relay_in(tmp_path) as relay:
        boxes = BoxFile(str(tmp_path))
        monkeypatch.setattr(FolderCarrier, "put", put_late)
        with pytest.raises(CarrierFault, match="does not know this box"):
            await relay.carrier().put(DROP, b"sealed")
        assert not (tmp_path / "blobs" / "box").exists()


async def test_whoever_asks_for_news_of_many_vaults_makes_nobody_elses_be_forgotten(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as relay:
        first, second = relay.carrier(), relay.carrier()
        await first.wait_for_news()
        waiting = asyncio.create_task(first.wait_for_news())
        await asyncio.sleep(0.1)
        for number in range(server.NEWS_EACH_MAX + 10):
            vault = (number + 1).to_bytes(16, "big").hex()
            assert await status_of(relay, "GET", f"{vault}/news?after=0") == 200
        await second.put(DROP, b"sealed")
        async with asyncio.timeout(LIMIT_S / 2):
            assert await waiting
        assert relay.server is not None
        assert len(relay.server._news["box"]) == server.NEWS_EACH_MAX


def test_a_file_of_boxes_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    for kind, plant in {
        "pipe": lambda: os.mkfifo(file),
        "folder": file.mkdir,
        "device": lambda: file.symlink_to("/dev/zero"),
        "long": lambda: file.write_bytes(b" " * FILE_BYTES_MAX + b"{}"),
        "deep": lambda: file.write_bytes(b"[" * 100_000),
        "endless": lambda: file.write_bytes(b'{"a": {"sha256": "", "quota": 1e999}}'),
        "list": lambda: file.write_bytes(b"[]"),
    }.items():
        plant()
        try:
            BoxFile(str(tmp_path)).boxes()
        except (OSError, ValueError):
            pass
        else:
            pytest.fail(kind)
        file.rmdir() if kind == "folder" else file.unlink()
