"""What references mean.

Never relies on which ids chance gives: each test makes its own.
"""

import pytest

from daemon.journal import tasks
from daemon.journal.references import entities
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite
from syncproto.ids import id_from_text
from tests.support.fleet import Home


def put(home: Home, identifier: str, title: str) -> None:
    home.write(
        lambda tx: tx.commit([EntityWrite(id_from_text(identifier.ljust(32, "0")), "task", {"title": title})])
    )


def title(home: Home, ref: str, *, removed: bool = False) -> str:
    return home.read(lambda snapshot: entities.find_task(snapshot, ref, removed=removed)).text("title")


def refusal(home: Home, ref: str) -> Refused:
    with pytest.raises(Refused) as error:
        title(home, ref)
    return error.value


@pytest.fixture
def journal_home(a: Home) -> Home:
    put(a, "abc123", "Buy milk")
    put(a, "abc456", "Buy milk and eggs")
    put(a, "fee789", "Straße fegen")
    put(a, "0123ab", "Pay the fee")
    return a


def test_a_full_id_names_its_task(journal_home: Home):
    assert title(journal_home, "abc123".ljust(32, "0")) == "Buy milk"
    assert title(journal_home, "ABC123".ljust(32, "0")) == "Buy milk"


def test_a_unique_prefix_of_three_letters_is_enough(journal_home: Home):
    assert title(journal_home, "012") == "Pay the fee"
    assert title(journal_home, "abc1") == "Buy milk"


def test_a_shared_prefix_lists_what_it_could_mean(journal_home: Home):
    refused = refusal(journal_home, "abc")
    assert refused.code is RefusalCode.AMBIGUOUS
    assert {candidate.title for candidate in refused.candidates} == {"Buy milk", "Buy milk and eggs"}


def test_two_letters_are_no_prefix(journal_home: Home):
    assert refusal(journal_home, "01").code is RefusalCode.NOT_FOUND


def test_part_of_a_title_is_enough_in_any_case(journal_home: Home):
    assert title(journal_home, "EGGS") == "Buy milk and eggs"
    assert title(journal_home, "strasse") == "Straße fegen"


def test_a_whole_title_comes_before_a_longer_one_that_holds_it(journal_home: Home):
    assert title(journal_home, "buy milk") == "Buy milk"


def test_a_part_of_several_titles_is_refused(journal_home: Home):
    assert refusal(journal_home, "milk").code is RefusalCode.AMBIGUOUS


def test_what_is_a_prefix_of_one_and_the_title_of_another_is_refused(journal_home: Home):
    refused = refusal(journal_home, "fee")
    assert refused.code is RefusalCode.AMBIGUOUS
    assert {candidate.title for candidate in refused.candidates} == {"Straße fegen", "Pay the fee"}


@pytest.mark.parametrize("ref", ["nothing like it", "fff", "0" * 32, "z" * 5000])
def test_what_names_nothing_is_not_found_and_says_where_to_look(journal_home: Home, ref):
    refused = refusal(journal_home, ref)
    assert refused.code is RefusalCode.NOT_FOUND
    assert "placet list --all" in refused.hint


@pytest.mark.parametrize("ref", ["", "  "])
def test_an_empty_reference_is_refused(journal_home: Home, ref):
    assert refusal(journal_home, ref).code is RefusalCode.USAGE


def test_a_removed_task_does_not_stand_in_the_way_of_another(journal_home: Home):
    journal_home.write(lambda tx: tasks.remove(tx, "abc123"))
    assert title(journal_home, "milk") == "Buy milk and eggs"
    assert title(journal_home, "abc") == "Buy milk and eggs"
    refused = refusal(journal_home, "abc123")
    assert (refused.code, "restore" in refused.hint) == (RefusalCode.NOT_FOUND, True)
    assert title(journal_home, "abc123", removed=True) == "Buy milk"


def test_a_removed_task_is_named_by_its_title_where_no_task_in_sight_is(journal_home: Home):
    journal_home.write(lambda tx: tasks.remove(tx, "abc456"))
    assert title(journal_home, "milk", removed=True) == "Buy milk"
    assert title(journal_home, "abc", removed=True) == "Buy milk"
    assert title(journal_home, "eggs", removed=True) == "Buy milk and eggs"
    assert title(journal_home, "uy m", removed=True) == "Buy milk"
    journal_home.write(lambda tx: tasks.remove(tx, "abc123"))
    with pytest.raises(Refused) as error:
        title(journal_home, "uy milk", removed=True)
    assert error.value.code is RefusalCode.AMBIGUOUS


def by_id(home: Home, ref: str) -> Refused:
    with pytest.raises(Refused) as error:
        home.read(lambda snapshot: entities.find_entity(snapshot, ["checklist_item"], ref))
    return error.value


@pytest.mark.parametrize("ref", ["", " ", "5", "ab", " ab "])
def test_what_is_too_short_for_an_id_is_told_how_long_one_must_be(journal_home: Home, ref):
    refused = by_id(journal_home, ref)
    assert (refused.code, refused.hint) == (RefusalCode.USAGE, "give at least 3 characters")


def test_what_cannot_be_an_id_is_told_what_one_looks_like(journal_home: Home):
    refused = by_id(journal_home, "the first one")
    assert (refused.code, refused.hint) == (RefusalCode.NOT_FOUND, entities.ID_FORMAT_HINT.text)
    assert by_id(journal_home, "abcdef").hint == ""


def test_no_more_than_eight_candidates_are_listed(a: Home):
    for n in range(12):
        put(a, f"abc{n:03d}", f"Task {n}")
    assert len(refusal(a, "task").candidates) == 8
    assert "more" in refusal(a, "abc").message


def test_another_kind_of_thing_is_no_task(a: Home):
    a.write(
        lambda tx: tx.commit([EntityWrite(id_from_text("abc123".ljust(32, "0")), "label", {"name": "abc"})])
    )
    assert refusal(a, "abc123").code is RefusalCode.NOT_FOUND
    assert refusal(a, "abc123".ljust(32, "0")).code is RefusalCode.NOT_FOUND
