"""The guard of what a person corrected after confirming a proposal: the same proposal needs a later note.

Never trusts what a model says of its evidence, and never guards a value that no proposal was confirmed for.
"""

from collections.abc import Iterable, Iterator, Sequence

from daemon.agents.proposing.sight import Sight
from daemon.agents.proposing.sovereignty import is_later_note, write_time_of
from daemon.agents.tools import summaries
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.effects import Effect, effect_of
from daemon.agents.tools.table import CLEARING_TOOLS, TOOLS, WriteTarget
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.fold.field_versions import Version
from store.fold.item import Item
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

_TICK = "is_checked"  # sovereignty.py guards every tick of a person


def later_word_objection(
    sight: Sight,
    tool: str,
    args: Arguments,
    before: Iterable[Item],
    evidence: Sequence[EntityId],
) -> str | None:
    """Return why a proposal goes back behind a person's later word; None if it does not.

    `before` are the items that proposed the same. If one of them is confirmed, and a person has since written
    another value, or edited the value in the confirmation, that is the person's word. It yields to `evidence`
    alone: visible entries of the task in the person's own words, all of them later than the word. What is
    beyond the `sight` of the agent by now has no word for it.
    """
    if TOOLS[tool].writes is WriteTarget.MEMBER:
        return None  # label_rules.py guards what a person took off, and the rule below what a person gave
    snapshot = sight.snapshot
    confirmed = [item for item in before if item.status is DecisionStatus.CONFIRMED]
    words = [word for item in confirmed for word in _later_words(sight, tool, args, item)]
    if not words:
        return None
    field, latest = max(words, key=lambda word: write_time_of(word[1].source))
    since = write_time_of(latest.source)
    if evidence and all(
        is_later_note(snapshot.entity(entry), confirmed[0].task, since) for entry in evidence
    ):
        return None
    return (
        f"was confirmed before, and the user has {_deed_text(field, latest)} since,"
        f" at {iso_utc(snapshot.shown_ms(since.shown_ms))}."
        " Name in evidenceIds entries that the user wrote after that and that say otherwise"
    )


def clearing_objection(
    snapshot: Snapshot, tool: str, args: Arguments, task: EntityId, evidence: Sequence[EntityId]
) -> str | None:
    """Return why an agent may not take a value away; None if it may, or if the tool takes nothing away.

    What a person set yields to `evidence` alone: visible entries of the task in the person's own words, all
    of them later.
    """
    entity = snapshot.entity(task)
    if tool not in CLEARING_TOOLS or entity is None:
        return None
    fields = effect_of(tool, args, task, task).fields
    versions = [version for field in fields for version in entity.versions(field)]
    by_people = [version for version in versions if version.source.by is not AuthorKind.AGENT]
    if not by_people:
        return None
    since = max(write_time_of(version.source) for version in by_people)
    if evidence and all(is_later_note(snapshot.entity(entry), task, since) for entry in evidence):
        return None
    return (
        f"goes against what the user set at {iso_utc(snapshot.shown_ms(since.shown_ms))}."
        " Name in evidenceIds entries that the user wrote after that and that say so"
    )


def _later_words(sight: Sight, tool: str, args: Arguments, item: Item) -> Iterator[tuple[str, Version]]:
    """Yield the person's versions of what a confirmed item wrote that say something else, with their fields.

    A version that the confirmation had seen is covered by it. So any other was written later, or while apart.
    """
    effect = effect_of(tool, args, item.id, item.task)
    target = sight.snapshot.entity(effect.entity)
    if target is None or not target.exists or sight.hides(target):
        return
    for field, wanted in _guarded_values(effect, target):
        for version in target.versions(field):
            if version.source.by is AuthorKind.USER and version.value != wanted:
                yield field, version


def _guarded_values(effect: Effect, target: Entity) -> Iterator[tuple[str, object]]:
    """Yield the fields in which a person corrects a proposal, each with the value that was proposed."""
    for field, wanted in effect.fields.items():
        # To work on a task that an agent proposed is use, and no correction: so is to have done it.
        is_use = effect.creates and effect.kind == "task" and field != "title"
        if field not in effect.accompanying and field != _TICK and not is_use:
            yield field, wanted
    if effect.creates:
        yield "is_archived", False
        if not target.visible:
            yield DELETED, False


def _deed_text(field: str, word: Version) -> str:
    if field == DELETED:
        return "removed it"
    if field == "is_archived":
        return "archived it" if word.value is True else "taken it out of the archive"
    label = summaries.field_label(field)
    name = label if isinstance(label, str) else label.text
    return f"set {name} to {'nothing' if word.value is None else repr(word.value)}"
