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
