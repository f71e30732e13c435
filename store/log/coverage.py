"""Which commits of a log somebody has, as far as the heads of a clock show: one counter for each branch.

Never looks a commit up: the log knows which commit is on which branch.
"""

from store.log.branches import Branch, ReplicaChains


class Coverage:
    """The counter up to which each branch is covered.

    To add a head costs a step for each branch that is reached for the first time, and to ask costs one
    look-up, however many branches and heads there are.
    """

    def __init__(self) -> None:
        self._counters: dict[tuple[int, int], int] = {}
        self._guesses: dict[int, int] = {}

    def add(self, replica_chains: ReplicaChains, branch: Branch, counter: int) -> None:
        """Cover the chain that ends in the commit of `branch` with this counter."""
        while True:
            key = (replica_chains.no, branch.no)
            before = self._counters.get(key, 0)
            if counter <= before:
                return
            self._counters[key] = counter
            # What comes before this branch was covered when a part of the branch was.
            if before >= branch.first or branch.parent is None:
                return
            branch, counter = branch.parent, branch.first - 1

    def guess(self, replica_chains: ReplicaChains, counter: int) -> None:
        """Take all commits of an unforked replica up to a counter for covered."""
        self._guesses[replica_chains.no] = max(counter, self._guesses.get(replica_chains.no, 0))

    def covers(self, replica_no: int, branch_no: int, counter: int) -> bool:
        """Return whether the commit of a branch with this counter is covered."""
        counted = self._counters.get((replica_no, branch_no), 0)
        return counter <= counted or counter <= self._guesses.get(replica_no, 0)

    def count_lacking(self, replica_chains: ReplicaChains) -> int:
        """Return how many commits of a replica are not covered."""
        no, guess = replica_chains.no, self._guesses.get(replica_chains.no, 0)
        return sum(
            max(0, branch.tip - max(self._counters.get((no, branch.no), 0), guess, branch.first - 1))
            for branch in replica_chains.branches.values()
        )

    def first_lacking(self, replica_chains: ReplicaChains) -> int:
        """Return the lowest counter of a commit that is not covered; at least one must not be."""
        no, guess = replica_chains.no, self._guesses.get(replica_chains.no, 0)
        return 1 + min(
            covered
            for branch in replica_chains.branches.values()
            for covered in [max(self._counters.get((no, branch.no), 0), guess, branch.first - 1)]
            if covered < branch.tip
        )
