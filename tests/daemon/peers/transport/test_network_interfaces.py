"""The machine's addresses as the kernel reports them.

Never changes an interface: the tests on networks of namespaces do.
"""

import ipaddress

from daemon.peers.transport.network_interfaces import machine_addresses, multicast_addresses


def test_what_is_near_is_held_and_nothing_is_of_this_machine_alone():
    assert multicast_addresses() <= machine_addresses()
    assert not [
        machine_address
        for machine_address in machine_addresses()
        if ipaddress.ip_address(machine_address).is_loopback
    ]
