"""Shapes of the log: replicas, forks, tiny and huge commits, pages, bases and stamps.

Never sends a commit that a device must refuse: each of these has to be taken.
"""

from collections.abc import Iterator
from itertools import count

from tests.hostile.chain_writer import ChainWriter, Clock, WrittenCommit, entity_id, operation
from tests.hostile.shape import FIRST, SECOND, PageEnd, Parcel, Target, ToDevice, shape
from tests.vectors import wire

OPERATIONS_FULL = wire.OPERATIONS_MAX


@shape("replicas without end, each device given others")
def replicas_apart(target: Target, size: int) -> Iterator[Parcel]:
    """Begin replicas of one commit each, half at each device."""
    for number in count():
        written = target.chain(number).write(operation(entity_id(target.name, number), {}))
        yield ToDevice(number % 2, written)


@shape("replicas without end that all write to one entity")
def replicas_on_an_entity(target: Target, size: int) -> Iterator[Parcel]:
    """Begin replicas that each write one field of one task and name nothing that they saw."""
    task = target.subject
    for number in count():
        yield target.chain(number).write(operation(task, {"title": f"version {number}"}))


@shape("forks without end under one counter, each device given others")
def forks_apart(target: Target, size: int) -> Iterator[Parcel]:
    """Write the second commit of one replica again and again."""
    chain = target.chain("trunk")
    yield from _to_both(chain.write(operation(entity_id(target.name, "trunk"), {})))
    for number in count():
        written = chain.branch().write(operation(entity_id(target.name, number), {}))
        yield ToDevice(number % 2, written)


@shape("forks without end on one entity")
def forks_on_an_entity(target: Target, size: int) -> Iterator[Parcel]:
    """Write the second commit of one replica again and again, each a version of one field."""
    task = target.subject
    chain = target.chain("trunk")
    yield chain.write(operation(task, {"title": "trunk"}))
    for number in count():
        yield chain.branch().write(operation(task, {"title": f"branch {number}"}))


@shape("two branches of one replica that each grow without end, one at each device")
def long_branches_apart(target: Target, size: int) -> Iterator[Parcel]:
    """Grow two branches by turns."""
    chain = target.chain("trunk")
    yield from _to_both(chain.write(operation(entity_id(target.name, "trunk"), {})))
    branches = (chain, chain.branch())
    for number in count():
        operations = operation(entity_id(target.name, number), {})
        yield ToDevice(number % 2, branches[number % 2].write(operations))


@shape("a fork at every counter of a long chain, on one entity")
def fork_comb(target: Target, size: int) -> Iterator[Parcel]:
    """Give every commit of a chain a twin that nothing follows."""
    task = target.subject
    chain = target.chain("trunk")
    yield chain.write(operation(task, {"title": "trunk"}))
    for number in count():
        base = chain.tip
        yield chain.branch().write(operation(task, {"title": f"tooth {number}"}, base=base))
        yield chain.write(operation(task, {"title": f"comb {number}"}, base=base))


@shape("bases of a thousand heads of one forked replica")
def bases_of_branches(target: Target, size: int) -> Iterator[Parcel]:
    """Fork a replica for a quarter of the bytes; another one then names branches as bases."""
    chain = target.chain("trunk")
    yield chain.write(operation(entity_id(target.name, "trunk"), {}))
    yield from _named_as_bases(target, size, (chain.branch() for _ in count()))


@shape("bases of a thousand heads of as many replicas")
def bases_of_replicas(target: Target, size: int) -> Iterator[Parcel]:
    """Begin replicas for a quarter of the bytes; another one then names them as bases."""
    yield from _named_as_bases(target, size, (target.chain("named", number) for number in count()))


def _named_as_bases(target: Target, size: int, writers: Iterator[ChainWriter]) -> Iterator[Parcel]:
    heads: Clock = []
    sent = 0
    for number, writer in enumerate(writers):
        if sent >= size // 4 or number >= wire.HEADS_MAX:
            break
        written = writer.write(operation(entity_id(target.name, "named", number), {}))
        sent += len(written.body) + 64
        heads.append(written.head)
        yield written
    heads.sort()
    task = target.subject
    naming = target.chain("naming")
    yield naming.write(operation(task, {"title": "named"}, base=heads))
    for number in count():
        yield naming.write(
            operation(task, {"title": f"named {number}"}, base=sorted([*heads[1:], *naming.tip]))
        )


@shape("the smallest commits there are, on one entity")
def smallest_commits(target: Target, size: int) -> Iterator[Parcel]:
    """Write one operation without fields again and again."""
    chain = target.chain("smallest")
    entity = entity_id(target.name, "entity")
    while True:
        yield chain.write(operation(entity, {}, kind="x", base=chain.tip))


@shape("the smallest commits there are, each on an entity of its own")
def smallest_entities(target: Target, size: int) -> Iterator[Parcel]:
    """Create entities without fields, one commit each."""
    chain = target.chain("smallest")
    for number in count():
        yield chain.write(operation(entity_id(target.name, number), {}, kind="x"))


@shape("a page for each of the smallest commits")
def smallest_pages(target: Target, size: int) -> Iterator[Parcel]:
    """Send each commit in a page of its own, which is a transaction and an Ack for each."""
    chain = target.chain("smallest")
    for number in count():
        yield chain.write(operation(entity_id(target.name, number), {}, kind="x"))
        yield PageEnd()


@shape("commits of 2048 operations, each creating an entity")
def most_operations(target: Target, size: int) -> Iterator[Parcel]:
    """Create as many entities as a commit can hold."""
    chain = target.chain("full")
    for number in count():
        names = range(number * OPERATIONS_FULL, (number + 1) * OPERATIONS_FULL)
        yield chain.write(*(operation(entity_id(target.name, name), {}, kind="x") for name in names))


@shape("commits that each write to the same 2048 entities")
def most_entities_again(target: Target, size: int) -> Iterator[Parcel]:
    """Touch the same entities again and again, with what was seen before."""
    chain = target.chain("full")
    entities = [entity_id(target.name, number) for number in range(OPERATIONS_FULL // 4)]
    while True:
        yield chain.write(*(operation(entity, {}, kind="x", base=chain.tip) for entity in entities))


@shape("stamps at the limit of their range")
def stamps_at_the_limit(target: Target, size: int) -> Iterator[Parcel]:
    """Write tasks at the end and at the beginning of time by turns."""
    chain = target.chain("stamps")
    for number in count():
        stamp = [2**48 - 1, 2**32 - 1] if number % 2 else [0, 0]
        yield chain.write(operation(entity_id(target.name, number), {"title": "when"}), stamp=stamp)


@shape("pages that were taken already, again and again")
def pages_again(target: Target, size: int) -> Iterator[Parcel]:
    """Send the same eighth of the bytes eight times."""
    chain = target.chain("again")
    entities = [entity_id(target.name, number) for number in range(max(size // 8 // 150, 1))]
    page = [chain.write(operation(entity, {"title": "again"})) for entity in entities]
    while True:
        yield from page
        yield PageEnd()


@shape("values dropped from commits, and brought back in a second spelling of each")
def dropped_and_brought_back(target: Target, size: int) -> Iterator[Parcel]:
    """Send notes without their texts, then the same commits with them."""
    chain = target.chain("dropped")
    whole: list[WrittenCommit] = []
    sent = 0
    for number in count():
        fields = {"task_id": target.task, "text": f"note {number} " + "word " * 30}
        whole.append(chain.write(operation(entity_id(target.name, number), fields, kind="entry")))
        dropped = whole[-1].without_long_values()
        sent += len(dropped.body) + len(whole[-1].body)
        yield dropped
        if sent >= size:
            break
    yield PageEnd()
    yield from whole


@shape("commits without their values at one device, and whole at the other")
def dropped_apart(target: Target, size: int) -> Iterator[Parcel]:
    """Give one device what is left of the notes, and the other one the notes."""
    chain = target.chain("dropped")
    for number in count():
        fields = {"task_id": target.task, "text": f"note {number} " + "word " * 30}
        written = chain.write(operation(entity_id(target.name, number), fields, kind="entry"))
        yield ToDevice(FIRST, written.without_long_values())
        yield ToDevice(SECOND, written)


@shape("bases far in the past of a long chain")
def old_bases(target: Target, size: int) -> Iterator[Parcel]:
    """Write one task by bases that lag behind by as much as was written."""
    chain = target.chain("old")
    task = target.subject
    clocks: list[Clock] = []
    for number in count():
        base = clocks[number // 2] if clocks else []
        yield chain.write(operation(task, {"title": f"title {number}"}, base=base))
        clocks.append(chain.tip)


def _to_both(written: WrittenCommit) -> Iterator[Parcel]:
    yield ToDevice(FIRST, written)
    yield ToDevice(SECOND, written)
