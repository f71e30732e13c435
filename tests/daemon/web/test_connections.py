"""The bound on connections of the page, and its limits on slow ones, with sockets that stall.

Never asserts when: a socket that is to be ended waits for its end, one that is to stay is asked something.
"""

import asyncio

import pytest

from daemon.connections import ConnectionLimits, Connections
from tests.daemon.web.conftest import Page, Serve
from tests.support.patience import LIMIT_S

PLACES = 4
PATIENT = ConnectionLimits(places=PLACES, idle_s=LIMIT_S, body_s=LIMIT_S, write_s=LIMIT_S)
BEGINNING = b"GET /inbox HTTP/1.1\r\nHost: "

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def stalled(page: Page, sent: bytes) -> Streams:
    """Connect, and send a part of a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def until_ended(reader: asyncio.StreamReader) -> bytes:
    """Wait until the page ends a connection; return what it sent before."""
    async with asyncio.timeout(LIMIT_S):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


def request(page: Page, **headers: str) -> bytes:
    lines = [f"Host: {page.host}", f"Cookie: placet={page.token}", "Sec-Fetch-Site: same-origin"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    method = "POST" if "Content_Length" in headers else "GET"
    return "\r\n".join([f"{method} /inbox HTTP/1.1", *lines, "", ""]).encode()


async def answer_on(streams: Streams, sent: bytes) -> bytes:
    """Send a whole request, and return the first line of its answer; the rest of it is read and dropped."""
    reader, writer = streams
    writer.write(sent)
    async with asyncio.timeout(LIMIT_S):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")),
            0,
        )
        await reader.readexactly(length)
    return head.partition(b"\r\n")[0]


async def test_the_oldest_stranger_gives_way_to_whoever_comes(serve: Serve):
    async with serve(PATIENT) as page:
        strangers = [await stalled(page, BEGINNING) for _ in range(PLACES)]
        newcomer = await stalled(page, b"")
        assert (await answer_on(newcomer, request(page))).split()[1] == b"401"
        await until_ended(strangers[0][0])
        assert page.server.connections.count == PLACES
        for _, writer in (*strangers, newcomer):
            writer.close()


async def test_a_browser_that_is_signed_in_gives_way_to_nobody(serve: Serve):
    async with serve(PATIENT) as page:
        await page.sign_in()
        await page.session.close()
        browser = await stalled(page, b"")
        assert (await answer_on(browser, request(page))).split()[1] == b"200"
        strangers = [await stalled(page, BEGINNING) for _ in range(3 * PLACES)]
        for reader, _ in strangers[: 2 * PLACES]:
            await until_ended(reader)
        assert (await answer_on(browser, request(page))).split()[1] == b"200"
        assert page.server.connections.count == PLACES
        for _, writer in (*strangers, browser):
            writer.close()


async def test_if_signed_in_browsers_have_all_places_another_is_turned_away(serve: Serve):
    async with serve(PATIENT) as page:
        await page.sign_in()
        await page.session.close()
        browsers = [await stalled(page, b"") for _ in range(PLACES)]
        for browser in browsers:
            assert (await answer_on(browser, request(page))).split()[1] == b"200"
        reader, writer = await stalled(page, b"")
        assert await until_ended(reader) == b""
        assert page.server.connections.count == PLACES
        for _, other in (*browsers, (reader, writer)):
            other.close()


@pytest.mark.parametrize("sent", [b"", BEGINNING])
async def test_a_connection_without_a_whole_head_is_ended(serve: Serve, sent: bytes):
    async with serve(ConnectionLimits(idle_s=0.05)) as page:
        reader, writer = await stalled(page, sent)
        await until_ended(reader)
        writer.close()


async def test_a_body_that_does_not_come_is_refused(serve: Serve):
    async with serve(ConnectionLimits(body_s=0.05)) as page:
        await page.sign_in()
        media = "application/x-www-form-urlencoded"
        head = request(page, Content_Length="100", Content_Type=media)
        reader, writer = await stalled(page, head + b"decide=")
        async with asyncio.timeout(LIMIT_S):
            assert b" 408 " in await reader.readline()
        writer.close()


class _FullTransport(asyncio.Transport):
    """A transport of a client that reads nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = asyncio.Event()

    def abort(self) -> None:
        self.ended.set()


async def test_a_client_that_takes_nothing_of_an_answer_is_ended():
    connections = Connections(ConnectionLimits(write_s=0.01))
    guard, transport = connections.guard(asyncio.Protocol), _FullTransport()
    guard.connection_made(transport)
    guard.pause_writing()
    guard.resume_writing()
    guard.pause_writing()
    async with asyncio.timeout(LIMIT_S):
        await transport.ended.wait()
    assert connections.count == 0
