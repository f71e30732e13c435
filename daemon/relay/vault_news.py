"""Who waits for news of a vault at a relay, and when somebody put something there.

Never keeps more than a bounded number of names, and never what was put.
"""

from collections import OrderedDict

from daemon.notifier import Notifier

WRITERS_MAX = 64


class VaultNews:
    """When something was put for a vault, and by whom, so that nobody is woken by what it put itself."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self.waiting = 0
        self._notifier = Notifier()
        self._by_forgotten = turn
        self._by_writer: OrderedDict[str, int] = OrderedDict()

    def note_put(self, writer: str) -> None:
        """Count what a writer did, and wake all who wait for others."""
        self.turn += 1
        self._by_writer[writer] = self.turn
        self._by_writer.move_to_end(writer)
        if len(self._by_writer) > WRITERS_MAX:
            _, self._by_forgotten = self._by_writer.popitem(last=False)
        self._notifier.notify()

    def turn_of_others(self, reader: str) -> int:
        """Return when somebody else put something last."""
        others = (turn for writer, turn in self._by_writer.items() if writer != reader)
        return max(others, default=self._by_forgotten)

    async def wait(self, reader: str, turn: int) -> int:
        """Wait until somebody else put something after a turn; return the turn that it is now.

        A turn that has not been yet, of an earlier process, ends the wait at once.
        """
        watch = self._notifier.watch()
        self.waiting += 1
        try:
            while turn <= self.turn and self.turn_of_others(reader) <= turn:
                await watch.wait_for_growth()
        finally:
            self.waiting -= 1
        return self.turn
