"""The machine's addresses as the kernel tells them.

Never changes an interface: that is for the suite on networks of namespaces.
"""

import ipaddress

from daemon.peers.interfaces import held, near


def test_what_is_near_is_held_and_nothing_is_of_this_machine_alone():
    assert near() <= held()
    assert not [one for one in held() if ipaddress.ip_address(one).is_loopback]
