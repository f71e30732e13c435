"""Lines of JSON that cannot be read: what of a file comes in without them, and once it is mended.

Never expects a thing without what it belongs to.
"""

import json
from functools import partial

import pytest

from daemon.formats.core.importer import FaultyFile
from daemon.formats.jsonl import left_out, reader
from daemon.formats.jsonl.importer import import_part
from daemon.journal import checklist_items, entries, links, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.links import NewLink
from daemon.journal.tasks import NewTask
from store.transaction import EntityWrite
from tests.daemon.formats.jsonl.files import File, exported, imported
from tests.daemon.formats.transfers import stored_tasks
from tests.support.fleet import Fleet, Home
from tests.support.stores import entity_id


def fill(home: Home) -> None:
    """Write two tasks with a note and an item each, and a link between them."""
    for title in ("rake", "dig"):
        home.write(partial(tasks.add, new=NewTask(title=title)))
        home.write(partial(entries.add, ref=title, new=NewEntry(text="words")))
        home.write(partial(checklist_items.add_item, ref=title, new=NewItem(title="leaves")))
    home.write(partial(links.add, ref="rake", new=NewLink(type="blocks", to="dig")))


def without_faulty(home: Home, text: str) -> tuple[list[int], int]:
    """Import what can be read; return the lines that cannot, and how much belongs to them."""
    file = File(text)
    checked = reader.check(file, skip_faulty=True)
    missing = home.read(partial(left_out.not_in_journal, ids=checked.faulty_ids))
    loose = left_out.find_belongings(file, missing)
    for part in reader.read_parts(file, loose):
        home.write(partial(import_part, part=part))
    return [fault.line for fault in checked.faults], len(loose)


def test_what_belongs_to_a_line_that_cannot_be_read_waits_for_it(fleet: Fleet) -> None:
    a, b, c = (fleet.home(name) for name in "abc")
    fill(a)
    text = exported(a)
    lines = text.splitlines(keepends=True)
    broken = next(n for n, line in enumerate(lines) if '"dig"' in line)
    faulty = "".join([*lines[:broken], lines[broken].replace('"kind"', '"sort"'), *lines[broken + 1 :]])
    with pytest.raises(FaultyFile) as refusal:
        imported(b, faulty)
    assert refusal.value.has_more
    # Its note, its checklist with an item, and the link.
    assert without_faulty(b, faulty) == ([broken + 1], 4)
    assert [task.title for task in stored_tasks(b)] == ["rake"]
    assert len([line for line in exported(b).splitlines() if '"kind":"entry"' in line]) == 1
    imported(b, text)
    imported(c, text)
    assert _without_clocks(exported(b)) == _without_clocks(exported(c))
    # Of what the journal has nothing is missing, whatever the file says of it.
    assert without_faulty(b, faulty) == ([broken + 1], 0)


def _without_clocks(text: str) -> list[object]:
    return [json.loads(line).get("fields") for line in text.splitlines()]


def test_of_a_file_that_was_cut_off_there_is_what_was_written(fleet: Fleet) -> None:
    a, b = fleet.home("a"), fleet.home("b")
    a.write(partial(tasks.add, new=NewTask(title="rake")))
    a.write(partial(tasks.add, new=NewTask(title="dig")))
    text = exported(a)
    cut = text[: text.rindex('"id"') + 60]
    (line,), loose = without_faulty(b, cut)[0][-1:], without_faulty(b, cut)[1]
    assert (line, loose, len(stored_tasks(b))) == (cut.count("\n") + 1, 0, 1)


class CountedFile(File):
    """A file that counts how often it is read."""

    readings = 0

    def rewind(self) -> None:
        self.readings += 1
        super().rewind()


def test_a_long_chain_of_things_that_belong_to_one_another_is_read_twice(a: Home) -> None:
    # Each one belongs to the next, so that reading on finds one at a time.
    chain = [EntityWrite(entity_id(n), "checklist", {"task_id": entity_id(n + 1)}) for n in range(1, 20)]
    a.write(lambda tx: tx.commit(chain))
    file = CountedFile(exported(a))
    loose = left_out.find_belongings(file, {entity_id(20)})
    assert (len(loose), file.readings) == (19, 2)
