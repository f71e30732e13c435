"""States that differ: how long that is remembered, whose report counts, and how often it is reported.

Never damages a log: only the hash that a store keeps of its state, or the one that a fake peer sends.
"""

import asyncio
from dataclasses import replace

import pytest

from daemon.peers.linking import goodbyes
from daemon.peers.transport.wire import Wire
from daemon.refusal import Refused
from store.local import peer_records as table
from syncproto import messages
from syncproto.messages import Bye, Hello, Ping
from tests.daemon.peers.fleet import QUICK, Device, Fleet, in_step, until
from tests.daemon.peers.linking.link_steps import greet, last_words, messages_until, pair_of, posing_as
from tests.daemon.peers.linking.test_divergence_reports import damage, is_shown_as_different, until_differing
from tests.support.patience import LIMIT_S


async def greet_as_level(wire: Wire, desk: Device, *, agree: bool) -> None:
    """Exchange Hellos as a device that has the same commits, and shows the same or another state."""
    vault, store_state = await desk.read(lambda snapshot: snapshot.vault()), await desk.standing()
    assert vault is not None
    state = store_state.state_hash if agree else bytes(32)
    await wire.send(
        messages.encode_message(Hello([2], vault, None, store_state.heads.clock, state, {})), LIMIT_S
    )


async def differing_pair(fleet: Fleet) -> tuple[Device, Device, bytes]:
    """Return two devices whose states were found to differ, the second one stopped, and its right hash."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    right = await damage(phone)
    phone.peers.replication.pause()
    phone.peers.replication.resume()
    await until_differing(desk, phone)
    await asyncio.gather(desk.until_linked(phone), phone.until_linked(desk))
    await phone.stop()
    await desk.until_apart(phone)
    return desk, phone, right


async def repair(phone: Device, right: bytes) -> None:
    store = phone.opened()
    with store.write() as transaction:
        transaction.db.execute("UPDATE standing SET state_sum = ?", (right,))
    store.close()


# -- how long it stands ------------------------------------------------------------------------------------


async def test_what_was_found_stands_after_a_restart_while_that_device_is_away(fleet: Fleet):
    desk, phone, right = await differing_pair(fleet)
    await desk.restart()
    assert await is_shown_as_different(desk, phone)
    assert not (await desk.peers.synchronisation.sync(LIMIT_S)).complete
    await repair(phone, right)
    await phone.start()
    await until_differing(desk, phone, differ=False)
    await desk.restart()
    assert not desk.peers.replication.diverging_members()


async def test_both_sides_learn_that_their_states_agree_again_whichever_compared(fleet: Fleet):
    """The phone receives a page, and does not learn the desk's state: the desk compares."""
    desk, phone, right = await differing_pair(fleet)
    await phone.start()
    await asyncio.gather(desk.until_linked(phone), phone.until_linked(desk))
    await phone.db.write(lambda tx: tx.db.execute("UPDATE standing SET state_sum = ?", (right,)))
    await desk.add("compare")
    await until_differing(desk, phone, differ=False)


async def test_what_was_found_goes_with_the_device(fleet: Fleet):
    """Paired again, its state is compared first: its removal does not show that it healed."""
    desk, phone, _ = await differing_pair(fleet)
    await desk.peers.devices.remove("phone")
    assert await desk.read(table.divergence_starts_ms) == {}
    assert not desk.peers.links.divergences.diverging_peers()
    assert phone.id not in desk.peers.links.divergences.agreeing_peers()
    await phone.start()


async def test_a_device_that_was_repaired_and_calls_no_more_is_called_before_it_is_told_of(fleet: Fleet):
    desk, phone, right = await differing_pair(fleet)
    await repair(phone, right)
    await phone.start()
    assert (await desk.peers.synchronisation.sync(LIMIT_S)).complete


async def test_a_device_that_differs_and_is_away_ends_no_wait_for_others(fleet: Fleet):
    desk, phone, _ = await differing_pair(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, tablet)
    await tablet.stop()
    async with posing_as(tablet, desk) as wire:
        await greet(wire, desk, level=True)
        await desk.until_linked(tablet)
        with pytest.raises(Refused, match="tablet has not answered yet"):
            await desk.peers.synchronisation.sync(0.5)
    for device in (phone, tablet):
        await device.start()


async def test_a_wait_that_took_too_long_leaves_nothing_behind(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=True)
        await desk.until_linked(phone)
        before = len(asyncio.all_tasks())
        for _ in range(10):
            with pytest.raises(Refused):
                await desk.peers.synchronisation.sync(0.02)
        assert len(asyncio.all_tasks()) < before + 5
    await phone.start()


# -- whose word counts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [True, False], ids=["a state that agreed", "other commits"])
async def test_the_word_that_a_state_differs_counts_only_where_it_can_be_known(fleet: Fleet, level: bool):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=level)
        await wire.send(messages.encode_message(Bye(goodbyes.STATES_DIFFER)), LIMIT_S)
        await desk.until_apart(phone)
    assert not desk.peers.replication.diverging_members()
    await phone.start()


async def test_a_state_that_comes_and_goes_is_told_of_once_in_a_while_and_what_it_came_to_is_kept(
    fleet: Fleet,
):
    desk, phone = await pair_of(fleet, replace(QUICK, divergence_pause_s=LIMIT_S))
    await phone.stop()
    await desk.until_apart(phone)
    turn = desk.notifier.turn
    for round_ in range(11):
        async with posing_as(phone, desk) as wire:
            await greet_as_level(wire, desk, agree=round_ % 2 == 1)
            await until_differing(desk, differ=round_ % 2 == 0)
    assert desk.notifier.turn == turn + 1
    await desk.restart()
    assert dict(desk.peers.replication.diverging_members()) == {phone.id: "phone"}
    await phone.start()


async def test_the_goodbye_of_a_link_that_was_replaced_says_nothing_of_now(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as older:
        await greet(older, desk, level=True)
        await desk.until_linked(phone)
        replaced = desk.peers.links.link_to(phone.id)
        assert replaced is not None
        async with posing_as(phone, desk) as newer:
            await greet(newer, desk, level=True)
            await older.send(messages.encode_message(Bye(goodbyes.KEY_CLONE)), LIMIT_S)
            await replaced.ended.wait()
            assert await last_words(older) == ""
            assert desk.peers.replication.key_clone_reporters() == []
            # What the link of now says counts when it comes.
            await newer.send(messages.encode_message(Bye(goodbyes.KEY_CLONE)), LIMIT_S)

            async def is_reported() -> bool:
                return desk.peers.replication.key_clone_reporters() == [phone.id]

            await until([desk], is_reported)
    assert desk.peers.links.key_clones.cloned_devices() == [], "it is a word, and nothing that was seen"
    await phone.start()


# -- links that wait, and questions that are young -----------------------------------------------------------


async def test_a_pause_ends_a_link_too_that_waits_for_its_place(fleet: Fleet):
    desk, phone = await pair_of(fleet, replace(QUICK, liveness_s=LIMIT_S))
    # Or the older link would first get what the desk still wrote about the pairing.
    await in_step(desk, phone)
    await phone.stop()
    desk.peers.links.key_clones._record(phone.id, addresses=[])
    async with posing_as(phone, desk) as older:
        await greet(older, desk, level=True)
        await desk.until_linked(phone)
        async with posing_as(phone, desk) as newer:
            # The older one is asked whether it lives, and the newer one waits for that.
            await messages_until(older, Ping)
            desk.peers.replication.pause()
            assert await last_words(newer) == "paused"
    assert desk.peers.links.link_to(phone.id) is None
    desk.peers.replication.resume()
    await phone.start()


@pytest.mark.parametrize(("life_s", "owed"), [(LIMIT_S, False), (0.0, True)])
async def test_a_question_of_the_heart_beat_is_owed_an_answer_once_it_is_old(
    fleet: Fleet, life_s: float, owed: bool
):
    desk, phone = await pair_of(fleet, replace(QUICK, ping_s=0.05, liveness_s=life_s))
    # Or what the desk still wrote about the pairing would come between its questions.
    await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=True)
        for _ in range(3):
            assert isinstance(messages.decode_message(await wire.receive(LIMIT_S)), Ping)
        device_state = await desk.sees(phone)
        assert device_state is not None
        assert device_state.unanswered == owed
        assert (await desk.peers.synchronisation.sync()).complete != owed
    await phone.start()
