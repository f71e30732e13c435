"""What a file of JSON lines costs: time and bytes in proportion to its own, whatever is in it.

Never counts seconds: sizes are compared.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from daemon.formats.jsonl import reader
from daemon.formats.jsonl.importer import import_part
from daemon.formats.jsonl.reader import EntityPart
from daemon.refusal import Refused
from store.transaction import Transaction
from tests.daemon.formats.jsonl.files import File, imported
from tests.support.fleet import Fleet, Home
from tests.support.growth import Work, assert_at_most, assert_linear

HEADER, END = '{"format":"placet-jsonl","version":1}', '{"end":true}'
ITEM, REPLICA = "ab" * 16, "22" * 16


def write_row(number: int, **more: Any) -> dict[str, Any]:
    fields = {"by": "user", "at_ms": 1_700_000_000_000 + number, "n": 0, "device": "11" * 32}
    return {**fields, "replica": REPLICA, "counter": number + 1, "hash": f"{number:064x}", **more}


def entity_line(number: int, writes: list[dict[str, Any]], **more: Any) -> str:
    fields = {"id": f"{number:032x}", "kind": "task", "fields": {}, "made": 0, "writes": writes}
    return json.dumps({**fields, "seen": {REPLICA: 1 << 40}, **more})


def file_of(*lines: str) -> File:
    return File(text_of(lines))


def text_of(lines: Iterable[str]) -> str:
    # Each line begins with the id: sorted, they are in the order of ids.
    return "\n".join([HEADER, *sorted(lines), END]) + "\n"


def parts_of(file: File) -> list[EntityPart]:
    reader.count_checked(file)
    return list(reader.read_parts(file))


# --- shapes of files, each with `count` values -------------------------------------------------------


def other_values(count: int) -> list[dict[str, Any]]:
    return [{"value": f"v{place}", "write": 0} for place in range(count)]


def values_beside_each_other(count: int) -> list[str]:
    writes = [write_row(0, fields=["title"])]
    return [entity_line(1, writes, fields={"title": "x"}, conflicts={"title": other_values(count)})]


def fields_of_one_write(count: int) -> list[str]:
    fields = {f"field {place}": place for place in range(count)}
    return [entity_line(1, [write_row(0, fields=list(fields))], fields=fields)]


def writes_of_one_field_each(count: int) -> list[str]:
    fields = {f"field {place}": place for place in range(count)}
    writes = [write_row(place, fields=[name]) for place, name in enumerate(fields)]
    return [entity_line(1, writes, fields=fields)]


def values_on_what_a_rejected_proposal_made(count: int) -> list[str]:
    decision = entity_line(
        2,
        [write_row(0, fields=["item_id", "verdict", "seen"])],
        kind="decision",
        fields={"item_id": {"$id": ITEM}, "verdict": "rejected", "seen": []},
    )
    writes = [write_row(0, by="agent", effect=ITEM), write_row(1, fields=["title"])]
    others = [{"value": f"v{place}", "write": 1} for place in range(count)]
    return [decision, entity_line(1, writes, fields={"title": "x"}, conflicts={"title": others})]


def a_long_entity_among_short_ones(count: int) -> list[str]:
    short = [entity_line(number + 2, [write_row(0)]) for number in range(count // 4)]
    return [*values_beside_each_other(count), *short]


def decisions_that_many_writes_name(count: int) -> list[str]:
    fields = {"item_id": {"$id": ITEM}, "verdict": "confirmed", "seen": []}
    decisions = [
        entity_line(number + 2, [write_row(0, fields=list(fields))], kind="decision", fields=fields)
        for number in range(count // 4)
    ]
    writes = [write_row(place, effect=ITEM, fields=[f"field {place}"]) for place in range(count)]
    values = {f"field {place}": place for place in range(count)}
    return [*decisions, entity_line(1, [*writes, write_row(count)], fields=values, made=count)]


SHAPES = [
    values_beside_each_other,
    fields_of_one_write,
    writes_of_one_field_each,
    values_on_what_a_rejected_proposal_made,
    a_long_entity_among_short_ones,
    decisions_that_many_writes_name,
]
Shape = Callable[[int], list[str]]


class Undone(Exception):
    """Ends a transaction without an effect."""


@contextmanager
def rolled_back() -> Iterator[None]:
    try:
        yield
    except Undone:
        pass


def import_without_effect(home: Home, parts: list[EntityPart]) -> None:
    def run(tx: Transaction) -> None:
        for part in parts:
            import_part(tx, part)
        tx.state_hash()
        raise Undone

    with rolled_back():
        home.write(run)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_of_eight_times_the_size_takes_eight_times_as_long_to_check(shape: Shape) -> None:
    assert_linear(lambda size: partial(reader.count_checked, file_of(*shape(size))), 400)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_of_eight_times_the_size_takes_eight_times_as_long_to_import(
    fleet: Fleet, shape: Shape
) -> None:
    home = fleet.home("new")

    def work(size: int) -> Work:
        return partial(import_without_effect, home, parts_of(file_of(*shape(size))))

    assert_linear(work, 200)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_that_is_there_already_takes_as_long_in_proportion(fleet: Fleet, shape: Shape) -> None:
    homes = {size: fleet.home(f"of {size}") for size in (200, 1600)}

    def work(size: int) -> Work:
        lines = shape(size)
        imported(homes[size], text_of(lines))
        # Each value was edited in the file, so each is compared with all that the journal knows of it.
        edited = [line.replace('"value": "v', '"value": "w') for line in lines]
        return partial(import_without_effect, homes[size], parts_of(file_of(*edited)))

    assert_linear(work, 200)


# --- bytes ------------------------------------------------------------------------------------------


def test_a_long_origin_that_many_values_name_is_refused_and_never_encoded_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "_WRITTEN_FREE_BYTES", 1 << 20)

    def work(size: int) -> Work:
        writes = [write_row(0, fields=["title"], origin={"from": "x" * 30 * size})]
        line = entity_line(1, writes, fields={"title": "x"}, conflicts={"title": other_values(size)})

        def check() -> None:
            with pytest.raises(Refused) as refused:
                reader.count_checked(file_of(entity_line(0, [write_row(0)]), line))
            (detail,) = refused.value.details
            assert "long origins are named again and again" in detail.sentence.text
            assert detail.line == 3
            assert reader.count_checked(file_of(line), is_own=True) == 1

        return check

    assert_linear(work, 700)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_written_is_in_proportion_to_the_file(fleet: Fleet, shape: Shape) -> None:
    lines = shape(1000)
    home = fleet.home("new")
    imported(home, text_of(lines))
    (size,) = home.read(
        lambda snapshot: snapshot.db.execute("SELECT sum(length(body)) FROM feed").fetchone() or (0,)
    )
    assert int(size) <= 32 * sum(map(len, lines))


def test_what_is_seen_is_bounded_and_fits_a_commit_beside_the_longest_value(fleet: Fleet) -> None:
    def line(replicas: int, characters: int) -> str:
        counters = {f"{number:032x}": 1 << 40 for number in range(replicas)}
        writes = [write_row(0, fields=["title"])]
        return entity_line(1, writes, fields={"title": "x" * characters}, seen=counters)

    with pytest.raises(Refused) as refused:
        reader.count_checked(file_of(line(1500, 1)))
    assert "what is seen has" in refused.value.details[0].sentence.text
    with pytest.raises(Refused):
        reader.count_checked(file_of(line(1000, 250_000)))
    text = text_of([line(1000, 220_000)])
    assert imported(fleet.home("new"), text).tasks == 1


def test_an_entity_again_and_again_is_refused_in_linear_time() -> None:
    def work(size: int) -> Work:
        file = file_of(*(entity_line(1, [write_row(number)]) for number in range(size)))

        def check() -> None:
            with pytest.raises(Refused):
                reader.count_checked(file)

        return check

    assert_at_most(24.0, work(200), work(1600))
