"""Synchronising on a person's request: call every member now, and wait until all have the same commits.

Never waits longer than it was asked to, and never for a device that is not linked.
"""

import asyncio

from daemon.peers.linking.device_states import DeviceState, SyncReport
from daemon.peers.linking.devices import DeviceDirectory
from daemon.peers.linking.link_registry import LinkRegistry
from daemon.peers.linking.replication import Replication
from daemon.peers.roster.cache import RosterCache
from daemon.refusal import RefusalCode, Refused
from store.sentence import Sentence, sentence, sentence_of_answer


class Synchronisation:
    """Synchronises with the members that are linked."""

    def __init__(
        self,
        *,
        replication: Replication,
        links: LinkRegistry,
        members: RosterCache,
        devices: DeviceDirectory,
    ) -> None:
        self._replication = replication
        self._links = links
        self._members = members
        self._devices = devices

    async def sync(self, wait_s: float = 0.0) -> SyncReport:
        """Call every member now. With `wait_s`, wait until the linked ones and this device have the same.

        Raises Refused (timeout) if that takes longer. A member that shows another state, or whose link ended
        by a fault, is not waited for: the answer is not `complete`.
        """
        if self._members.is_own_device_removed:
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence("no-longer-member", "this device is no longer a member of its vault"),
                sentence("begin-anew", "to start again, stop placet, then run: placet devices leave"),
            )
        self._replication.call_all_now()
        if wait_s > 0:
            await self._wait_until_in_step(wait_s)
            # What may be compacted depends on which commits the others are known to have.
            await self._links.record_contacts()
        # After a successful wait no question is asked again: new commits may be on their way already.
        in_step = wait_s > 0 or (
            self._replication.none_owes_answer() and await self._replication.is_in_step()
        )
        complete = in_step and not (
            self._replication.diverging_members() or self._replication.faulty_members()
        )
        listed = await self._devices.list_states()
        return SyncReport(
            complete,
            self._replication.paused,
            [state for state in listed.states if not state.this],
            listed.members_left_out + listed.removed_left_out,
        )

    async def _wait_until_in_step(self, wait_s: float) -> None:
        try:
            async with asyncio.timeout(wait_s):
                await self._replication.wait_until_in_step()
        except TimeoutError:
            raise await self._timeout_refusal(wait_s) from None

    async def _timeout_refusal(self, wait_s: float) -> Refused:
        others = [state for state in await self._devices.states() if not state.this and not state.removed]
        called = {device.hex() for device in self._replication.members_being_called()}
        linked = [state for state in others if state.connected]
        reasons = [*map(_lacks_sentence, (state for state in linked if state.lag))]
        reasons += map(_has_more_sentence, (state for state in linked if state.missing))
        reasons += map(_no_answer_sentence, (state for state in linked if state.unanswered))
        reasons += map(_is_called_sentence, (state for state in others if state.device_id in called))
        reasons += [
            sentence_of_answer(fault.seen, fault.seen_id, fault.seen_params)
            for state in others
            if (fault := state.link_fault) is not None
        ]
        seconds, hint = f"{wait_s:g}", sentence("try-again", "try again")
        if not reasons:
            message = sentence("not-in-step", "not in step after {seconds} s", seconds=seconds)
        else:
            message = sentence(
                "not-in-step-because",
                "not in step after {seconds} s: {reasons}",
                seconds=seconds,
                reasons=tuple(reasons),
            )
        return Refused(RefusalCode.TIMEOUT, message, hint)


def _lacks_sentence(state: DeviceState) -> Sentence:
    return sentence("peer-lacks", "{name} lacks {count}", name=state.name, count=state.lag or 0)


def _has_more_sentence(state: DeviceState) -> Sentence:
    return sentence("peer-has-more", "{count} to come from {name}", count=state.missing, name=state.name)


def _no_answer_sentence(state: DeviceState) -> Sentence:
    return sentence("peer-unanswered", "{name} has not answered yet", name=state.name)


def _is_called_sentence(state: DeviceState) -> Sentence:
    return sentence("peer-being-called", "{name} is still being called", name=state.name)
