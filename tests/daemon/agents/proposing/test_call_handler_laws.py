"""Laws of the call handler: no deferrable call is ever executed, and no name slips past a policy.

Never runs a model: calls are drawn, sensible ones and nonsense alike.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from daemon.agents.proposing.change_set_builder import CHANGE_SETS_MAX, ProposalLimits
from daemon.agents.proposing.tool_answers import CallOutcome
from daemon.agents.tools.effects import fingerprint_of
from daemon.agents.tools.table import (
    TOOLS,
    CallMode,
    effective_arguments,
    equivalent_names,
    normalised_name,
    validate_arguments,
)
from daemon.journal.fields.schema import FIELDS_BY_KIND
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import set_policy
from tests.support.fleet import Fleet, Home
from tests.support.tool_calls import At

NOWHERE = "0" * 32


class Ground:
    """A store with tasks to work on; every example takes a task that no example has worked on."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.label = id_to_text(home.new("label", name="bug"))
        self.other = home.new("task", title="Another", status="OPEN")
        self.theirs = id_to_text(self.item(self.other))

    def task(self) -> EntityId:
        return self.home.new("task", title="Write the report", status="OPEN", priority="P2")

    def item(self, task: EntityId) -> EntityId:
        checklist = self.home.new("checklist", task_id=task, title="Todos", position="a")
        return self.home.new("checklist_item", checklist_id=checklist, title="Write", position="a")

    def journal(self) -> dict[EntityId, list[Any]]:
        """Return all that people wrote, with its current values."""

        def use(snapshot: Snapshot) -> dict[EntityId, list[Any]]:
            return {
                entity.id: [
                    (field, entity.versions(field)) for field in entity.fields() if field != "language"
                ]
                for kind in FIELDS_BY_KIND
                for entity in snapshot.entities(kind)
            }

        return self.home.read(use)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    fleet = Fleet(tmp_path_factory.mktemp("laws"))
    yield Ground(fleet.home("a"))
    fleet.close()


# -- what a model may write ---------------------------------------------------------------------------

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
nonsense = st.recursive(
    plain,
    lambda search_strategy: (
        st.lists(search_strategy, max_size=3) | st.dictionaries(st.text(max_size=8), search_strategy)
    ),
    max_leaves=8,
)
titles = st.sampled_from(["Write", "Write the report", "Ship it", " ship IT ", "", "x" * 401])


def ids(ground: Ground, own: EntityId) -> st.SearchStrategy[str]:
    texts = [id_to_text(own), ground.theirs, ground.label, id_to_text(ground.other), NOWHERE, "bug"]
    return st.sampled_from([*texts, *(text.upper() for text in texts)])


def sensible(ground: Ground, own: EntityId) -> st.SearchStrategy[dict[str, Any]]:
    """Draw arguments under the names that tools take, mostly of the right types."""
    members = st.fixed_dictionaries(
        {},
        optional={
            "id": ids(ground, own),
            "title": titles,
            "isChecked": st.booleans(),
            "isArchived": st.booleans(),
            "confidence": st.sampled_from(["low", "high", 0.9]),
            "reason": st.sampled_from(["", "x" * 30]),
            "evidenceIds": st.lists(ids(ground, own), max_size=2),
        },
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "id": ids(ground, own),
            "title": titles,
            "tldr": titles,
            "isChecked": st.booleans(),
            "minutes": st.integers(-5, 1500) | st.sampled_from(["60", "soon"]),
            "dueDate": st.sampled_from(["2026-03-15", "2026-02-30", "tomorrow"]),
            "priority": st.sampled_from(["P1", " p2", "high"]),
            "status": st.sampled_from(["OPEN", "blocked", "in_progress", "DONE", "rejected"]),
            "reason": st.sampled_from(["", "because of that and this"]),
            "languageCode": st.sampled_from(["de", "EN", "?"]),
            "confidence": st.sampled_from(["low", "high", 0.9, "?"]),
            "items": st.lists(members, max_size=25),
            "labels": st.lists(members, max_size=4),
            "observations": st.lists(titles, max_size=4),
            "itemIds": st.lists(ids(ground, own), max_size=3),
            "rationale": st.text(max_size=10),
        },
    )


def fitting(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Leave out arguments that the tool does not know: otherwise nearly every drawn call would be refused."""
    names = {field.encode_name for field in msgspec.structs.fields(TOOLS[tool].arguments)}
    return {key: value for key, value in arguments.items() if key in names}


@st.composite
def garbled(draw: st.DrawFn, name: str) -> str:
    """Draw what a model might make of a tool's name."""
    words = name.split("_")
    shapes = [
        "_".join(words),
        "-".join(words),
        " ".join(words),
        words[0] + "".join(word.title() for word in words[1:]),
        "".join(word.title() for word in words),
        "_".join(words).upper(),
        "-".join(word.title() for word in words),
    ]
    prefixes = [
        "",
        "functions.",
        "functions_",
        "default_api:",
        "tools/",
        "tool_",
        "mcp__placet__",
        "api_",
        " ",
    ]
    return draw(st.sampled_from(prefixes)) + draw(st.sampled_from(shapes)) + draw(st.sampled_from(["", " "]))


# -- laws ---------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_sequence_of_calls_does_anything_that_can_wait(ground: Ground, data: st.DataObject) -> None:
    task = ground.task()
    own = ground.item(task)
    set_policy(ground.home, task, add_task="deferred")
    caller = At(ground.home, task, f"run {id_to_text(task)}")
    before = ground.journal()
    for _ in range(data.draw(st.integers(1, 8), label="calls")):
        tool = data.draw(st.sampled_from(sorted(TOOLS)), label="tool")
        drawn = data.draw(sensible(ground, own), label="arguments")
        answer = caller.take(data.draw(garbled(tool)), fitting(tool, drawn))
        assert answer.tool == tool
        assert answer.text
        assert answer.outcome is not CallOutcome.DENIED
        if TOOLS[tool].mode is not CallMode.IMMEDIATE:
            assert answer.outcome is not CallOutcome.DONE
    proposed = caller.proposed()
    caller.end()
    assert ground.journal() == before
    assert ground.home.value(task, "language") in (None, "de", "en")
    for item in proposed:
        assert TOOLS[item["tool"]].deferrable
        assert validate_arguments(item["tool"], item["args"]) == item["args"]
        assert item["args"].get("id") != ground.theirs


@settings(max_examples=150, deadline=None)
@given(name=st.text(max_size=40) | st.sampled_from(sorted(TOOLS)), document=nonsense | st.text(max_size=60))
def test_the_desk_answers_whatever_a_model_writes(ground: Ground, name: str, document: Any) -> None:
    caller = At(ground.home, ground.other, "nonsense")
    assume(isinstance(document, dict | str))
    answer = caller.take(name, document)
    assert answer.text
    assert (answer.tool is None) == (normalised_name(name) not in TOOLS)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_run_never_queues_more_than_its_limit(ground: Ground, data: st.DataObject) -> None:
    per_set = data.draw(st.integers(1, 4))
    caller = At(ground.home, ground.task(), "many", ProposalLimits(items_per_set=per_set))
    wanted = data.draw(st.integers(1, 20))
    titles_ = [f"item {number}" for number in range(wanted)]
    answer = caller.take("add_multiple_checklist_items", {"items": [{"title": text} for text in titles_]})
    sizes = [len(change_set.fields["items"]) for change_set in caller.desk.change_sets()]  # type: ignore[arg-type]
    most = CHANGE_SETS_MAX * per_set
    assert sum(sizes) == len(answer.items) == min(wanted, most)
    assert all(size <= per_set for size in sizes)
    assert (f"{wanted - most} item(s) refused" in answer.text) == (wanted > most)


@given(tool=st.sampled_from(sorted(TOOLS)), data=st.data())
def test_every_alias_of_a_tool_is_that_tool(tool: str, data: st.DataObject) -> None:
    assert normalised_name(data.draw(garbled(tool))) == tool


@settings(max_examples=60, deadline=None)
@given(tool=st.sampled_from(sorted(TOOLS)), data=st.data())
def test_no_alias_slips_past_a_denied_policy(ground: Ground, tool: str, data: st.DataObject) -> None:
    task = ground.task()
    own = ground.item(task)
    set_policy(ground.home, task, **{data.draw(st.sampled_from(sorted(equivalent_names(tool)))): "denied"})
    caller = At(ground.home, task)
    answer = caller.take(data.draw(garbled(tool)), fitting(tool, data.draw(sensible(ground, own))))
    assert answer.outcome is CallOutcome.DENIED
    assert ground.home.write(caller.desk.run_end_writes) == []
    assert caller.desk.report is None
    assert caller.desk.observations == []


SOUND: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from(["ab" * 16, "01" * 16]),
    "title": st.sampled_from(["Write", " two\nlines "]),
    "isChecked": st.booleans(),
    "isArchived": st.booleans(),
    "minutes": st.integers(1, 1440),
    "dueDate": st.just("2026-03-15"),
    "priority": st.sampled_from(["P1", " p2"]),
    "status": st.sampled_from(["open", "In_Progress", "on-hold"]),
    "languageCode": st.sampled_from(["de", "PT_br"]),
    "confidence": st.sampled_from(["low", "High", 0.9]),
    "reason": st.just("waits for Ann"),
    "evidenceIds": st.just(["cd" * 16]),
    "question": st.sampled_from(["When?", "Which\tone? "]),
    "answers": st.just([{"text": " This "}, {"text": "That", "tool": "none"}]),
    "number": st.integers(1, 2),
}


@st.composite
def sound(draw: st.DrawFn, tool: str) -> dict[str, Any]:
    """Draw arguments that a tool accepts."""
    names = [field.encode_name for field in msgspec.structs.fields(TOOLS[tool].arguments)]
    return {name: draw(SOUND[name]) for name in names}


@given(tool=st.sampled_from(sorted(name for name, tool in TOOLS.items() if tool.deferrable)), data=st.data())
def test_arguments_have_one_form_and_so_have_the_ids_that_follow(tool: str, data: st.DataObject) -> None:
    """Validating again changes nothing. Case, padding, reasons and evidence change no fingerprint."""
    once = validate_arguments(tool, data.draw(sound(tool)))
    assert validate_arguments(tool, once) == once
    reworded = {key: f" {value} " if isinstance(value, str) else value for key, value in once.items()}
    if "id" in once:
        reworded["id"] = f" {once['id'].upper()}"
    reworded |= {"reason": "in other words"} if "reason" in once else {}
    reworded |= {"confidence": 1} if "confidence" in once else {}
    task, other = EntityId(bytes(16)), EntityId(bytes(15) + b"1")
    assert fingerprint_of(task, tool, validate_arguments(tool, reworded)) == fingerprint_of(task, tool, once)
    assert fingerprint_of(other, tool, once) != fingerprint_of(task, tool, once)


@given(data=st.data())
def test_what_differs_in_what_it_does_is_another_proposal(data: st.DataObject) -> None:
    tools = sorted(name for name, tool in TOOLS.items() if tool.deferrable)
    task = EntityId(bytes(16))
    element, other = (
        (tool, validate_arguments(tool, data.draw(sound(tool))))
        for tool in data.draw(st.permutations(tools))[:2]
    )
    assert fingerprint_of(task, *element) != fingerprint_of(task, *other)
    again = (element[0], validate_arguments(element[0], data.draw(sound(element[0]))))
    same = effective_arguments(again[1]) == effective_arguments(element[1])
    assert (fingerprint_of(task, *again) == fingerprint_of(task, *element)) == same


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_retraction_is_all_that_an_agent_ever_decides(ground: Ground, data: st.DataObject) -> None:
    task = ground.task()
    item = ground.home.estimate(task, 120, f"first {id_to_text(task)}")
    caller = At(ground.home, task, f"second {id_to_text(task)}")
    texts = data.draw(
        st.lists(st.sampled_from([id_to_text(item), id_to_text(item).upper(), NOWHERE]), min_size=1)
    )
    caller.ask("retract_proposals", {"itemIds": texts, "reason": "outdated"})
    writes = ground.home.write(caller.desk.run_end_writes)
    assert len(writes) == (id_to_text(item) in {text.lower() for text in texts})
    for write in writes:
        assert (write.kind, write.by) == ("decision", AuthorKind.AGENT)
        assert write.fields["verdict"] == Verdict.RETRACTED.value
        assert write.fields["item_id"] == item
