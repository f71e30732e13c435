"""Categories: add, list, edit, remove, restore.

Never takes the category from a task: a removed one is out of sight there, and back when it is restored.
"""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.journal import named_entities
from daemon.journal.fields import validation
from daemon.journal.fields.colors import checked_color
from daemon.journal.fields.described_texts import ColorText, LanguageText, NameText
from daemon.journal.references import names
from daemon.journal.references.entities import BaseClock
from daemon.journal.views.lookup import clock_json
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import ClockJson, Conflict
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text

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
    vector_clock: ClockJson
    removed: bool = False


class NewCategory(Struct, frozen=True, forbid_unknown_fields=True):
    """A category to add."""

    name: NameText
    color: ColorText | None = None
    default_language: LanguageText | None = None
    correction_examples: Examples = []


class CategoryEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a category; what is left out stays, null empties."""

    name: NameText | UnsetType = UNSET
    color: ColorText | UnsetType | None = UNSET
    default_language: LanguageText | UnsetType | None = UNSET
    correction_examples: Examples | UnsetType | None = UNSET
    base: BaseClock = None


def list_categories(snapshot: Snapshot, *, removed: bool) -> list[Category]:
    """List categories by name."""
    entities = snapshot.entities(KIND, removed=removed)
    return _present(snapshot, [entity for entity in entities if entity.exists])


def show(snapshot: Snapshot, ref: str) -> Category:
    """Show one category."""
    return _present(snapshot, [names.find_named(snapshot, KIND, ref)])[0]


def add(tx: Transaction, new: NewCategory) -> Category:
    """Make a category; one that is there already, and as it is asked for, stays as it is."""
    fields = _fields(new.color, new.default_language, new.correction_examples or None)
    return _again(tx, named_entities.add(tx, KIND, new.name, fields))


def edit(tx: Transaction, ref: str, change: CategoryEdit) -> Category:
    """Change a category; a name that another one has is refused."""
    category = names.find_named(tx, KIND, ref)
    fields = _fields(change.color, change.default_language, change.correction_examples)
    if change.name is not UNSET:
        fields["name"] = named_entities.require_free_name(tx, category, change.name)
    return _again(tx, named_entities.edit(tx, category, fields, change.base))


def remove(tx: Transaction, ref: str) -> Category:
    """Take a category out of sight, also on the tasks that have it."""
    return _again(tx, named_entities.remove(tx, KIND, ref))


def restore(tx: Transaction, ref: str) -> Category:
    """Bring a removed category back, also on the tasks that have it."""
    return _again(tx, named_entities.restore(tx, KIND, ref))


def _fields(
    shade: str | UnsetType | None, language: str | UnsetType | None, examples: list[str] | UnsetType | None
) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if shade is not UNSET:
        fields["color"] = None if shade is None else checked_color(shade)
    if language is not UNSET:
        fields["default_language"] = None if language is None else validation.checked_language(language)
    if examples is not UNSET:
        lines = [
            line for example in examples or () if (line := validation.checked_remark(example)) is not None
        ]
        fields["correction_examples"] = [*lines] if lines else None
    return fields


def _again(tx: Transaction, category: EntityId) -> Category:
    entity = tx.entity(category)
    assert entity is not None
    return _present(tx, [entity])[0]


def _present(snapshot: Snapshot, entities: list[Entity]) -> list[Category]:
    presenter = JournalPresenter(snapshot)
    doubles = named_entities.duplicate_name_keys(snapshot, KIND)
    categories = [
        Category(
            id=id_to_text(entity.id),
            name=entity.text("name"),
            color=entity.text("color") or None,
            default_language=entity.text("default_language") or None,
            correction_examples=_examples(entity),
            is_double=entity.visible and comparison_key(entity.text("name")) in doubles,
            conflicts=presenter.conflicts(entity),
            vector_clock=clock_json(entity.clock),
            removed=not entity.visible,
        )
        for entity in entities
    ]
    return sorted(categories, key=lambda category: (category.name.casefold(), category.id))


def _examples(category: Entity) -> list[str]:
    stored = category.value("correction_examples")
    return [example for example in stored if isinstance(example, str)] if isinstance(stored, list) else []
