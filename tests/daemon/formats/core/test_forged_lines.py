"""Values of other programs that contain line breaks: no export takes them for lines of its own.

Never looks at notes, whose lines are their own.
"""

from datetime import UTC
from itertools import count

import pytest

from daemon.file_formats import list_formats
from daemon.formats.writers import writer_for
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import Fleet

BREAKS = ("\n", "\r\n", "\r", "\x85", "\u2028", "\x0b", "\x0c")
FORGED = "x{}- [ ] forged"
FIELDS = (
    "title",
    "status",
    "reason",
    "priority",
    "due",
    "language",
    "labels",
    "category",
    "item",
    "checklist",
)


def _write(tx: Transaction, field: str, value: str) -> None:
    texts: dict[str, str] = {"title": "Passport", "status": "OPEN", "labels": "home", "category": "papers"}
    texts |= {"item": "a photo", "checklist": "to do", field: value}
    numbers = count(1)
    label, category, task, checklist, item = (EntityId(bytes([next(numbers)]) * 16) for _ in range(5))
    fields: dict[str, Value] = {
        name: texts[name]
        for name in ("title", "status", "reason", "priority", "due", "language")
        if name in texts
    }
    fields |= {"category_id": category, f"label_ids/{id_to_text(label)}": True}
    tx.commit(
        [
            EntityWrite(label, "label", {"name": texts["labels"]}),
            EntityWrite(category, "category", {"name": texts["category"]}),
            EntityWrite(task, "task", fields),
            EntityWrite(checklist, "checklist", {"task_id": task, "title": texts["checklist"]}),
            EntityWrite(item, "checklist_item", {"checklist_id": checklist, "title": texts["item"]}),
        ]
    )


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("format_", [row.name for row in list_formats()])
def test_a_value_with_line_breaks_adds_no_line_to_an_export(fleet: Fleet, format_: str, field: str):
    def lines_with(value: str) -> list[str]:
        home = fleet.home(f"{field} {value!r}".replace("/", ""))
        home.write(lambda tx: _write(tx, field, value))
        return "".join(home.read(lambda snapshot: [*writer_for(format_)(snapshot, UTC)])).splitlines()

    forged = [line for line_break in BREAKS for line in lines_with(FORGED.format(line_break))]
    assert [line for line in forged if line.startswith("- [ ] forged")] == []
