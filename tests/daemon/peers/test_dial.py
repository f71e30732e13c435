"""What is told of an address where a connection came to nothing.

Never starts a device: nothing answers there.
"""

import socket

import pytest

from daemon.peers.addresses import Address
from daemon.peers.dial import Dialling, Silence, Unreachable
from tests.daemon.peers.fleet import Fleet


async def test_an_address_where_nothing_listens_is_told_in_the_systems_words(fleet: Fleet):
    phone = fleet.make("phone")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = Address(*probe.getsockname())
    dialling = Dialling(phone.identity, phone.pace)
    with pytest.raises(Unreachable) as caught:
        await dialling.member(place, phone.identity.certificate)
    await dialling.close()
    assert (str(caught.value), caught.value.kind) == (f"{place}: Connection refused", Silence.NOT_LISTENING)
