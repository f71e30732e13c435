"""What references mean.

Never relies on which ids chance gives: each test makes its own.
"""

import pytest

from daemon.journal import refs, tasks
from daemon.journal.errors import Code, Refused
from store.transaction import Write
from syncproto.ids import from_text
from tests.daemon.agents.fleet import Home


def put(home: Home, identifier: str, title: str) -> None:
    home.write(lambda tx: tx.commit([Write(from_text(identifier.ljust(32, "0")), "task", {"title": title})]))


def title(home: Home, ref: str, *, removed: bool = False) -> str:
    return home.read(lambda snapshot: refs.task(snapshot, ref, removed=removed)).text("title")


def refusal(home: Home, ref: str) -> Refused:
    with pytest.raises(Refused) as caught:
        title(home, ref)
    return caught.value


@pytest.fixture
def known(a: Home) -> Home:
    put(a, "abc123", "Buy milk")
    put(a, "abc456", "Buy milk and eggs")
    put(a, "fee789", "Straße fegen")
    put(a, "0123ab", "Pay the fee")
    return a


def test_a_full_id_names_its_task(known: Home):
    assert title(known, "abc123".ljust(32, "0")) == "Buy milk"
    assert title(known, "ABC123".ljust(32, "0")) == "Buy milk"


def test_a_unique_prefix_of_three_letters_is_enough(known: Home):
    assert title(known, "012") == "Pay the fee"
    assert title(known, "abc1") == "Buy milk"


def test_a_shared_prefix_lists_what_it_could_mean(known: Home):
    refused = refusal(known, "abc")
    assert refused.code is Code.AMBIGUOUS
    assert {one.title for one in refused.candidates} == {"Buy milk", "Buy milk and eggs"}


def test_two_letters_are_no_prefix(known: Home):
    assert refusal(known, "01").code is Code.NOT_FOUND


def test_part_of_a_title_is_enough_in_any_case(known: Home):
    assert title(known, "EGGS") == "Buy milk and eggs"
    assert title(known, "strasse") == "Straße fegen"


def test_a_whole_title_comes_before_a_longer_one_that_holds_it(known: Home):
    assert title(known, "buy milk") == "Buy milk"


def test_a_part_of_several_titles_is_refused(known: Home):
    assert refusal(known, "milk").code is Code.AMBIGUOUS


def test_what_is_a_prefix_of_one_and_the_title_of_another_is_refused(known: Home):
    refused = refusal(known, "fee")
    assert refused.code is Code.AMBIGUOUS
    assert {one.title for one in refused.candidates} == {"Straße fegen", "Pay the fee"}


@pytest.mark.parametrize("ref", ["nothing like it", "fff", "0" * 32, "z" * 5000])
def test_what_names_nothing_is_not_found_and_says_where_to_look(known: Home, ref):
    refused = refusal(known, ref)
    assert refused.code is Code.NOT_FOUND
    assert "placet list --all" in refused.hint


@pytest.mark.parametrize("ref", ["", "  "])
def test_an_empty_reference_is_refused(known: Home, ref):
    assert refusal(known, ref).code is Code.USAGE


def test_a_removed_task_does_not_stand_in_the_way_of_another(known: Home):
    known.write(lambda tx: tasks.remove(tx, "abc123"))
    assert title(known, "milk") == "Buy milk and eggs"
    assert title(known, "abc") == "Buy milk and eggs"
    refused = refusal(known, "abc123")
    assert (refused.code, "restore" in refused.hint) == (Code.NOT_FOUND, True)
    assert title(known, "abc123", removed=True) == "Buy milk"


def test_a_removed_task_is_named_by_its_title_where_no_task_in_sight_is(known: Home):
    known.write(lambda tx: tasks.remove(tx, "abc456"))
    assert title(known, "milk", removed=True) == "Buy milk"
    assert title(known, "abc", removed=True) == "Buy milk"
    assert title(known, "eggs", removed=True) == "Buy milk and eggs"
    assert title(known, "uy m", removed=True) == "Buy milk"
    known.write(lambda tx: tasks.remove(tx, "abc123"))
    with pytest.raises(Refused) as caught:
        title(known, "uy milk", removed=True)
    assert caught.value.code is Code.AMBIGUOUS


def by_id(home: Home, ref: str) -> Refused:
    with pytest.raises(Refused) as caught:
        home.read(lambda snapshot: refs.entity(snapshot, ["checklist_item"], ref))
    return caught.value


@pytest.mark.parametrize("ref", ["", " ", "5", "ab", " ab "])
def test_what_is_too_short_for_an_id_is_told_how_long_one_must_be(known: Home, ref):
    refused = by_id(known, ref)
    assert (refused.code, refused.hint) == (Code.USAGE, "give at least 3 characters")


def test_what_cannot_be_an_id_is_told_what_one_looks_like(known: Home):
    refused = by_id(known, "the first one")
    assert (refused.code, refused.hint) == (Code.NOT_FOUND, refs.ID_IN_WORDS)
    assert by_id(known, "abcdef").hint == ""


def test_no_more_than_eight_candidates_are_listed(a: Home):
    for n in range(12):
        put(a, f"abc{n:03d}", f"Task {n}")
    assert len(refusal(a, "task").candidates) == 8
    assert "more" in refusal(a, "abc").message


def test_another_kind_of_thing_is_no_task(a: Home):
    a.write(lambda tx: tx.commit([Write(from_text("abc123".ljust(32, "0")), "label", {"name": "abc"})]))
    assert refusal(a, "abc123").code is Code.NOT_FOUND
    assert refusal(a, "abc123".ljust(32, "0")).code is Code.NOT_FOUND
