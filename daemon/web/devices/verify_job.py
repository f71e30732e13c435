"""The check of the journal that the page runs, and what came of the last one.

Never runs two at once: whoever asks for a second one sees the first.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from daemon.journal.verification import CheckProgress, Verified
from daemon.web.page_job import Fault, PageJob

Verify = Callable[[Callable[[CheckProgress], None]], Awaitable[Verified]]
"""Checks the journal, and reports how far it is. Raises Refused if it cannot."""
_BEGINS: Final = CheckProgress("", 0, 0)


@dataclass(frozen=True, slots=True)
class Verifying:
    """The journal is being checked: how far that is."""

    progress: CheckProgress = _BEGINS


@dataclass(frozen=True, slots=True)
class Ended:
    """A check that ended, and when (Unix time in milliseconds): with an outcome, or by a fault."""

    at_ms: int
    outcome: Verified | Fault


class VerifyJob:
    """The check of one daemon. `now_ms` is the wall clock."""

    def __init__(self, verify: Verify, now_ms: Callable[[], int]) -> None:
        self._verify = verify
        self._now_ms = now_ms
        self.job: PageJob[Verifying | Ended] = PageJob("verify", now_ms())

    def begin(self) -> None:
        """Begin to check, unless that goes on already."""
        if not self.job.is_working:
            self.job.begin(Verifying(), self._check, lambda fault: Ended(self._now_ms(), fault))

    async def _check(self) -> Verifying | Ended:
        outcome = await self._verify(self._note_progress)
        return Ended(self._now_ms(), outcome)

    def _note_progress(self, progress: CheckProgress) -> None:
        if isinstance(self.job.stage, Verifying):
            self.job.stage = replace(self.job.stage, progress=progress)
