"""Categories: add, list, edit, remove, restore.

Never takes the category from a task: a removed one is out of sight there, and back when it is restored.
"""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.journal import named, names, values
from daemon.journal.colors import color
from daemon.journal.show import Shown, vector_clock
from daemon.journal.tasks import Base
from daemon.journal.values import folded
from daemon.journal.views import Conflict, VectorClock
from store.entity import Entity
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, text

KIND: Final = "category"
EXAMPLES_MAX = 100

Examples = Annotated[
    list[str],
    Meta(max_length=EXAMPLES_MAX, description="How words that are often misheard are written, a line each."),
]


class Category(Struct, frozen=True, kw_only=True):
    """A category. `is_double`: another one in sight has the same name."""

    id: str
    name: str
    color: str | None
    default_language: str | None
    correction_examples: list[str]
    is_double: bool
    conflicts: list[Conflict]
    vector_clock: VectorClock
    removed: bool = False


class NewCategory(Struct, frozen=True, forbid_unknown_fields=True):
    """A category to add."""

    name: str
    color: str | None = None
    default_language: str | None = None
    correction_examples: Examples = []


class CategoryEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a category; what is left out stays, null empties."""

    name: str | UnsetType = UNSET
    color: str | UnsetType | None = UNSET
    default_language: str | UnsetType | None = UNSET
    correction_examples: Examples | UnsetType | None = UNSET
    base: Base = None


def listed(snapshot: Snapshot, *, removed: bool) -> list[Category]:
    """List categories by name."""
    held = snapshot.entities(KIND, removed=removed)
    return _shown(snapshot, [one for one in held if one.exists])


def show(snapshot: Snapshot, ref: str) -> Category:
    """Show one category."""
    return _shown(snapshot, [names.find(snapshot, KIND, ref)])[0]


def add(tx: Transaction, new: NewCategory) -> Category:
    """Make a category; one that is there already, and as it is asked for, stays as it is."""
    fields = _fields(new.color, new.default_language, new.correction_examples or None)
    return _again(tx, named.add(tx, KIND, new.name, fields))


def edit(tx: Transaction, ref: str, change: CategoryEdit) -> Category:
    """Change a category; a name that another one has is refused."""
    category = names.find(tx, KIND, ref)
    fields = _fields(change.color, change.default_language, change.correction_examples)
    if change.name is not UNSET:
        fields["name"] = named.free_name(tx, category, change.name)
    return _again(tx, named.edit(tx, category, fields, change.base))


def remove(tx: Transaction, ref: str) -> Category:
    """Take a category out of sight, also on the tasks that have it."""
    return _again(tx, named.remove(tx, KIND, ref))


def restore(tx: Transaction, ref: str) -> Category:
    """Bring a removed category back, also on the tasks that have it."""
    return _again(tx, named.restore(tx, KIND, ref))


def _fields(
    shade: str | UnsetType | None, language: str | UnsetType | None, examples: list[str] | UnsetType | None
) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if shade is not UNSET:
        fields["color"] = None if shade is None else color(shade)
    if language is not UNSET:
        fields["default_language"] = None if language is None else values.language(language)
    if examples is not UNSET:
        lines = [line for one in examples or () if (line := values.remark(one)) is not None]
        fields["correction_examples"] = [*lines] if lines else None
    return fields


def _again(tx: Transaction, category: EntityId) -> Category:
    held = tx.entity(category)
    assert held is not None
    return _shown(tx, [held])[0]


def _shown(snapshot: Snapshot, held: list[Entity]) -> list[Category]:
    shown = Shown(snapshot)
    doubles = named.doubles(snapshot, KIND)
    categories = [
        Category(
            id=text(one.id),
            name=one.text("name"),
            color=one.text("color") or None,
            default_language=one.text("default_language") or None,
            correction_examples=_examples(one),
            is_double=one.visible and folded(one.text("name")) in doubles,
            conflicts=shown.conflicts(one),
            vector_clock=vector_clock(one.clock),
            removed=not one.visible,
        )
        for one in held
    ]
    return sorted(categories, key=lambda one: (one.name.casefold(), one.id))


def _examples(category: Entity) -> list[str]:
    kept = category.value("correction_examples")
    return [one for one in kept if isinstance(one, str)] if isinstance(kept, list) else []
