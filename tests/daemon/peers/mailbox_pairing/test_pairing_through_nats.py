"""A newcomer that is never online together with a member joins through NATS.

Never fakes a part of Placet or of NATS: server, connections and stores are real.
"""

from pathlib import Path

import pytest

from daemon.peers.mailboxes.carrier_choice import Access
from tests.daemon.peers.fleet import Fleet
from tests.daemon.peers.mailbox_pairing.quiet_devices import invite, look, start_quiet, switch
from tests.daemon.peers.mailboxes.running_nats import SECRET, nats_in

pytestmark = pytest.mark.external("nats-server")


@pytest.mark.parametrize(
    ("authorization", "secret"),
    [("", SECRET), ('token: "s3cret-token"', "s3cret-token")],
    ids=["user", "token"],
)
async def test_a_newcomer_needs_nothing_but_the_token_of_the_invitation(
    fleet: Fleet, tmp_path: Path, authorization: str, secret: str
) -> None:
    async with nats_in(tmp_path / "nats", authorization=authorization) as nats:
        laptop = await start_quiet(fleet, "laptop")
        await laptop.peers.mailboxes.add("nats", nats.url, "box", Access(secret))
        await laptop.add("of laptop", count=20)
        token = await invite(laptop)
        await laptop.stop()

        desktop = await start_quiet(fleet, "desktop")
        joined = await desktop.peers.join(token)
        assert (joined.device_id, joined.waits_for) == (laptop.id.hex(), "box")
        await switch(desktop, laptop)
        await look(laptop)
        await switch(laptop, desktop)
        await look(desktop)
        assert len(await desktop.titles()) == 20
        await desktop.add("of desktop")
        await look(desktop)
        await switch(desktop, laptop)
        await look(laptop)
        assert len(await laptop.titles()) == 21
