"""Short ids: the way there and back, and what a model reads that names one that is not there.

Never needs a store.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.tools.arguments import ArgumentFault
from daemon.agents.tools.model_interface import ToolCall
from daemon.agents.tools.short_ids import ITEM, LABEL, NO_SHORT_IDS, NOTE, PROPOSAL, ShortIds, short_ids_of
from tests.daemon.agents.models.openai.connected_model import CONTEXT

KINDS = (ITEM, NOTE, LABEL, PROPOSAL)
IDS = st.lists(st.integers(0, 1 << 127).map(lambda number: f"{number:032x}"), unique=True, max_size=8)
FULL = [f"{number:032x}" for number in range(1, 4)]
SHORT_IDS = ShortIds({ITEM: FULL[:2], NOTE: FULL[2:]})


@given(st.dictionaries(st.sampled_from(KINDS), IDS))
def test_each_short_id_leads_back_to_its_own(full_ids: dict[str, list[str]]):
    short_ids = ShortIds(full_ids)
    for kind, identifiers in full_ids.items():
        shortened = [short_ids.short_id(kind, full) for full in identifiers]
        assert shortened == [f"{kind}{number}" for number in range(1, len(identifiers) + 1)]
        assert short_ids.with_full_ids({"evidenceIds": shortened}) == {"evidenceIds": identifiers}


@given(st.dictionaries(st.sampled_from(KINDS), IDS), IDS)
def test_full_ids_are_taken_as_they_are(full_ids: dict[str, list[str]], named: list[str]):
    short_ids = ShortIds(full_ids)
    arguments = {"items": [{"id": full, "title": "i1"} for full in named], "itemIds": named}
    assert short_ids.with_full_ids(arguments) == arguments
    short_ids.require_known_ids("update_checklist_item", {"evidenceIds": named})


def test_short_ids_are_read_within_batches_and_in_no_other_text():
    arguments = {"items": [{"id": " I2", "title": "i1", "evidenceIds": ["n1"]}], "reason": "n1"}
    assert SHORT_IDS.with_full_ids(arguments) == {
        "items": [{"id": FULL[1], "title": "i1", "evidenceIds": [FULL[2]]}],
        "reason": "n1",
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("update_checklist_item", {"id": "i9"}, "id: there is no 'i9'; there are i1 to i2"),
        ("update_checklist_item", {"id": "Buy milk"}, "id: there is no 'Buy milk'; there are i1 to i2"),
        (
            "update_checklist_item",
            {"evidenceIds": ["n2"]},
            "evidenceIds: there is no 'n2'; there are n1 to n1",
        ),
        ("assign_task_label", {"id": "l1"}, "id: there is no 'l1'; this task has nothing of the kind"),
        (
            "retract_proposals",
            {"itemIds": ["p1"]},
            "itemIds: there is no 'p1'; this task has nothing of the kind",
        ),
    ],
)
def test_an_id_that_is_not_there_is_refused_with_those_that_are(
    tool: str, arguments: dict[str, object], answer: str
):
    with pytest.raises(ArgumentFault) as fault:
        SHORT_IDS.require_known_ids(tool, SHORT_IDS.with_full_ids(arguments))
    assert str(fault.value) == answer


def test_a_model_that_was_shown_no_task_is_not_asked_for_short_ids():
    NO_SHORT_IDS.require_known_ids("update_checklist_item", {"id": "i9"})


def test_answers_name_things_as_the_model_does():
    assert SHORT_IDS.abbreviate(f"Skipped 1: {FULL[1]} has expired.") == "Skipped 1: i2 has expired."


def test_what_a_person_reads_later_has_full_ids_and_is_else_as_it_was_written():
    call = ToolCall("update_checklist_items", '{"items": [{"id": "i1"}]}', "a")
    assert SHORT_IDS.call_with_full_ids(call).arguments == {"items": [{"id": FULL[0]}]}
    for kept in (ToolCall("set_task_title", '{"title":  "x"}'), ToolCall("set_task_title", "no JSON")):
        assert SHORT_IDS.call_with_full_ids(kept) is kept


def test_notes_are_numbered_from_the_oldest_on_each_once():
    first, second = (replace(CONTEXT.new_entries[0], id=full) for full in FULL[:2])
    short_ids = short_ids_of(replace(CONTEXT, entries=(first, second), new_entries=(second,)))
    assert [short_ids.short_id(NOTE, full) for full in FULL[:2]] == ["n1", "n2"]
