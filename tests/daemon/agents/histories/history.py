"""One history: three devices with wrong clocks, their state, and time and links between them.

Never tolerates a broken law: the devices that a step has touched are judged after it.
"""

from collections import Counter
from pathlib import Path
from random import Random

from syncproto.ids import id_to_text
from tests.daemon.agents.histories import invariants
from tests.daemon.agents.histories.reference import Past, Reference
from tests.daemon.agents.histories.witness import Vault, Witness
from tests.simulation.author import TASK
from tests.simulation.device import HeldCommits
from tests.simulation.oracle import FoldOracle
from tests.simulation.page_exchange import take_pages

REF = id_to_text(TASK)
SKEWS_MS = (0, 0, -300_000, 400_000, 5_000_000, -86_400_000)
PAGE_BYTES = (300, 900, 3_000, 1 << 20)
FAR = 10_000
DAY_MS = 86_400_000

TITLES = ("Pack", "Book")
STATUSES = (
    {"status": "GROOMED"},
    {"status": "IN PROGRESS"},
    {"status": "BLOCKED", "reason": "Waits for Ann"},
    {"status": "ON HOLD", "reason": "Not before May"},
)


class History:
    """Three devices, and the reference that they are judged by."""

    def __init__(self, folder: Path, original: Vault, dice: Random) -> None:
        self.vault = Vault(folder, tuple(dice.choice(SKEWS_MS) for _ in original.witnesses), original)
        self.homes = self.vault.witnesses
        self.past = Past(self.vault.truth)
        self.met: Counter[str] = Counter()
        self.touched: set[str] = set()
        self.runs: list[str] = []
        self._oracles: dict[HeldCommits, FoldOracle] = {}
        self._judged: set[tuple[HeldCommits, bytes]] = set()
        self._words = 0

    def close(self) -> None:
        """Close every store."""
        self.vault.close()

    def word(self) -> str:
        """Return words that nobody has written yet."""
        return f"Word {self.number()}"

    def number(self) -> int:
        """Return a number that nobody has written yet."""
        self._words += 1
        return self._words

    def reference(self, home: Witness) -> Reference:
        """Return what a device must show now."""
        if home.held not in self._oracles:
            self._oracles[home.held] = FoldOracle(self.vault.truth, home.held)
        return Reference(self._oracles[home.held], self.past, home.now_ms())

    def judge(self) -> None:
        """Judge the devices that the last step has touched.

        A state that was judged once is not judged again if another device reaches it.
        """
        invariants.equal_vectors_equal_hashes(self.homes)
        for home in self.homes:
            if home.name in self.touched:
                state = (home.held, home.read(lambda snapshot: snapshot.state_hash()))
                invariants.judge(home, self.reference(home), whole=state not in self._judged)
                self._judged.add(state)
        self.touched.clear()
        clocks = {home.held for home in self.homes}
        self._oracles = {heads: oracle for heads, oracle in self._oracles.items() if heads in clocks}

    def end(self) -> None:
        """Let all devices meet, and judge each."""
        self.meet()
        assert len({home.held for home in self.homes}) == 1, "they never hold the same"
        self.touched = {home.name for home in self.homes}
        self._judged.clear()
        self.judge()
        invariants.at_the_end(self.homes)
        reference = self.reference(self.homes[0])
        for item in reference.proposals:
            self.met[f"at the end: {'disputed' if reference.disputed(item) else reference.shown(item)}"] += 1

    def count(self, act: str, outcome: str) -> None:
        self.met[f"{act}: {outcome}"] += 1

    def wait(self, dice: Random) -> None:
        """Let time pass: often a little, sometimes more than a proposal may wait."""
        self.vault.now_ms += dice.choice((1, 1000, 60_000, 3_600_000, 4 * DAY_MS, 8 * DAY_MS, 8 * DAY_MS))
        self.touched = {home.name for home in self.homes}

    def pull(self, home: Witness, peer: Witness, dice: Random) -> None:
        """Pull what another device has, perhaps not all of it."""
        vector = home.read(lambda snapshot: snapshot.vector())
        pages = FAR if dice.random() < 0.7 else 1 + dice.randrange(3)
        took = take_pages(home, peer, vector, dice.choice(PAGE_BYTES), pages)
        if took:
            self.touched.add(home.name)
        if took and pages != FAR:
            self.count("pull", "partly")

    def meet(self) -> None:
        """Bring every device to the same commits, by way of the first."""
        for _ in range(2):
            for home in self.homes[1:]:
                self.vault.pull(self.homes[0], home)
                self.vault.pull(home, self.homes[0])
        self.touched = {home.name for home in self.homes}
