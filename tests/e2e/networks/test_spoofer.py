"""A host that lies by mDNS among real devices: they find each other all the same, and it learns nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.networks.conftest import Trio
from tests.support.networks.residents import Resident, wait_until_with_logs
from tests.support.patience import LIMIT_S

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LIAR = "10.77.0.66"
CLIENT_HELLO = "1603"


def _secrets(device: Resident) -> list[str]:
    listed = [device.name, *(listed_device["device_id"] for listed_device in device.do("devices"))]
    return [text.encode().hex() for text in listed] + [
        listed_device["device_id"] for listed_device in device.do("devices")
    ]


def test_members_find_each_other_among_lies_and_nothing_reaches_the_liar(trio: Trio):
    liar = trio.world.networks.host("liar")
    liar.plug(trio.segment, f"{LIAR}/24")
    command = liar.command(sys.executable, Path(__file__).with_name("spoofer.py"), LIAR)
    lying = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    desk, phone = trio.desk, trio.phone
    try:
        assert lying.stdout is not None
        for _ in trio.all:
            assert lying.stdout.readline()
        # While the phone is away, whoever seeks it hears the liar alone.
        phone.kill()
        wait_until_with_logs("the desk calls in vain", lambda: desk.sees(phone)["unreached"], desk)
        # It comes back elsewhere, so that what others remember of it is of no use.
        plug = phone.machine.plugs[0]
        plug.remove("10.77.0.2/24")
        plug.remove("fd77::2/64")
        plug.add("10.77.0.102/24")
        phone.start()
        trio.tell("among lies")
    finally:
        document = json.loads(lying.communicate(timeout=LIMIT_S)[0].splitlines()[-1])
    assert document["spoofed"] >= len(trio.all)
    # Whoever was lured there began a handshake, which names nobody, and had nothing to say to whom it met.
    # Which of two answers to one name counts is up to mDNS: mostly somebody is lured, but not each time.
    assert document["heard"].startswith(CLIENT_HELLO if document["calls"] else "")
    for secret in _secrets(desk):
        assert secret not in document["heard"]
    for device in trio.all:
        assert LIAR not in str(device.do("devices")[0]["address"])
