"""The inbox and its cards without JavaScript: what is shown, and what a form decides."""

import re
from dataclasses import replace

import pytest
from msgspec import structs

from daemon.agents.person import inbox
from daemon.disk import DiskFloor
from daemon.journal import entries
from daemon.journal.entries import NewEntry
from daemon.web.decide.item_rows import item_row
from daemon.web.decide.verdict_form import ITEMS_MAX
from daemon.web.frame.rendering import WEB_FOLDER, Renderer
from daemon.words.translation import use_language
from store.fold.entity import Entity
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.ids import id_from_text, id_to_text
from tests.daemon.web.conftest import CHANGES, Page

HOSTILE = "<script>alert(1)</script> \u202egnp.exe\u2066 \x07'\"&{{ 7*7 }}"


async def test_an_empty_inbox_says_what_to_do_first(page: Page):
    text = (await page.ask("/inbox")).text
    assert "These are the first steps." in text
    assert "1. Bring your tasks in" in text


async def test_an_empty_inbox_reads_not_every_task(page: Page, monkeypatch: pytest.MonkeyPatch):
    """Old: it counted all tasks by reading each, only to know whether there are any."""

    def entities(snapshot: Snapshot, kind: str, removed: bool = False) -> list[Entity]:
        assert kind != "task"
        return read(snapshot, kind, removed)

    read = Snapshot.entities
    await page.store.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "task", {"title": "A task"})]))
    monkeypatch.setattr(Snapshot, "entities", entities)
    assert "2. Give a task an agent" in (await page.ask("/inbox")).text


async def test_a_button_confirms_its_own_item_and_no_other(page: Page):
    items = await page.propose(*CHANGES)
    shown = await page.ask("/inbox")
    assert "suggests 3 changes" in shown.text
    answer = await page.ask("/inbox", {"decide": shown.forms()[f"confirmed {items[0]}"], "shown": ["x" * 97]})
    assert answer.status == 200
    assert "Confirmed: Set estimate to 120 minutes" in answer.text
    assert [await page.status_of(item) for item in items] == ["confirmed", "pending", "pending"]


async def test_confirm_all_means_what_was_on_the_screen(page: Page):
    items = await page.propose(*CHANGES)
    shown = re.findall(r'name="shown" value="([^"]+)"', (await page.ask("/inbox")).text)
    (late,) = await page.propose(("update_task_estimate", {"minutes": 5}), run_key="late")
    await page.ask("/inbox", [("shown", text) for text in shown] + [("decide", "confirmed")])
    assert {await page.status_of(item) for item in items} == {"confirmed"}
    assert await page.status_of(late) == "pending"


async def test_what_has_changed_since_it_was_shown_is_not_confirmed(page: Page):
    (item,) = await page.propose(CHANGES[0])
    answer = await page.ask("/inbox", {"decide": f"confirmed:{item}:{'0' * 64}"})
    assert answer.status == 409
    assert "it has changed since you saw it" in answer.text
    assert await page.status_of(item) == "pending"


async def test_deferred_items_are_not_among_all(page: Page):
    items = await page.propose(*CHANGES)
    forms = (await page.ask("/inbox")).forms()
    answer = await page.ask("/inbox", {"decide": forms[f"deferred {items[0]}"]})
    assert "1 change deferred" in answer.text
    # The undo in the toast names what was deferred; the card does not.
    card = answer.text.partition('id="toast"')[0]
    assert set(re.findall(r'name="shown" value="([0-9a-f]{32})', card)) == set(items[1:])


async def test_a_verdict_can_be_taken_back(page: Page):
    (item,) = await page.propose(CHANGES[0])
    before = await page.ask("/inbox")
    assert "· expires in" in before.text
    button = before.forms()[f"confirmed {item}"]
    toast = (await page.ask("/inbox", {"decide": button})).text.partition('id="outcome"')[2]
    shown = re.findall(r'name="shown" value="([^"]+)"', toast)
    again = (await page.ask("/inbox", {"decide": "reopened", "shown": shown})).text
    assert "1 change waits again" in again
    assert await page.status_of(item) == "pending"
    assert "expires" not in again.partition("<main")[2], "a person has spoken: it expires no more"


async def test_a_card_leads_to_its_task_and_to_the_note_that_it_quotes(page: Page):
    (item,) = await page.propose(CHANGES[0])
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    task, new = id_to_text(stored.task), NewEntry(text="Who <b>knows</b>? It takes 2 hours.")
    entry = (await page.store.write(lambda tx: entries.add(tx, task, new))).id
    shown = (await page.ask("/inbox")).text
    assert re.search(rf'<h2 [^>]*><a href="/tasks/{task}"><bdi>Task of run</bdi></a>', shown)
    link = f'<a href="/tasks/{task}?note={entry}#n-{entry}">a note says so (just now)</a>: '
    assert f"{link}<q><bdi>It takes 2 hours.</bdi></q>" in shown


async def test_a_note_that_says_several_things_is_quoted_once(page: Page):
    steps = ("measure the kitchen", "ask for the deposit")
    items = await page.propose(*(("add_checklist_item", {"title": step}) for step in steps))
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(items[0])))
    assert stored is not None
    task, new = (
        id_to_text(stored.task),
        NewEntry(text="We need to: measure the kitchen, ask for the deposit."),
    )
    await page.store.write(lambda tx: entries.add(tx, task, new))
    shown = (await page.ask("/inbox")).text
    assert shown.count("ask for the deposit.</bdi></q>") == 1


async def test_a_note_that_the_agent_quotes_is_not_quoted_twice(page: Page):
    (item,) = await page.propose(
        ("update_task_estimate", {"minutes": 120, "rationale": "“it takes 2 hours”"})
    )
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    task, new = id_to_text(stored.task), NewEntry(text="It takes 2 hours.")
    await page.store.write(lambda tx: entries.add(tx, task, new))
    shown = (await page.ask("/inbox")).text
    assert "a note says so" in shown
    assert "It takes 2 hours." not in shown


async def test_a_reason_goes_along_with_a_rejection(page: Page):
    (item,) = await page.propose(CHANGES[0])
    button = (await page.ask("/inbox")).forms()[f"rejected {item}"]
    await page.ask("/inbox", {"decide": button, "reason": " too long "})
    stored_item = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored_item is not None
    assert [decision.reason for decision in stored_item.decisions] == ["too long"]


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"decide": "confirmed"},
        {"decide": "destroyed:" + "0" * 32 + ":" + "0" * 64},
        {"decide": "confirmed:" + "0" * 32},
        {"decide": "confirmed:../../x:" + "0" * 64},
        [
            ("decide", "confirmed"),
            *[("shown", f"{number:032x}:{'0' * 64}") for number in range(ITEMS_MAX + 1)],
        ],
    ],
)
async def test_a_form_that_the_page_does_not_send_is_refused(page: Page, form):
    before = await page.commits()
    assert (await page.ask("/inbox", form)).status == 400
    assert await page.commits() == before


async def test_a_full_disk_refuses_a_verdict_with_its_reason(page: Page):
    (item,) = await page.propose(CHANGES[0])
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    object.__setattr__(page.services, "floor", DiskFloor(page.folder, 1 << 60))
    answer = await page.ask("/inbox", {"decide": button})
    assert answer.status == 409
    assert "MiB are free" in answer.text
    assert await page.status_of(item) == "pending"


async def test_hostile_words_are_shown_harmlessly(page: Page):
    await page.propose(("set_task_title", {"title": HOSTILE.replace("\x07", "")}), run_key=HOSTILE)
    text = (await page.ask("/inbox")).text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)
    assert "<script>alert" not in text
    assert "\\u202egnp.exe\\u2066" in text
    assert "{{ 7*7 }}" in text


async def test_what_was_decided_elsewhere_is_told(page: Page):
    (item,) = await page.propose(CHANGES[0])
    assert "This no longer waits" in (await page.ask(f"/items/{item}")).text
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    await page.ask("/inbox", {"decide": button})
    assert "confirmed on" in (await page.ask(f"/items/{item}")).text


async def test_filters_leave_other_cards_out(page: Page):
    await page.propose(CHANGES[0])
    await page.propose(CHANGES[2], run_key="other")
    text = (await page.ask("/inbox?kind=dates")).text
    assert ("Task of run" in text, "Task of other" in text) == (True, False)
    assert "Nothing waits with these filters" in (await page.ask("/inbox?label=none")).text


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "ro"])
async def test_the_page_speaks_five_languages(page: Page, language: str):
    words = {
        "en": "Confirm all 3",
        "de": "Alle 3 bestätigen",
        "es": "Confirmar los 3",
        "fr": "Confirmer les 3",
        "ro": "Confirmă toate cele 3",
    }
    await page.propose(*CHANGES)
    object.__setattr__(page.services, "renderer", Renderer(language))
    try:
        text = (await page.ask("/inbox")).text
    finally:
        use_language("en")
    assert words[language] in text
    assert f'<html lang="{language}">' in text


def test_no_template_switches_escaping_off_or_has_a_script_or_style_of_its_own():
    for template in WEB_FOLDER.rglob("*.html"):
        text = template.read_text("utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup|\son[a-z]+=|style=|<style|javascript:", text), (
            template
        )
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text)), template


def test_the_enter_key_in_a_field_presses_no_button_that_takes_something_away():
    fields = r'<textarea|<input(?![^>]*type="(?:hidden|checkbox|radio|file)")|{{ lines?\('
    first = re.compile(r'<button(?![^>]*type="button")[^>]*')
    takes = re.compile(
        r"value=\"(remove|end|leave|destroy|drop|forget|revoke|stop|cancel|archive|reject|skip)|class=\"red"
    )
    forms = [
        (template.name, form)
        for template in WEB_FOLDER.rglob("*.html")
        for form in re.findall(r"<form.*?</form>", template.read_text("utf-8"), re.DOTALL)
        if re.search(fields, form)
    ]
    assert len(forms) > 20
    assert [name for name, form in forms if (button := first.search(form)) and takes.search(button[0])] == []


def test_scripts_are_sent_without_comments_and_say_the_same():
    files = Renderer().static_files
    sent = {name: content.decode() for name, (media, content) in files.items() if media.startswith("text/")}
    quoted, words = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`\n]*`'), re.compile(r"\w+")
    for script in WEB_FOLDER.rglob("*.js"):
        lines = [line.strip() for line in script.read_text("utf-8").splitlines()]
        # A text over several lines would lose its indentation, a comment over several be sent in part.
        assert all(line.count("`") % 2 == 0 for line in lines), script
        assert not any(line.startswith("/*") and not line.endswith("*/") for line in lines), script
        kept = "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))
        # Only spaces and ends of lines are gone, none within quotes, and none between two words.
        assert "".join(sent[script.name].split()) == "".join(kept.split())
        assert quoted.findall(sent[script.name]) == quoted.findall(kept)
        assert words.findall(sent[script.name]) == words.findall(kept)
        # No statement ends where a line ends alone: that line may be joined to the next.
        assert not re.search(r"[\w\"`)\]]\n(?![][)}.?:&|,;=<>])", kept), script


def test_scripts_and_styles_are_small():
    files = {name: content for name, (_media, content) in Renderer().static_files.items()}
    assert len(files["style.css"]) <= 24 * 1024
    assert sum(len(content) for name, content in files.items() if name.endswith(".js")) <= 40 * 1024
    assert all(content.count(b"\n") <= 400 for name, content in files.items() if name.endswith(".js"))


async def test_what_is_beyond_the_budget_of_an_agent_waits_behind_a_link(page: Page):
    items = await page.propose(*CHANGES)
    await page.stop()
    page.services = replace(page.services, open_per_day=1)
    await page.start()
    await page.sign_in()
    shown = (await page.ask("/inbox")).text
    assert "3 things wait for you" in shown
    assert "2 more wait behind these" in shown
    assert f"confirmed:{items[0]}" in shown
    assert f"confirmed:{items[1]}" not in shown
    whole = (await page.ask("/inbox?all=1")).text
    assert "behind these" not in whole
    assert f"confirmed:{items[2]}" in whole


async def test_what_an_agent_says_of_all_lines_alike_is_said_once(page: Page):
    why = {"rationale": "The list says so."}
    await page.propose(
        ("add_checklist_item", {"title": "Buy paper", **why}),
        ("add_checklist_item", {"title": "Buy pens", **why}),
        ("update_task_estimate", {"minutes": 120, "rationale": "The note says: “two hours”"}),
    )
    text = (await page.ask("/inbox")).text
    words = re.findall(r"<q(.*?)><bdi>([^<]*)", text)
    assert words == [("", "The list says so."), (' class="bare"', "The note says: “two hours”")]


@pytest.mark.parametrize(
    ("tool", "args"), [("clear_task_estimate", {}), ("update_checklist_item", {"isArchived": True})]
)
async def test_what_takes_something_away_is_marked(page: Page, tool: str, args: dict[str, bool]):
    await page.propose(CHANGES[0])
    (card,) = await page.store.read(lambda snapshot: inbox.list_cards(snapshot, page.now_ms()))
    (item,) = card.items
    mark = ("takes something away", "red")
    assert mark not in item_row(item, 0).marks
    assert mark in item_row(structs.replace(item, tool=tool, args=args), 0).marks


async def test_a_reason_is_kept_if_another_tab_decided_first(page: Page):
    (item,) = await page.propose(CHANGES[0])
    forms = (await page.ask("/inbox")).forms()
    await page.ask("/inbox", {"decide": forms[f"rejected {item}"]})
    answer = await page.ask("/inbox", {"decide": forms[f"confirmed {item}"], "reason": "I looked it up"})
    assert answer.status == 409
    assert "take that decision back first" in answer.text
    assert "I looked it up" in answer.text.partition('id="outcome"')[2]


async def test_a_filter_stays_chosen_after_the_last_verdict_on_what_it_shows(page: Page):
    (item,) = await page.propose(CHANGES[0])
    await page.propose(CHANGES[2], run_key="other")
    path = "/inbox?kind=dates"
    answer = await page.ask(path, {"decide": (await page.ask(path)).forms()[f"confirmed {item}"]})
    assert "Nothing waits with these filters" in answer.text
    assert re.search(r'<option value="dates" selected>', answer.text)
