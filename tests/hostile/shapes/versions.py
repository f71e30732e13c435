"""Shapes of the fold: versions, fields, kinds and deletions of single entities.

Never writes what the journal would not store: each of these is a well-formed commit.
"""

from collections.abc import Iterator
from itertools import count, product

from tests.hostile.chain_writer import AGENT, SYSTEM, USER, Clock, entity_id, operation
from tests.hostile.shape import Parcel, Target, shape
from tests.vectors import wire

_FIELDS_OF_A_COMMIT = 200


@shape("versions of one field that nothing covers, by one replica")
def versions_uncovered(target: Target, size: int) -> Iterator[Parcel]:
    """Write a title again and again, and name nothing that was seen."""
    chain = target.chain("versions")
    task = target.subject
    for number in count():
        yield chain.write(operation(task, {"title": f"version {number}"}))


@shape("versions of a field of a task that people use")
def versions_of_an_honest_field(target: Target, size: int) -> Iterator[Parcel]:
    """Write the title of an honest task again and again, and name nothing that was seen."""
    chain = target.chain("versions")
    for number in count():
        yield chain.write(operation(target.task, {"title": f"version {number}"}))


@shape("versions by hundreds of replicas, in turn, of one field")
def versions_of_replicas_in_turn(target: Target, size: int) -> Iterator[Parcel]:
    """Let replicas write the same field by turns, each naming only its own past."""
    chains = [target.chain("turn", number) for number in range(64)]
    task = target.subject
    for number in count():
        chain = chains[number % len(chains)]
        yield chain.write(operation(task, {"title": f"version {number}"}, base=chain.tip))


@shape("many fields, each with versions that nothing covers")
def fields_times_versions(target: Target, size: int) -> Iterator[Parcel]:
    """Write two hundred fields of one task in every commit, and name nothing that was seen."""
    chain = target.chain("fields")
    task = target.subject
    for number in count():
        fields = {f"f{name:03}": number for name in range(_FIELDS_OF_A_COMMIT)}
        yield chain.write(operation(task, fields))


@shape("an entity whose fields never end")
def fields_without_end(target: Target, size: int) -> Iterator[Parcel]:
    """Write new fields of one task in every commit."""
    chain = target.chain("fields")
    task = target.subject
    for number in count():
        names = range(number * _FIELDS_OF_A_COMMIT, (number + 1) * _FIELDS_OF_A_COMMIT)
        yield chain.write(operation(task, {f"f{name:x}": None for name in names}, base=chain.tip))


@shape("an entity whose fields never end, one for each commit")
def field_by_field(target: Target, size: int) -> Iterator[Parcel]:
    """Write one new field of one task in every commit."""
    chain = target.chain("fields")
    task = target.subject
    for number in count():
        yield chain.write(operation(task, {f"f{number:x}": None}, base=chain.tip))


@shape("names of fields as long as they may be")
def longest_names(target: Target, size: int) -> Iterator[Parcel]:
    """Write fields and kinds with 128 characters of four bytes."""
    chain = target.chain("names")
    for number in count():
        name = "\U0001f600" * (wire.NAME_CHARS_MAX - 8) + f"{number:08}"
        yield chain.write(operation(entity_id(target.name, number), {name: True}, kind=name))


@shape("deletions and returns of one task, by turns")
def deletions_that_flip(target: Target, size: int) -> Iterator[Parcel]:
    """Remove a task and bring it back."""
    chain = target.chain("flips")
    task = target.subject
    yield chain.write(operation(task, {"title": "here and gone"}))
    for number in count():
        yield chain.write(operation(task, {"deleted": number % 2 == 0}, base=chain.tip))


@shape("deletions of an honest task that nothing covers")
def deletions_uncovered(target: Target, size: int) -> Iterator[Parcel]:
    """Remove the same task again and again, by heads that an honest device named."""
    chain = target.chain("deletions")
    yield chain.write(operation(target.subject, {"title": "gone"}))
    while True:
        yield chain.write(operation(target.subject, {"deleted": True}))


@shape("creations of other kinds under the id of one entity")
def kinds_under_an_id(target: Target, size: int) -> Iterator[Parcel]:
    """Create something else under one id again and again, each earlier than all before."""
    chain = target.chain("kinds")
    entity = entity_id(target.name, "entity")
    for number in count():
        yield chain.write(operation(entity, {"title": "x"}, kind=f"kind{number}"), stamp=[2**40 - number, 0])


@shape("versions of every rank, by turns")
def versions_of_every_rank(target: Target, size: int) -> Iterator[Parcel]:
    """Write one field as a person, an agent and the system, with and without an effect."""
    chain = target.chain("ranks")
    task = target.subject
    ranks = list(product((USER, AGENT, SYSTEM), (None, target.proposal)))
    for number in count():
        by, effect = ranks[number % len(ranks)]
        yield chain.write(operation(task, {"title": f"rank {number}"}, by=by, effect=effect))


@shape("one entity with two creations for each write of a person that covers them")
def dead_creations(target: Target, size: int) -> Iterator[Parcel]:
    """Create by effects of items that nobody confirms, and cover the creations as a person."""
    chain = target.chain("creations")
    task = target.subject
    clock: Clock = []
    for number in count():
        effect = entity_id(target.name, "item", number)
        yield chain.write(operation(task, {f"f{number % 9}": number}, effect=effect, by=AGENT))
        clock = chain.tip
        yield chain.write(operation(task, {"title": f"cover {number}"}, base=clock))


@shape("concurrent writes of replicas that each cover half of the others")
def half_covering(target: Target, size: int) -> Iterator[Parcel]:
    """Let replicas write one field, each naming the newest heads of every other replica before it."""
    chains = [target.chain("half", number) for number in range(32)]
    task = target.subject
    for number in count():
        chain = chains[number % len(chains)]
        base = sorted(head for other in chains[:: 2 - number % 2] for head in other.tip)
        yield chain.write(operation(task, {"title": f"half {number}"}, base=base))
