"""Shapes of the journal: what people write, in lengths, numbers and forms that no person writes.

Never writes to what another shape writes to, but for the one task that all know.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.hostile.chain_writer import ChainWriter, WrittenCommit, entity_id, operation
from tests.hostile.shape import Parcel, Target, shape
from tests.vectors import wire

_TEXT_BYTES = 200_000
_NAMED_PER_COMMIT = 100


def _create(
    target: Target, chain: ChainWriter, kind: str, number: int, fields: dict[str, Any]
) -> WrittenCommit:
    return chain.write(operation(entity_id(target.name, kind, number), fields, kind=kind))


def _task(target: Target, chain: ChainWriter, title: str) -> tuple[bytes, WrittenCommit]:
    task = target.subject
    return task, chain.write(operation(task, {"title": title, "status": "OPEN"}))


@shape("notes that repeat one word for 200 000 bytes")
def one_word_repeated(target: Target, size: int) -> Iterator[Parcel]:
    """Fill notes of one task with one word."""
    chain = target.chain("words")
    task, written = _task(target, chain, "words")
    yield written
    for number in count():
        text = "paint " * (min(_TEXT_BYTES, size // 4) // 6)
        yield _create(target, chain, "entry", number, {"task_id": task, "text": text})


@shape("notes that are one word of 200 000 bytes")
def one_long_word(target: Target, size: int) -> Iterator[Parcel]:
    """Fill notes of one task with one word without a space."""
    chain = target.chain("words")
    task, written = _task(target, chain, "words")
    yield written
    for number in count():
        text = f"{number}" + "a" * min(_TEXT_BYTES, size // 4)
        yield _create(target, chain, "entry", number, {"task_id": task, "text": text})


@shape("notes of the shortest words, no two the same")
def different_words(target: Target, size: int) -> Iterator[Parcel]:
    """Fill notes with words of three letters and digits, for the index of words."""
    chain = target.chain("words")
    task, written = _task(target, chain, "words")
    yield written
    word = count()
    for number in count():
        text = " ".join(f"{next(word):x}" for _ in range(min(_TEXT_BYTES, size // 4) // 5))
        yield _create(target, chain, "entry", number, {"task_id": task, "text": text})


@shape("notes without end on one task")
def notes_without_end(target: Target, size: int) -> Iterator[Parcel]:
    """Write the shortest notes there are."""
    chain = target.chain("notes")
    task, written = _task(target, chain, "notes")
    yield written
    for number in count():
        yield _create(target, chain, "entry", number, {"task_id": task, "text": "n"})


@shape("notes without end that each touch their task")
def notes_that_touch(target: Target, size: int) -> Iterator[Parcel]:
    """Write notes as the daemon does: with an empty operation on the task, in one commit."""
    chain = target.chain("notes")
    task, written = _task(target, chain, "notes")
    yield written
    for number in count():
        note = operation(entity_id(target.name, number), {"task_id": task, "text": "n"}, kind="entry")
        yield chain.write(note, operation(task, {}, base=chain.tip))


@shape("items without end in one checklist, all at one place")
def items_at_one_place(target: Target, size: int) -> Iterator[Parcel]:
    """Write items whose places are the same."""
    chain = target.chain("items")
    task, written = _task(target, chain, "items")
    yield written
    checklist = entity_id(target.name, "checklist")
    yield chain.write(operation(checklist, {"task_id": task, "title": "all"}, kind="checklist"))
    for number in count():
        fields = {"checklist_id": checklist, "title": "i", "position": "V"}
        yield _create(target, chain, "checklist_item", number, fields)


@shape("places of the most digits that a place may have")
def longest_places(target: Target, size: int) -> Iterator[Parcel]:
    """Write items whose places differ in the last of 200 digits."""
    chain = target.chain("places")
    task, written = _task(target, chain, "places")
    yield written
    checklist = entity_id(target.name, "checklist")
    yield chain.write(operation(checklist, {"task_id": task, "title": "all"}, kind="checklist"))
    for number in count():
        place = "z" * 194 + f"{number:05}" + "1"
        fields = {"checklist_id": checklist, "title": "i", "position": place}
        yield _create(target, chain, "checklist_item", number, fields)


@shape("places of a quarter of a million digits, in a list that people use")
def huge_places(target: Target, size: int) -> Iterator[Parcel]:
    """Write items of an honest checklist whose places are no places."""
    chain = target.chain("places")
    for number in count():
        place = "z" * min(_TEXT_BYTES, size // 4)
        fields = {"checklist_id": target.checklist, "title": "i", "position": place}
        yield _create(target, chain, "checklist_item", number, fields)


@shape("checklists without end on one task")
def checklists_without_end(target: Target, size: int) -> Iterator[Parcel]:
    """Write empty checklists."""
    chain = target.chain("lists")
    task, written = _task(target, chain, "lists")
    yield written
    for number in count():
        yield _create(target, chain, "checklist", number, {"task_id": task, "title": "l", "position": "V"})


@shape("labels without end, all on one task")
def labels_on_a_task(target: Target, size: int) -> Iterator[Parcel]:
    """Make labels, and put each on one task."""
    chain = target.chain("labels")
    task, written = _task(target, chain, "labels")
    yield written
    for number in count():
        label = entity_id(target.name, "label", number)
        name = operation(label, {"name": f"label {number}"}, kind="label")
        yield chain.write(name, operation(task, {f"label_ids/{wire.text(label)}": True}, base=chain.tip))


@shape("labels that do not exist, hundreds on each task")
def labels_of_nothing(target: Target, size: int) -> Iterator[Parcel]:
    """Put labels on tasks that nobody made."""
    chain = target.chain("labels")
    labels = [wire.text(entity_id(target.name, "label", number)) for number in range(_NAMED_PER_COMMIT)]
    for number in count():
        fields = {f"label_ids/{label}": True for label in labels}
        yield _create(target, chain, "task", number, {"title": "labelled", "status": "OPEN", **fields})


@shape("categories and labels with one name")
def names_again(target: Target, size: int) -> Iterator[Parcel]:
    """Make labels, categories and tasks that all have the same name."""
    chain = target.chain("names")
    for number in count():
        yield _create(target, chain, "label", number, {"name": "same"})
        yield _create(target, chain, "category", number, {"name": "same"})
        yield _create(target, chain, "task", number, {"title": "same", "status": "OPEN"})


@shape("a chain of links through all tasks, closed to a ring")
def links_in_a_ring(target: Target, size: int) -> Iterator[Parcel]:
    """Let each task block the next one, and the last the first."""
    chain = target.chain("ring")
    first = last = entity_id(target.name, "task", 0)
    for number in count(1):
        yield _create(target, chain, "task", number - 1, {"title": f"ring {number}", "status": "OPEN"})
        following = entity_id(target.name, "task", number)
        yield _link(target, chain, number, (last, following))
        last = following
        if number % 500 == 0:
            yield _link(target, chain, -number, (last, first))


@shape("links of all kinds between two tasks")
def links_between_two(target: Target, size: int) -> Iterator[Parcel]:
    """Link one task with another again and again, each link of another type."""
    chain = target.chain("links")
    task, written = _task(target, chain, "linked")
    yield written
    for number in count():
        yield _link(target, chain, number, (task, target.task), f"type {number}")


@shape("links from one task to all others")
def links_from_one(target: Target, size: int) -> Iterator[Parcel]:
    """Let one task depend on each task that is made."""
    chain = target.chain("star")
    hub, written = _task(target, chain, "hub")
    yield written
    for number in count():
        yield _create(target, chain, "task", number, {"title": "ray", "status": "OPEN"})
        yield _link(target, chain, number, (hub, entity_id(target.name, "task", number)))


@shape("links of a task to itself, and to nothing")
def links_to_nothing(target: Target, size: int) -> Iterator[Parcel]:
    """Link one task with itself and with what does not exist."""
    chain = target.chain("links")
    task, written = _task(target, chain, "linked")
    yield written
    for number in count():
        other = task if number % 2 else entity_id(target.name, "nothing", number)
        yield _link(target, chain, number, (task, other), f"type {number}")


@shape("timers without end that all run, on one task")
def running_timers(target: Target, size: int) -> Iterator[Parcel]:
    """Start timers and end none."""
    chain = target.chain("timers")
    task, written = _task(target, chain, "timers")
    yield written
    for number in count():
        fields = {"task_id": task, "started_at": "0001-01-01T00:00:00.000Z"}
        yield _create(target, chain, "time_record", number, fields)


@shape("days and moments at the ends of time, and none at all")
def extreme_dates(target: Target, size: int) -> Iterator[Parcel]:
    """Write days that are the first, the last, impossible, and no days."""
    chain = target.chain("dates")
    days: tuple[Any, ...] = (
        "0001-01-01",
        "9999-12-31",
        "2026-02-31",
        "99999-01-01",
        "-0001-01-01",
        "tomorrow",
        "",
        7,
        [],
    )
    for number in count():
        fields = {"title": f"due {number}", "status": "OPEN", "due": days[number % len(days)]}
        yield _create(target, chain, "task", number, fields)


@shape("numbers at the end of their range, and values of other types in every field")
def values_of_other_types(target: Target, size: int) -> Iterator[Parcel]:
    """Write tasks whose fields have values that no field of a task has."""
    chain = target.chain("types")
    values: tuple[Any, ...] = (2**63 - 1, -(2**63), 1.7e308, True, None, b"\xff" * 16, [[]], {"": {}})
    names = ("title", "status", "priority", "estimate_minutes", "due", "language", "category_id")
    for number in count():
        fields = {name: values[(number + place) % len(values)] for place, name in enumerate(names)}
        yield _create(target, chain, "task", number, fields)


@shape("containers as deep as they may be")
def deepest_containers(target: Target, size: int) -> Iterator[Parcel]:
    """Write values of sixteen arrays and maps inside one another."""
    chain = target.chain("deep")
    value: Any = None
    for depth in range(16):
        value = {"": value} if depth % 2 else [value]
    for number in count():
        yield _create(target, chain, "task", number, {"title": "deep", "a": value, "b": value})


@shape("values of as many parts as a commit may have")
def most_items(target: Target, size: int) -> Iterator[Parcel]:
    """Write arrays of ten thousand empty maps."""
    chain = target.chain("parts")
    for number in count():
        yield _create(
            target, chain, "task", number, {"title": "parts", "parts": [{}] * min(10_000, size // 4)}
        )


@shape("titles of 200 000 bytes")
def longest_titles(target: Target, size: int) -> Iterator[Parcel]:
    """Write tasks whose titles fill a commit."""
    chain = target.chain("titles")
    for number in count():
        title = f"{number} " + "long " * (min(_TEXT_BYTES, size // 4) // 5)
        yield _create(target, chain, "task", number, {"title": title, "status": "OPEN"})


@shape("names of control and bidirectional characters")
def control_characters(target: Target, size: int) -> Iterator[Parcel]:
    """Write titles, labels and notes of characters that must be escaped when they are shown."""
    chain = target.chain("control")
    text = "\x1b[2J\u202e\u2066\x00\x07\u0301\U000e0041" * 8
    for number in count():
        fields = {"title": f"{number}{text}", "status": "OPEN", "reason": text}
        yield _create(target, chain, "task", number, fields)
        yield _create(target, chain, "label", number, {"name": f"{number}{text}", "color": text})


@shape("provenance as long as a commit may be")
def longest_origins(target: Target, size: int) -> Iterator[Parcel]:
    """Write tasks with an origin of many parts."""
    chain = target.chain("origins")
    origin = {f"o{number}": [number] for number in range(min(2_000, size // 40))}
    for number in count():
        task = entity_id(target.name, number)
        yield chain.write(operation(task, {"title": "imported"}, origin=origin))


@shape("provenance that claims to come from an export, and is no such thing")
def origins_of_no_export(target: Target, size: int) -> Iterator[Parcel]:
    """Write tasks and notes whose origin contains bytes that are no origin."""
    chain = target.chain("exports")
    inner = (
        *(b"\x81\xa1a\xa3\xed\xa0\x80", b"\x81\xa1a\xd4\x05\x00", b"\x81\xa1a\xd6\xff\x00\x00\x00\x01"),
        *(b"\x81\xa1a\xcb\x7f\xf8" + bytes(6), b"\x81\x01\x01", b"\x81\xa1a" + b"\x91" * 900 + b"\x01"),
        b"\x81\xa1a\x93" + b"\xc0" * 3,
    )
    for number in count():
        was = [1, 0, bytes(32), "away", bytes(16), 1, bytes(32), None, inner[number % len(inner)]]
        counters = [[bytes(number % 20), number], [bytes(16), True]]
        origin = {"by": "import", "format": "jsonl", "was": was, "seen": counters}
        task = entity_id(target.name, number)
        note = operation(
            entity_id(target.name, "note", number),
            {"task_id": task, "text": "n"},
            kind="entry",
            origin=origin,
        )
        yield chain.write(operation(task, {"title": "imported", "status": "OPEN"}, origin=origin), note)


@shape("a label, a category and a task of long names, beside thousands of tasks")
def long_names_at_many_tasks(target: Target, size: int) -> Iterator[Parcel]:
    """Fill half of the bytes with three names, and the rest with what they are shown beside."""
    chain = target.chain("names")
    name = "N" * min(_TEXT_BYTES, size // 6)
    label, category = entity_id(target.name, "label"), entity_id(target.name, "category")
    yield chain.write(operation(label, {"name": name}, kind="label"))
    yield chain.write(operation(category, {"name": name}, kind="category"))
    hub, written = _task(target, chain, name)
    yield written
    for number in count():
        fields = {"title": "t", "category_id": category, f"label_ids/{wire.text(label)}": True}
        yield _create(target, chain, "task", number, fields)
        yield _link(target, chain, number, (entity_id(target.name, "task", number), hub))


@shape("moves of one item through its list")
def moves_without_end(target: Target, size: int) -> Iterator[Parcel]:
    """Tick and move an item of an honest checklist again and again."""
    chain = target.chain("moves")
    base = target.clock
    for number in count():
        fields = {"is_checked": number % 2 == 0, "position": f"V{number % 1000}1"}
        yield chain.write(operation(target.item, fields, kind="checklist_item", base=base))
        base = sorted([*target.clock[:1], *chain.tip])


def _link(
    target: Target, chain: ChainWriter, number: int, ends: tuple[bytes, bytes], kind: str = "blocks"
) -> WrittenCommit:
    fields = {"from_id": ends[0], "to_id": ends[1], "type": kind}
    return _create(target, chain, "link", number, fields)
