"""What prose says that the writer has to do: it becomes items, and what only sounds like it does not.

Never counts how often that is right: `test_accuracy.py` does, on notes of real life.
"""

from typing import Any

import pytest

from daemon.agents.models.rules.embedded_model import proposed_calls
from daemon.agents.tools.model_interface import ChecklistItemView
from tests.daemon.agents.models.rules.sample_notes import context, note_id, read_values


@pytest.mark.parametrize(
    ("language", "note", "items"),
    [
        (
            "en",
            "I need to call the vet, buy hay and then sweep the yard.",
            ["call the vet", "buy hay", "sweep the yard"],
        ),
        ("en", "need to buy bread, milk and eggs", ["buy bread, milk and eggs"]),
        ("en", "We have to renew the domain, otherwise the shop goes dark.", ["renew the domain"]),
        ("en", "I have to call Tom and he brings the ladder.", ["call Tom"]),
        ("de", "Ich muss noch den Zähler ablesen und Brot kaufen.", ["den Zähler ablesen", "Brot kaufen"]),
        ("de", "Vor dem Frost müssen wir das Boot abdecken.", ["das Boot abdecken"]),
        ("de", "Wir müssen Milch, Eier und Brot kaufen.", ["Milch, Eier und Brot kaufen"]),
        ("es", "Tengo que avisar a Marta y luego pedir cita.", ["avisar a Marta", "pedir cita"]),
        ("fr", "Faut que j'appelle le véto et que j'achète du foin", ["appelle le véto", "achète du foin"]),
        (
            "fr",
            "Je dois lui envoyer le bail et récupérer les clés.",
            ["lui envoyer le bail", "récupérer les clés"],
        ),
        ("ro", "Trebuie să-l sun pe Mihai și să iau cheile.", ["să-l sun pe Mihai", "iau cheile"]),
        ("ro", "Mai am de plătit taxa și de cerut chitanța.", ["plătit taxa", "cerut chitanța"]),
    ],
)
def test_what_the_writer_has_to_do_is_an_item_each(language: str, note: str, items: list[str]) -> None:
    assert read_values(note, language) == {"items": items}


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("en", "I have to admit that the curtains look great."),
        ("en", "Mum has to renew her prescription."),
        ("en", "They need to repaint the stairs."),
        ("en", "We don't need to paint the ceiling."),
        ("en", "Do we need to order more tiles?"),
        ("en", "If it rains, we have to move the chairs into the barn."),
        ("en", "All we need to do is sign the form."),
        ("en", "We had to cancel the party."),
        ("en", "Repro: start the app, then I have to log in twice."),
        ("en", "need to get done before the weekend:"),
        ("en", "I still have to return it."),
        ("de", "Ich muss los, bis später"),
        ("de", "Ich muss zugeben, der Alt ist besser geworden."),
        ("de", "Die Decke müssen wir nicht streichen."),
        ("de", "Der Hausmeister muss die Treppe streichen."),
        ("es", "Tienes que firmar el formulario."),
        ("es", "Debo 20 euros a Luis."),
        ("fr", "Il faut du pain et du lait."),
        ("fr", "Le plombier doit changer la chaudière."),
        ("ro", "Instalatorul trebuie să schimbe centrala."),
        ("ro", "A trebuit să aștept două ore."),
    ],
)
def test_what_nobody_here_has_to_do_is_no_item(language: str, note: str) -> None:
    assert read_values(note, language) == {}


def test_a_single_act_with_a_deadline_is_the_task_itself() -> None:
    assert read_values("We have to hand in the report by Friday.") == {"due": "2026-11-20"}


@pytest.mark.parametrize(
    ("language", "heading"),
    [
        ("en", "Steps to reproduce:"),
        ("de", "Schritte zum Nachstellen:"),
        ("es", "Pasos para reproducirlo:"),
        ("fr", "Étapes pour reproduire :"),
        ("ro", "Pași de reproducere:"),
    ],
)
def test_steps_that_show_a_fault_are_no_items(language: str, heading: str) -> None:
    assert read_values(f"{heading}\n1. abrir la página\n2. click the menu", language) == {}


@pytest.mark.parametrize(
    ("language", "transcript", "items"),
    [
        ("en", "Tom: I need to fetch the chairs\nMe: great, I have to buy candles", ["buy candles"]),
        ("en", "[09:14] Tom: I have to call them\n[09:15] Ana: we need to book a room", ["book a room"]),
        ("en", "<Tom> I need to fix the boiler\n<me> I need to call the bank", ["call the bank"]),
        ("de", "18.11.26, 09:14 - Tom: Ich muss Heu holen\nIch: Ich muss Brot kaufen", ["Brot kaufen"]),
        ("es", "Ana: tengo que pintar la valla\nYo: tengo que llamar al banco", ["llamar al banco"]),
        ("fr", "Luc : je dois réparer la roue\nMoi : je dois appeler la banque", ["appeler la banque"]),
        ("ro", "Luca: trebuie să repar roata\nEu: trebuie să sun la bancă", ["sun la bancă"]),
    ],
)
def test_what_somebody_else_promises_is_not_the_writers_to_do(
    language: str, transcript: str, items: list[str]
) -> None:
    assert read_values(transcript, language) == {"items": items}


def test_what_leads_a_line_with_a_value_is_no_speaker() -> None:
    values = read_values("Deadline: Friday\nEstimate: 3 hours\nPriority: P1")
    assert values == {"due": "2026-11-20", "minutes": "180", "priority": "P1"}


def test_an_act_that_is_an_item_already_is_not_added_again_and_each_names_its_note() -> None:
    item = ChecklistItemView("i" * 32, "Call the landlord", False, False, "user", None)
    calls: list[Any] = list(
        proposed_calls(context("I have to call our landlord and paint the fence.", items=(item,)))
    )
    batches = [call.arguments["items"] for call in calls if call.name == "add_multiple_checklist_items"]
    assert [(new["title"], new["evidenceIds"]) for new in batches[0]] == [("paint the fence", [note_id(0)])]
