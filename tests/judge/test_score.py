"""The judge's verdicts: what counts as right, harmless and wrong, and what is missing.

Never asks a model.
"""

import pytest

from tests.judge.score import Totals, Verdict, is_in_language, judge, meets


@pytest.mark.parametrize(
    ("proposal", "claim"),
    [
        ("due 2026-03-20", "due 2026-03-20"),
        ("add Get two passport photos taken", "add photo"),
        ("add Fotos und Paß holen", "add foto pass"),
        ("check Comanda ușa", "check usa"),
        ("add Rechnung überweisen", "add bezahl|uberweis"),
        ("status BLOCKED", "status *"),
    ],
)
def test_a_proposal_meets_a_claim_by_its_value_or_by_parts_of_its_words(proposal: str, claim: str):
    assert meets(proposal, claim)


@pytest.mark.parametrize(
    ("proposal", "claim"),
    [
        ("due 2026-03-21", "due 2026-03-20"),
        ("estimate 900", "estimate 90"),
        ("add photo", "check photo"),
        ("add photos", "add photos passport"),
        ("priority P1", "priority P0"),
    ],
)
def test_another_value_kind_or_a_missing_word_does_not_meet_it(proposal: str, claim: str):
    assert not meets(proposal, claim)


def test_each_wanted_claim_is_met_once_and_a_second_proposal_of_it_is_harmless():
    judgement = judge(["add photos", "add more photos", "priority P0"], ["add photo", "estimate 90"], [])
    assert [verdict for _, verdict in judgement.verdicts] == [Verdict.RIGHT, Verdict.HARMLESS, Verdict.WRONG]
    assert judgement.missing == ("estimate 90",)


def test_what_nobody_asked_for_is_wrong_even_if_nothing_was_wanted():
    judgement = judge(["status IN PROGRESS", "title X"], [], ["status IN PROGRESS"])
    assert judgement.count(Verdict.HARMLESS) == judgement.count(Verdict.WRONG) == 1


def test_shares_are_of_all_proposals_and_zero_without_any():
    totals = Totals(right=3, harmless=1, wrong=0, missing=9)
    assert (totals.proposals, totals.share(totals.right)) == (4, 0.75)
    assert Totals().share(0) == 0.0


def test_the_language_of_a_report_is_told_only_if_it_is_clear():
    assert is_in_language("Es fehlen noch die Fotos und der alte Pass, dann kann der Antrag weg.", "de")
    assert is_in_language("There is still one thing to do before the form can be handed in.", "de") is False
    assert is_in_language("OK", "de") is None
