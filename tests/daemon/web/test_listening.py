"""Where the page listens: both loopback addresses, the same port from start to start, and no other's."""

import errno
import socket
from pathlib import Path

import pytest
from msgspec import structs

from daemon.web import listening
from tests.daemon.web.conftest import Page


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="this machine has no ::1")


@needs_ipv6
def test_the_page_has_its_port_on_both_loopback_addresses():
    sockets = listening.bind_loopback(0)
    addresses = [bound.getsockname()[:2] for bound in sockets]
    listening.close_all(sockets)
    port = addresses[0][1]
    assert addresses == [("127.0.0.1", port), ("::1", port)]


@needs_ipv6
def test_a_port_that_somebody_has_on_one_address_is_not_shared():
    with socket.socket(socket.AF_INET6) as other:
        other.bind(("::1", 0))
        other.listen()
        with pytest.raises(OSError, match="in use") as fault:
            listening.bind_loopback(other.getsockname()[1])
    assert fault.value.errno == errno.EADDRINUSE


async def test_a_page_whose_port_was_taken_has_a_new_name_and_no_session(tmp_path: Path):
    page = Page(tmp_path)
    await page.start()
    await page.sign_in()
    host, port = page.host, page.port
    await page.stop()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        await page.start()
    assert page.host.partition(".")[0] != host.partition(".")[0]
    assert (await page.ask("/inbox")).status == 401
    await page.stop()
    page.store.close()


async def test_a_page_that_moves_to_another_port_has_a_new_name_and_no_session(tmp_path: Path):
    page = Page(tmp_path)
    await page.start()
    await page.sign_in()
    host, port = page.host, page.port
    await page.stop()
    state = listening.load_state(tmp_path, page.fleet.randomness)
    listening.store_state(tmp_path, structs.replace(state, port=port - 1))
    page.settings = structs.replace(page.settings, port=port)
    await page.start()
    assert page.host.partition(".")[0] != host.partition(".")[0]
    assert (await page.ask("/inbox")).status == 401
    await page.stop()
    # The same port again is no move.
    await page.start()
    await page.sign_in()
    await page.stop()
    await page.start()
    assert (await page.ask("/inbox")).status == 200
    await page.stop()
    page.store.close()


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"label": 7}', b"[" * 2000])
def test_a_state_that_cannot_be_read_begins_anew(tmp_path: Path, content: bytes):
    (tmp_path / listening.FILE_NAME).write_bytes(content)
    state = listening.load_state(tmp_path, bytes)
    assert (state.port, state.sessions) == (0, ())
    assert state.label.startswith("placet-")
