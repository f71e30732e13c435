"""The pages of a peer that are stored, and whether the session knows yet that the peer has them.

Never counts a page that waits to be stored: a stream of pages would keep this side from sending.
"""

import asyncio


class StoredPages:
    """Counts the pages of one link. Stored is noted on the store's thread, the rest on the event loop."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self._stored = 0
        self._changed = asyncio.Event()

    def note_stored(self) -> None:
        """Note a page inside its transaction, so that no snapshot shows a page that is not counted."""
        self._stored += 1

    def note_acknowledged(self) -> None:
        """Note that the session knows of the oldest page that the peer has it."""
        self.acknowledged += 1
        self._changed.set()

    async def settle(self, known_pages: int) -> bool:
        """Wait until all that is stored now is acknowledged; return whether it is more than `known_pages`."""
        stored = self._stored
        while self.acknowledged < stored:
            self._changed.clear()
            await self._changed.wait()
        return stored > known_pages
