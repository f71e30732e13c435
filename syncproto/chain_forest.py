"""Commits of one forked replica in the order of its chains: what lies on a chain is found by a search.

Never looks a commit up: callers say where each of them is.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T", bound=Hashable)


class ChainPlace(Protocol):
    """Where a commit is among the chains of its replica.

    Places have an order: a commit comes before all that follow it, and those come before all others.
    """

    def __lt__(self, other: Any) -> bool:
        """Return whether it comes before another place of the same replica."""

    def leads_to(self, other: Any) -> bool:
        """Return whether it lies on the chain that ends in another place, or is that place."""


class _Node(Generic[T]):
    """An item with its place. `parent` is the last item before it on its chain, perhaps removed since."""

    __slots__ = ("is_there", "item", "parent", "place")

    def __init__(self, place: ChainPlace, item: T, parent: "_Node[T] | None") -> None:
        self.place = place
        self.item = item
        self.parent = parent
        self.is_there = True


_place_of = attrgetter("place")


class ChainForest(Generic[T]):
    """Items at commits of one replica, at most one item for each commit.

    A question costs a search, and a step for each item on the chain in question.
    """

    def __init__(self, items: Iterable[tuple[ChainPlace, T]] = ()) -> None:
        self._nodes: list[_Node[T]] = sorted(
            (_Node(place, item, None) for place, item in items), key=_place_of
        )
        self._node_of = {node.item: node for node in self._nodes}
        chain: list[_Node[T]] = []
        for node in self._nodes:
            while chain and not chain[-1].place.leads_to(node.place):
                chain.pop()
            node.parent = chain[-1] if chain else None
            chain.append(node)

    def __iter__(self) -> Iterator[T]:
        """Yield the items in the order of their places."""
        return (node.item for node in self._nodes)

    def covers(self, place: ChainPlace) -> bool:
        """Return whether some item is at this place, or follows it."""
        index = bisect_left(self._nodes, place, key=_place_of)
        return index < len(self._nodes) and place.leads_to(self._nodes[index].place)

    def chain_to(self, place: ChainPlace) -> list[T]:
        """Return the items on the chain that ends in a place, the last one first."""
        items = []
        node = self._last_before(bisect_right(self._nodes, place, key=_place_of), place)
        while node is not None:
            items.append(node.item)
            node = self._parent(node)
        return items

    def add(self, place: ChainPlace, item: T) -> None:
        """Add an item at a place that has none."""
        index = bisect_right(self._nodes, place, key=_place_of)
        node = _Node(place, item, self._last_before(index, place))
        self._nodes.insert(index, node)
        self._node_of[item] = node
        # Causes usually come first: then nothing follows it yet.
        for later_index in range(index + 1, len(self._nodes)):
            later = self._nodes[later_index]
            if not place.leads_to(later.place):
                break
            if self._parent(later) is node.parent:
                later.parent = node

    def remove(self, item: T) -> None:
        """Remove an item."""
        node = self._node_of.pop(item)
        node.is_there = False
        del self._nodes[bisect_left(self._nodes, node.place, key=_place_of)]

    def _last_before(self, index: int, place: ChainPlace) -> _Node[T] | None:
        """Return the last item on the chain to a place before which `index` items come."""
        node = self._nodes[index - 1] if index else None
        # Whatever is on the chain and comes before that item has that item after it on a chain too.
        while node is not None and not node.place.leads_to(place):
            node = self._parent(node)
        return node

    def _parent(self, node: _Node[T]) -> _Node[T] | None:
        parent = node.parent
        while parent is not None and not parent.is_there:
            parent = parent.parent
        # The way over what was removed is gone once.
        node.parent = parent
        return parent
