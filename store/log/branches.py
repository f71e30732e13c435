"""The branches of one replica: which of them left which, and where each ends.

Never reads the database, and never knows a commit but the last of each branch.
"""


class Branch:
    """One chain of a replica, from counter `first` to `tip`; what comes before `first` is on the parent."""

    __slots__ = ("depth", "first", "jump", "no", "parent", "tip", "tip_hash")

    def __init__(self, no: int, parent: "Branch | None", first: int, tip: int, tip_hash: bytes) -> None:
        self.no = no
        self.parent = parent
        self.first = first
        self.tip = tip
        self.tip_hash = tip_hash
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.jump: Branch | None = parent if parent is None else _jump_beyond(parent)

    def branch_at(self, counter: int) -> "Branch":
        """Return the branch on which this chain has a counter up to its tip: itself, or one that it left."""
        branch = self
        while branch.first > counter:
            parent, jump = branch.parent, branch.jump
            assert parent is not None, "a branch without a parent begins at counter 1"
            assert jump is not None, "a branch with a parent leads to one more"
            branch = jump if jump.first > counter else parent
        return branch

    def at_depth(self, depth: int) -> "Branch":
        """Return the branch of this depth on the way back from this one."""
        branch = self
        while branch.depth > depth:
            parent, jump = branch.parent, branch.jump
            assert parent is not None, "a branch without a parent has the depth 0"
            assert jump is not None, "a branch with a parent leads to one more"
            branch = jump if jump.depth >= depth else parent
        return branch


class BranchPlace:
    """Where a commit is among the branches of its replica: see `ChainPlace`.

    What leaves a branch after a commit comes before what follows that commit on the branch.
    """

    __slots__ = ("branch", "counter")

    def __init__(self, branch: Branch, counter: int) -> None:
        self.branch = branch
        self.counter = counter

    def leads_to(self, other: "BranchPlace") -> bool:
        """Return whether it lies on the chain that ends in another place, or is that place."""
        if self.branch is other.branch:
            return self.counter <= other.counter
        return self.counter <= other.counter and other.branch.branch_at(self.counter) is self.branch

    def __lt__(self, other: "BranchPlace") -> bool:
        """Return whether it comes before another place of the same replica."""
        branch, other_branch = self.branch, other.branch
        if branch is other_branch:
            return self.counter < other.counter
        if branch.depth > other_branch.depth:
            branch = branch.at_depth(other_branch.depth + 1)
            if branch.parent is other_branch:
                return branch.first <= other.counter
            assert branch.parent is not None
            branch = branch.parent
        elif other_branch.depth > branch.depth:
            other_branch = other_branch.at_depth(branch.depth + 1)
            if other_branch.parent is branch:
                return self.counter < other_branch.first
            assert other_branch.parent is not None
            other_branch = other_branch.parent
        # Two branches of one depth: their ways back have the same steps.
        while branch.parent is not other_branch.parent:
            far, other_far = branch.jump, other_branch.jump
            if far is other_far:
                far, other_far = branch.parent, other_branch.parent
            assert far is not None
            assert other_far is not None
            branch, other_branch = far, other_far
        return (branch.first, branch.no) < (other_branch.first, other_branch.no)


def _jump_beyond(parent: Branch) -> Branch:
    """Return to which branch a child of `parent` leads beside it.

    The distances repeat as in the skew binary numbers: then a way back through n branches has about log n
    steps, although each branch leads to two others only.
    """
    far = parent.jump
    farther = None if far is None else far.jump
    if far is not None and farther is not None and parent.depth - far.depth == far.depth - farther.depth:
        return farther
    return parent


class ReplicaChains:
    """The branches of one replica, with its local number. `key` is that of branch 0."""

    __slots__ = ("_tips", "branches", "no", "root_keys", "roots")

    def __init__(self, no: int, key: bytes) -> None:
        self.no = no
        self.root_keys = {0: key}
        """The keys of chains, by the number of the branch with the first commit; read as needed."""
        self.roots: list[Branch] = []
        """The branches that begin with a first commit."""
        self.branches: dict[int, Branch] = {}
        self._tips: dict[tuple[int, bytes], Branch] = {}
        """The branches by counter and hash of their last commit; empty while there is only one branch."""

    @property
    def is_forked(self) -> bool:
        """Return whether one counter of the replica was written twice."""
        return len(self.branches) > 1

    @property
    def next_no(self) -> int:
        """Return the number of the branch that would be begun next."""
        # Numbers are given in turn, and a dictionary keeps them in that order.
        return 1 + next(reversed(self.branches), -1)

    def add_branch(self, branch: Branch) -> None:
        """Add a branch; its number is higher than those of all others."""
        self.branches[branch.no] = branch
        if branch.first == 1:
            self.roots.append(branch)
        if self.is_forked:
            added = (branch,) if self._tips else self.branches.values()
            self._tips.update({(listed.tip, listed.tip_hash): listed for listed in added})

    def branch_ending_in(self, counter: int, digest: bytes) -> Branch | None:
        """Return the branch whose last commit has this counter and hash, None if there is none."""
        if self.is_forked:
            return self._tips.get((counter, digest))
        for branch in self.branches.values():
            if branch.tip == counter and branch.tip_hash == digest:
                return branch
        return None

    def move_tip(self, branch: Branch, counter: int, digest: bytes) -> None:
        """Note the commit that a branch ends in now."""
        if self.is_forked:
            del self._tips[branch.tip, branch.tip_hash]
            self._tips[counter, digest] = branch
        branch.tip, branch.tip_hash = counter, digest
