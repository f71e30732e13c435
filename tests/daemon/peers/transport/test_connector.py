"""What is reported of an address where no connection could be made.

Never starts a device: nothing answers there.
"""

import socket

import pytest

from daemon.peers.transport.addresses import Address
from daemon.peers.transport.connector import Connector, Unreachable, UnreachableReason
from tests.daemon.peers.fleet import Fleet


async def test_an_address_where_nothing_listens_is_told_in_the_systems_words(fleet: Fleet):
    phone = fleet.make("phone")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = Address(*probe.getsockname())
        # Bound and not listening: no other program gets the port meanwhile.
        dialling = Connector(phone.identity, phone.limits)
        with pytest.raises(Unreachable) as error:
            await dialling.connect_to_member(place, phone.identity.certificate)
        await dialling.close()
    assert (str(error.value), error.value.kind) == (
        f"{place}: Connection refused",
        UnreachableReason.NOT_LISTENING,
    )
