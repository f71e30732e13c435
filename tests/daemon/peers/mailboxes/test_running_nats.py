"""Servers of NATS for tests: they start whatever other programs listen on.

Never fakes a server.
"""

import socket
from pathlib import Path

import pytest

from tests.daemon.peers.mailboxes import running_nats
from tests.daemon.peers.mailboxes.running_nats import nats_in


@pytest.mark.external("nats-server")
async def test_a_port_that_somebody_took_costs_one_more_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = [running_nats._free_ports(3) for _ in range(2)]
    with socket.create_server(("127.0.0.1", draws[0][2])):
        monkeypatch.setattr(running_nats, "_free_ports", lambda _count: draws.pop(0))
        async with nats_in(tmp_path) as running, running.open_streams() as streams:
            assert (await streams.account_info()).streams == 0
    assert draws == []
