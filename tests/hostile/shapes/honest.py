"""An honest journal, sent by the same member: what every hostile shape is compared with.

Never writes what a daemon of a person would not write.
"""

from collections.abc import Iterator
from itertools import count

from tests.hostile.chain_writer import entity_id, operation
from tests.hostile.shape import Parcel, Target, shape

_WORDS = (
    *("call", "ask", "write", "plan", "check", "order", "repair", "visit"),
    *("prepare", "read", "send", "clean", "pay", "book", "collect", "return"),
)


def _title(number: int) -> str:
    words = [_WORDS[number // len(_WORDS) ** place % len(_WORDS)] for place in range(4)]
    return " ".join([*words, str(number)])


@shape("nothing: tasks with items, notes, links, edits and ticks, as people write them")
def honest(target: Target, size: int) -> Iterator[Parcel]:
    """Write a task with what belongs to it, and change it, again and again."""
    chain = target.chain("honest")
    before = target.task
    for number in count():
        task, checklist, note, link = (
            entity_id(target.name, kind, number) for kind in ("task", "checklist", "note", "link")
        )
        fields = {
            "title": _title(number),
            "status": "OPEN",
            "priority": f"P{number % 4}",
            "due": "2026-12-24",
        }
        yield chain.write(operation(task, fields))
        task_clock = chain.tip
        title_of_list = {"task_id": task, "title": "Todos", "position": "V"}
        yield chain.write(
            operation(checklist, title_of_list, kind="checklist"), operation(task, {}, base=task_clock)
        )
        list_clock = task_clock = chain.tip
        for place in range(3):
            item = entity_id(target.name, "item", number, place)
            content = {"checklist_id": checklist, "title": _title(number + place), "is_checked": False}
            yield chain.write(
                operation(item, {**content, "position": f"V{place}1"}, kind="checklist_item"),
                operation(checklist, {}, base=list_clock, kind="checklist"),
                operation(task, {}, base=task_clock),
            )
            list_clock = task_clock = item_clock = chain.tip
            yield chain.write(
                operation(item, {"is_checked": True}, base=item_clock, kind="checklist_item"),
                operation(checklist, {}, base=list_clock, kind="checklist"),
                operation(task, {}, base=task_clock),
            )
            list_clock = task_clock = chain.tip
        text = " ".join(_title(number * 7 + step) for step in range(4))
        yield chain.write(
            operation(note, {"task_id": task, "text": text}, kind="entry"),
            operation(task, {}, base=task_clock),
        )
        task_clock = chain.tip
        ends = {"from_id": task, "to_id": before, "type": "relates"}
        yield chain.write(operation(link, ends, kind="link"), operation(task, {}, base=task_clock))
        task_clock = chain.tip
        for status in ("IN PROGRESS", "GROOMED"):
            yield chain.write(operation(task, {"status": status}, base=task_clock))
            task_clock = chain.tip
        before = task
