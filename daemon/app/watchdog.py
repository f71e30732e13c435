"""Feeds the service manager's watchdog, each time only after the event loop and the writer have answered.

Never feeds by a timer alone, and never ends anything: a manager that is not fed ends the daemon.

A writer in the middle of a long transaction cannot answer. It counts as alive while its thread computes or
waits for the disk, which no restart would make faster, but not for longer than `WORK_MAX_S`. So does a store
that is being closed for the next daemon of a reload. Where the system does not say what a thread does, it
counts as busy: what cannot be judged is no reason to end honest work.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import structlog

from daemon import sd_notify
from store.threads import StoreThreads

LOOKS_PER_LIMIT: Final = 2
"""As sd_watchdog_enabled(3) recommends. Each look wakes the loop and the writer, on a machine at rest too."""
ANSWER_PARTS: Final = 8
"""A writer has this part of the limit to answer before its thread is looked at."""
WORK_MAX_S: Final = 1800.0
"""What holds the writer for longer is stuck: the longest honest transactions take minutes on a slow disk."""

_STATE, _USER_TICKS, _SYSTEM_TICKS = 0, 11, 12  # proc_pid_stat(5), after the name
_WAITS_FOR_DISK = "D"

log = structlog.get_logger("daemon")


class WriterPulse:
    """Whether the writer has answered, or at least moved, since the last look."""

    def __init__(
        self,
        store: StoreThreads,
        monotonic_s: Callable[[], float] = time.monotonic,
        thread_stat: Callable[[int], str] | None = None,
    ) -> None:
        self._store = store
        self._monotonic_s = monotonic_s
        self._thread_stat = thread_stat or _read_thread_stat
        self._question: asyncio.Future[None] | None = None
        self._asked_s = 0.0
        self._ticks = -1
        self._closing_since_s: float | None = None
        self._is_doubt_logged = False

    async def beats(self, answer_within_s: float) -> bool:
        """Return whether the writer answers within this time, or is busy with what may still end."""
        if self._closing_since_s is None and self._question is None:
            self._asked_s = self._monotonic_s()
            try:
                self._question = self._store.ask_writer()
            except RuntimeError:
                # The store takes nothing more: it waits for its threads, or writes its log back.
                self._closing_since_s = self._asked_s
        if self._question is None:
            assert self._closing_since_s is not None
            return self._monotonic_s() - self._closing_since_s < WORK_MAX_S
        await asyncio.wait({self._question}, timeout=answer_within_s)
        moved = self._has_moved()
        if self._question.done():
            # A refusal is an answer: what a failing disk means is told elsewhere.
            if not self._question.cancelled():
                self._question.exception()
            self._question = None
            return True
        return moved and self._monotonic_s() - self._asked_s < WORK_MAX_S

    def _has_moved(self) -> bool:
        """Return whether the thread computed since this was last called, or waits for the disk now.

        A thread of which the system does not say that, or not as proc_pid_stat(5) has it, may have moved.
        """
        thread_id = self._store.writer_thread_id
        if thread_id is None:
            return False
        try:
            # Its name, which may have blanks, stands in parentheses.
            fields = self._thread_stat(thread_id).rpartition(")")[2].split()
            before, self._ticks = self._ticks, int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])
        except (OSError, ValueError, IndexError) as fault:
            return self._may_have_moved(thread_id, fault)
        return self._ticks > before or fields[_STATE] == _WAITS_FOR_DISK

    def _may_have_moved(self, thread_id: int, fault: Exception) -> bool:
        """Return whether there is such a thread; that nothing is known of it is logged once."""
        if not self._is_doubt_logged:
            log.warning("what the writer does cannot be seen: it counts as busy", fault=str(fault))
        self._is_doubt_logged = True
        return any(thread.native_id == thread_id for thread in threading.enumerate())


def _read_thread_stat(thread_id: int) -> str:
    return Path(f"/proc/self/task/{thread_id}/stat").read_text(encoding="ascii", errors="replace")


async def feed_watchdog(
    store: StoreThreads,
    limit_s: float,
    notify: Callable[[str], object] = sd_notify.notify_systemd,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Feed the watchdog that waits `limit_s` at most, until cancelled; not while the writer is stuck.

    A fault in here is logged, and says nothing of the writer: the event loop has answered, which feeds.
    """
    pulse = WriterPulse(store)
    while True:
        await sleep(limit_s / LOOKS_PER_LIMIT)
        try:
            beats = await pulse.beats(limit_s / ANSWER_PARTS)
        except Exception:
            log.exception("whether the writer of the database answers is not known")
            beats = True
        if beats:
            notify(sd_notify.ALIVE)
        else:
            log.error("the writer of the database is stuck: the service manager restarts the daemon soon")
