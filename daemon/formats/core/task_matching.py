"""Which tasks of a file are known already, if their ids alone do not show it.

Never takes one task of a list for another that only stands in its place: what is archived from the list and
what is new in it must not become one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from daemon.formats.core import child_matching
from daemon.formats.core.exported_ids import exported_keys, exported_tasks
from daemon.formats.core.import_history import ImportHistory, source_id_of
from daemon.formats.core.own_tasks import MatchedPlan, without_own_tasks
from daemon.formats.core.plan import GONE, Plan, PlannedChecklist, PlannedTask, Skipped, describe_skipped
from daemon.formats.core.similarity import TextElement, keys_of, pair_similar
from daemon.journal.fields.validation import CLOSED
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Redacted
from syncproto.ids import EntityId

# Sections with this share of their items and notes in common (Dice) are one, whatever they are called now.
_SHARED_MIN = 0.6
_SHARED_COUNT_MIN = 2
# A line that occurs in more sections than this identifies none of them.
_SECTIONS_MAX = 16


def match_tasks(snapshot: Snapshot, plan: Plan) -> MatchedPlan:
    """Compare a plan with the journal. It reads every task if the format has no ids."""
    if plan.list_key is not None:
        return _match_list(snapshot, plan, plan.list_key)
    return without_own_tasks(snapshot, plan)


# -- lists without ids --------------------------------------------------------------------------------


class _KnownTask(NamedTuple):
    """A task of the list as the journal has it: its id, and under its key what the list last said.

    If a compaction has dropped a long title, only the rest of it is here.
    """

    id: EntityId
    key: str
    said: TextElement


def _tasks_of_list(snapshot: Snapshot, format_: str, list_key: str) -> list[_KnownTask]:
    """Return the tasks that came from a list, in the order in which they came."""
    entities = [*snapshot.entities("task"), *snapshot.entities("task", removed=True)]
    placed: list[tuple[tuple[int, int, EntityId], str, Entity]] = []
    for task in entities:
        source = source_id_of(task)
        if source and task.created and source[0] == format_ and source[1].startswith(f"{list_key}/"):
            placed.append(((task.created.ms, task.created.n, task.id), source[1], task))
    placed.sort(key=lambda placed_task: placed_task[0])
    return [_known_task(snapshot, key, task) for _, key, task in placed]


def _known_task(snapshot: Snapshot, key: str, task: Entity) -> _KnownTask:
    title = ImportHistory(snapshot, task).last_value("title")
    made_ms = ((task.created and task.created.origin) or {}).get("at_ms")
    words = title if isinstance(title, str | Redacted) else ""
    return _KnownTask(task.id, key, TextElement([key], words, made_ms))


def _match_list(snapshot: Snapshot, plan: Plan, list_key: str) -> MatchedPlan:
    """Match the tasks of a list: first by the ids of an export, then those without one by their likeness."""
    exported = exported_tasks(snapshot, plan)
    candidates = _tasks_of_list(snapshot, plan.format, list_key)
    keys = {task.key: key for task, key in exported_keys(snapshot, plan.format, exported.values())}
    ids = {match.key: match.id for match in candidates}
    ids |= {keys[task.key]: task.exported_id for task in exported.values() if task.exported_id}
    exported_ids, used = {task.exported_id for task in exported.values()}, set(keys.values())
    # An id is certain and likeness is a guess, so what an id names is out of the guessing.
    left = [match for match in candidates if match.id not in exported_ids and match.key not in used]
    rest = [task for index, task in enumerate(plan.tasks) if index not in exported]
    taken = {*(match.key for match in candidates), *keys.values()}
    keys |= _keys_by_likeness(snapshot, plan.format, rest, left, taken)
    tasks = (_under(exported.get(index, task), keys) for index, task in enumerate(plan.tasks))
    in_file = set(keys.values())
    gone = [match.id for match in left if match.key not in in_file] if in_file - ids.keys() else []
    return MatchedPlan(replace(plan, tasks=tuple(tasks), gone=tuple(_open_tasks(snapshot, gone))), ids)


def _open_tasks(snapshot: Snapshot, ids: Iterable[EntityId]) -> Iterator[Skipped]:
    for identifier in ids:
        task = snapshot.entity(identifier)
        if task is not None and task.visible and task.value("status") not in CLOSED:
            yield describe_skipped(None, task.text("title"), GONE)


def _keys_by_likeness(
    snapshot: Snapshot,
    format_: str,
    tasks: Sequence[PlannedTask],
    candidates: Sequence[_KnownTask],
    taken: Collection[str],
) -> dict[str, str]:
    """Return the keys of those that the tasks of a list are, by the keys that they have in the file.

    Those in `taken` are keys of tasks that the journal has.
    """
    keys = [keys_of(task.key, f"{task.key}/{{}}".format, taken.__contains__) for task in tasks]
    new = [TextElement(own, task.title, task.made_ms) for own, task in zip(keys, tasks, strict=True)]

    def by_content(pairs: Mapping[int, int]) -> Mapping[int, int]:
        # A heading may be written anew altogether; then only what is under it tells which task it is.
        if format_ not in child_matching.FORMATS_MATCHED_BY_WORDS:
            return {}
        return _same_contents(snapshot, tasks, candidates, pairs)

    pairs = pair_similar(new, [candidate.said for candidate in candidates], by_content)
    return {
        task.key: candidates[pairs[index]].key if index in pairs else keys[index][-1]
        for index, task in enumerate(tasks)
    }


def _under(task: PlannedTask, keys: Mapping[str, str]) -> PlannedTask:
    """Return the task with the keys that it, all that belongs to it, and what it is linked with have."""
    key, cut = keys[task.key], len(task.key)

    def rekey(old: str) -> str:
        return key + old[cut:]

    links = (
        replace(link, key=rekey(link.key), from_key=keys[link.from_key], to_key=keys[link.to_key])
        for link in task.links
    )
    return replace(
        task,
        key=key,
        source=key,
        entries=tuple(replace(entry, key=rekey(entry.key)) for entry in task.entries),
        checklists=tuple(_checklist_under(checklist, rekey) for checklist in task.checklists),
        links=tuple(links),
    )


def _checklist_under(checklist: PlannedChecklist, rekey: Callable[[str], str]) -> PlannedChecklist:
    items = tuple(replace(item, key=rekey(item.key)) for item in checklist.items)
    return replace(checklist, key=rekey(checklist.key), items=items)


def _same_contents(
    snapshot: Snapshot,
    tasks: Sequence[PlannedTask],
    candidates: Sequence[_KnownTask],
    pairs: Mapping[int, int],
) -> dict[int, int]:
    """Pair sections under a quite new heading with removed ones that had much the same content."""
    fresh = {
        task_index: contents
        for task_index, task in enumerate(tasks)
        if task_index not in pairs and (contents := _contents(task))
    }
    if not fresh:
        return {}
    existing_pairs = set(pairs.values())
    missing = {
        n: child_matching.last_imported_texts(snapshot, candidate.id)
        for n, candidate in enumerate(candidates)
        if n not in existing_pairs
    }
    index: dict[str | Redacted, list[int]] = defaultdict(list)
    for n, words in missing.items():
        for word in words:
            index[word].append(n)
    pairs_found: dict[int, int] = {}
    for new_index, contents in fresh.items():
        rare_places = (
            numbers for content in contents if len(numbers := index.get(content, ())) <= _SECTIONS_MAX
        )
        shared = Counter(n for rare_place in rare_places for n in rare_place if n in missing)
        best = max(shared, key=lambda n: (shared[n], -n), default=None)
        # Each section is paired once: two new ones must not become the same task.
        if best is not None and _is_shared(shared[best], len(contents), len(missing[best])):
            pairs_found[new_index] = best
            del missing[best]
    return pairs_found


def _is_shared(count: int, mine: int, theirs: int) -> bool:
    return count >= _SHARED_COUNT_MIN and 2 * count / (mine + theirs) >= _SHARED_MIN


def _contents(task: PlannedTask) -> set[str | Redacted]:
    items = {item.title for checklist in task.checklists for item in checklist.items}
    return {*items, *(entry.text for entry in task.entries)}
