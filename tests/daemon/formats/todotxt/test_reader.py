"""Reading a todo.txt file, and knowing its lines again when they were edited.

Never opens a store to read: only knowing lines again needs one.
"""

from collections.abc import Callable
from datetime import timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.formats.core.importer import ImportResult, PlanImport
from daemon.formats.core.plan import Plan, PlannedTask
from daemon.formats.readers import read_plan
from daemon.formats.todotxt import reader
from daemon.journal import labels, tasks
from daemon.journal.labels import LabelEdit, NewLabel
from daemon.journal.tasks import TaskEdit
from store.fold.entity import Entity
from store.snapshot import Snapshot
from tests.daemon.formats.plans import everything, keys
from tests.daemon.formats.transfers import at_ms, bring, commits, stored_tasks
from tests.support.fleet import Fleet, Home
from tests.support.growth import assert_linear


def parse(text: str) -> Plan:
    return reader.parse("todo.txt", text)


def only(text: str) -> PlannedTask:
    plan = parse(text)
    assert plan.faults == ()
    (task,) = plan.tasks
    return task


def entry_lines(task: PlannedTask) -> list[str]:
    return [line for entry in task.entries for line in entry.text.split("\n")]


def test_each_mark_goes_where_the_import_map_says():
    task = only("(A) 2026-01-02 Call Mom +Family @phone @home due:2026-12-01")
    assert (task.title, task.status, task.priority) == ("Call Mom", "OPEN", "P0")
    assert (task.category, task.labels, task.due) == ("Family", ("phone", "home"), "2026-12-01")
    assert task.made_ms == at_ms("2026-01-02T00:00:00Z")
    assert task.entries == ()


@pytest.mark.parametrize(
    ("letter", "priority", "left"),
    [
        ("A", "P0", []),
        ("B", "P1", []),
        ("C", "P2", []),
        ("D", "P3", []),
        ("E", "P3", ["(E)"]),
        ("Z", "P3", ["(Z)"]),
    ],
)
def test_letters_are_mapped_and_those_beyond_d_kept(letter, priority, left):
    task = only(f"({letter}) pay")
    assert (task.title, task.priority, entry_lines(task)) == ("pay", priority, left)


@pytest.mark.parametrize("document", ["(a) pay", "(AA) pay", "()pay", "(A)pay", "pay (A)"])
def test_what_only_looks_like_a_priority_is_text(document):
    assert (only(document).title, only(document).priority) == (document, None)


def test_a_finished_task_keeps_both_days():
    task = only("x 2026-02-03 2026-01-01 rake pri:B")
    assert (task.title, task.status, task.priority) == ("rake", "DONE", "P1")
    assert (task.ended_ms, task.made_ms) == (at_ms("2026-02-03T00:00:00Z"), at_ms("2026-01-01T00:00:00Z"))
    one_day = only("x 2026-02-03 rake")
    assert (one_day.ended_ms, one_day.made_ms) == (at_ms("2026-02-03T00:00:00Z"), None)
    assert only("x (B) 2026-02-03 rake").priority == "P1"
    assert only("xylophone lesson").status == only("X rake").status == "OPEN"


def test_days_begin_where_the_person_is():
    (task,) = reader.parse("x", "2026-01-02 rake", timezone(timedelta(hours=5))).tasks
    assert task.made_ms == at_ms("2026-01-01T19:00:00Z")


def test_marks_within_a_sentence_stay_in_it_and_count():
    task = only("Talk to @alice about +garden plans z:2026-08-01 by 10:30 on http://example.com/a:b +zed")
    assert task.title == "Talk to @alice about +garden plans z:2026-08-01 by 10:30 on http://example.com/a:b"
    assert (task.category, task.labels) == ("garden", ("alice",))
    assert entry_lines(task) == ["+zed"]


def test_pairs_without_a_place_are_kept_as_text():
    task = only("(F) water z:2026-08-01 rec:+1w due:tomorrow +a +b")
    assert (task.title, task.category, task.due) == ("water", "a", None)
    assert sorted(entry_lines(task)) == [
        "(F)",
        "+b",
        "due:tomorrow",
        "rec:+1w",
        "z:2026-08-01",
    ]


def test_what_placet_itself_writes_has_a_place():
    task = only("plan status:on-hold reason:for_Ann estimate:90min lang:pt-BR")
    assert (task.title, task.status, task.reason) == ("plan", "ON HOLD", "for Ann")
    assert (task.estimate_minutes, task.language, task.entries) == (90, "pt-BR", ())
    assert only("x 2026-01-02 plan status:rejected").status == "REJECTED"
    assert (only("plan status:odd").status, entry_lines(only("plan status:odd"))) == ("OPEN", ["status:odd"])


def test_nothing_but_marks_is_the_title():
    task = only("+garage @home due:2026-01-01")
    assert (task.title, task.category, task.labels, task.due) == (
        "+garage @home",
        "garage",
        ("home",),
        "2026-01-01",
    )


def test_a_line_that_is_too_long_for_a_title_is_kept_in_full():
    task = only("word " * 200 + "+p")
    assert (len(task.title), task.category) == (400, "p")
    assert task.entries[0].text == " ".join(["word"] * 200)


def test_labels_that_a_task_has_no_room_for_are_kept_as_text():
    task = only("do " + " ".join(f"@c{n}" for n in range(102)) + " @" + "y" * 101)
    assert len(task.labels) == 100
    assert entry_lines(task) == ["@c100", "@c101", f"@{'y' * 101}"]


def test_line_ends_blank_lines_and_a_byte_order_mark_make_no_difference():
    plain = parse("(A) one\ntwo\n")
    assert [(task.line, task.title) for task in plain.tasks] == [(1, "one"), (2, "two")]
    assert parse("\ufeff(A) one\r\ntwo\r\n") == plain
    assert parse("(A) one\rtwo") == plain
    assert [task.line for task in parse("one\r\n\r\n  \r\ntwo").tasks] == [1, 4]
    assert parse("") == Plan("todotxt", list_key=plain.list_key)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("one\n2026-02-30 two", 2, "a day that does not exist"),
        ("one\ntwo due:2026-13-01", 2, "due is '2026-13-01'"),
        ("x 2026-01-02", 1, "no text"),
        ("one\n\ndue:2026-01-02", 3, "no text"),
        ("one\0", 1, "NUL"),
        ("one\n\ud800", 2, "broken Unicode"),
    ],
)
def test_bad_input_is_one_fault_that_names_the_line(text, line, words):
    plan = parse(text)
    assert plan.tasks == ()
    (fault,) = plan.faults
    assert fault.line == line
    assert words in fault.message


# --- knowing lines again ----------------------------------------------------------------------------

LIST = "(A) call Mom +Family\nbuy milk @shop\nwrite to the landlord about the roof\n"


def titles(home: Home) -> list[str]:
    return [task.title for task in stored_tasks(home)]


def test_the_same_list_again_writes_nothing(a: Home):
    assert bring(a, "todotxt", LIST) == ImportResult(tasks=3)
    before = commits(a)
    assert bring(a, "todotxt", LIST) == ImportResult(unchanged=3)
    assert commits(a) == before


@pytest.mark.parametrize(
    "edited",
    [
        LIST.replace("(A) call", "(B) call"),
        LIST.replace("call Mom", "call Mom and Dad"),
        LIST.replace("buy milk", "buy oat milk"),
        LIST.replace("about the roof", "about the leaking roof"),
        LIST.replace("landlord", "landlrod"),
        LIST.replace("buy milk", "x 2026-01-05 buy milk"),
        LIST.replace("@shop", "@shop due:2026-05-05"),
    ],
)
def test_an_edited_line_updates_its_task(a: Home, edited):
    bring(a, "todotxt", LIST)
    assert bring(a, "todotxt", edited) == ImportResult(updated=1, unchanged=2)
    before = commits(a)
    assert bring(a, "todotxt", edited) == ImportResult(unchanged=3)
    assert commits(a) == before


def test_lines_may_change_places(a: Home):
    bring(a, "todotxt", LIST)
    assert bring(a, "todotxt", "\n".join(reversed(LIST.split("\n")))) == ImportResult(unchanged=3)


def test_a_new_line_in_the_place_of_an_archived_one_is_another_task(a: Home):
    bring(a, "todotxt", LIST)
    assert bring(a, "todotxt", LIST.replace("buy milk @shop", "renew passport")).tasks == 1
    assert titles(a) == ["call Mom", "buy milk", "write to the landlord about the roof", "renew passport"]


def test_a_word_alike_does_not_make_two_tasks_one(a: Home):
    bring(a, "todotxt", "renew passport\n")
    assert bring(a, "todotxt", "renew library card\n").tasks == 1


def test_an_edited_line_is_known_in_another_place(a: Home):
    bring(a, "todotxt", LIST)
    moved = "write to the landlord about the leaking roof\n(A) call Mom +Family\nbuy milk @shop\n"
    assert bring(a, "todotxt", moved) == ImportResult(updated=1, unchanged=2)


def test_many_lines_of_the_same_words_keep_their_tasks_when_all_are_edited(a: Home):
    bring(a, "todotxt", "water the beds\n" * 40)
    assert bring(a, "todotxt", "water the flower beds\n" * 40) == ImportResult(updated=40)


def test_tasks_begun_on_different_days_are_different(a: Home):
    bring(a, "todotxt", "2026-01-02 water the plants\n")
    assert bring(a, "todotxt", "2026-01-09 water the plants again\n").tasks == 1
    assert bring(a, "todotxt", "2026-01-02 water all plants\n").updated == 1


def test_a_line_keeps_its_task_when_it_gets_a_day(a: Home):
    bring(a, "todotxt", LIST)
    assert bring(a, "todotxt", LIST.replace("buy", "2026-01-05 buy")) == ImportResult(unchanged=3)


def test_lines_that_read_alike_are_as_many_tasks(a: Home):
    assert bring(a, "todotxt", "rake\nrake\n").tasks == 2
    assert bring(a, "todotxt", "rake\nrake\nrake\n") == ImportResult(tasks=1, unchanged=2)
    assert bring(a, "todotxt", "rake\n") == ImportResult(unchanged=1)


def test_lines_that_are_alike_and_all_edited_keep_their_tasks(a: Home):
    lines = [f"2026-01-02 water bed {n} of the garden" for n in range(300)]
    bring(a, "todotxt", "\n".join(lines))
    edited = [line.replace("water", "rake") for line in lines]
    del edited[100]
    edited.insert(200, "2026-01-02 something else entirely")
    result = bring(a, "todotxt", "\n".join(edited))
    assert (result.tasks, result.updated, result.unchanged) == (1, 299, 0)
    assert bring(a, "todotxt", "\n".join(edited)) == ImportResult(unchanged=300)
    assert sorted(titles(a))[:2] == ["rake bed 0 of the garden", "rake bed 1 of the garden"]


def test_a_line_like_one_that_was_edited_away_is_a_new_task(a: Home):
    bring(a, "todotxt", "buy milk\n")
    bring(a, "todotxt", "buy oat milk\n")
    assert bring(a, "todotxt", "buy milk\nbuy oat milk\n") == ImportResult(tasks=1, unchanged=1)
    assert sorted(titles(a)) == ["buy milk", "buy oat milk"]


def test_a_task_that_a_person_renamed_is_still_the_line(a: Home):
    bring(a, "todotxt", LIST)
    a.write(lambda tx: tasks.edit(tx, "milk", TaskEdit(title="get groceries")))
    assert bring(a, "todotxt", LIST) == ImportResult(unchanged=3)
    assert "get groceries" in titles(a)


def test_a_task_that_a_person_removed_does_not_come_back(a: Home):
    bring(a, "todotxt", LIST)
    a.write(lambda tx: tasks.remove(tx, "milk"))
    assert bring(a, "todotxt", LIST) == ImportResult(unchanged=2, removed=1)
    result = bring(a, "todotxt", LIST.replace("buy milk", "x buy milk"))
    assert [skipped.line for skipped in result.skipped] == [2]
    reworded = bring(a, "todotxt", LIST.replace("buy milk", "buy oat milk"))
    assert (reworded.tasks, [skipped.line for skipped in reworded.skipped]) == (0, [2])


def test_lists_of_other_names_are_other_lists(a: Home):
    bring(a, "todotxt", LIST)
    assert bring(a, "todotxt", LIST, name="work").tasks == 3


def test_two_devices_that_import_the_same_list_apart_have_one(fleet: Fleet, a: Home, b: Home):
    bring(a, "todotxt", LIST)
    bring(b, "todotxt", LIST)
    fleet.sync()
    assert len(stored_tasks(a)) == len(stored_tasks(b)) == 3
    assert bring(b, "todotxt", LIST.replace("buy milk", "buy oat milk")).updated == 1
    fleet.sync()
    assert bring(a, "todotxt", LIST.replace("buy milk", "buy oat milk")).unchanged == 3


def test_the_day_of_finishing_is_when_it_was_done(a: Home):
    bring(a, "todotxt", "x 2026-02-03 2026-01-01 rake\n")
    (task,) = stored_tasks(a)
    assert (task.created_at, task.updated_at) == ("2026-01-01T00:00:00.000Z", "2026-02-03T00:00:00.000Z")


# --- whatever comes ---------------------------------------------------------------------------------

marks = ["x ", "(A) ", "2026-01-02 ", "2026-02-30 ", "+p ", "@c ", "due:2026-01-01 ", "k:v ", "word "]
pieces = st.sampled_from([*marks, *"é\n:\ud800"])


@given(st.lists(pieces | st.text(max_size=8), max_size=30).map("".join))
def test_whatever_text_comes_it_is_a_plan_or_faults_that_name_lines(text):
    plan = parse(text)
    assert not (plan.faults and plan.tasks)
    assert all("\n" not in fault.message and 1 <= fault.line <= len(text) + 1 for fault in plan.faults)
    assert len(set(keys(plan))) == len(keys(plan))
    if not plan.faults:
        for word in text.replace("\r", "\n").split():
            assert word in everything(plan) or not word.isalpha() or word == "x"


line = st.sampled_from(["rake", "rake +a", "rake @b", "buy milk", "buy oat milk", "x rake", "dig"])
small = st.lists(line, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.lists(small, min_size=1, max_size=4))
def test_any_list_imported_twice_in_a_row_writes_once_and_has_all_its_lines(fleet: Fleet, lists):
    home = fleet.home(f"device {len(fleet.homes)}")
    for lines in lists:
        text = "\n".join(lines)
        bring(home, "todotxt", text)
        before = commits(home)
        assert bring(home, "todotxt", text) == ImportResult(unchanged=len(lines))
        assert commits(home) == before
        wanted = sorted(reader.parse("x", line).tasks[0].title for line in lines)
        present = titles(home)
        assert all(present.count(title) >= wanted.count(title) for title in wanted)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["a", "+p ", "k:v ", "x ", ":", "(A) "])
def test_a_line_of_eight_times_the_letters_takes_about_eight_times_as_long(word):
    def reading(size: int) -> Callable[[], object]:
        text = word * (size // len(word))
        plan = parse(text)
        assert not (plan.faults and plan.tasks)
        return lambda: parse(text)

    assert_linear(reading, 50_000)


@pytest.mark.parametrize("line", ["a\n", "ab c\n", "(A) a\n", "x a @b\n"])
def test_a_file_of_very_many_short_tasks_is_refused_before_it_takes_memory(line: str):
    """A task takes some hundred bytes of the journal, however few the file has for it."""
    (fault,) = reader.parse("list", line * 100_000).faults
    assert "split the file" in fault.message
    assert fault.line < 60_000
    assert len(reader.parse("list", line * 10_000).tasks) == 10_000


def test_a_long_file_of_tasks_as_people_write_them_is_read():
    assert len(reader.parse("list", "call Ana about it\n" * 30_000).tasks) == 30_000


def test_labels_and_categories_are_read_once_however_long_the_file_is(
    a: Home, monkeypatch: pytest.MonkeyPatch
):
    """Read again for each part, they made an import take time in the square of its length."""
    scans: list[str] = []
    entities = Snapshot.entities

    def counted(snapshot: Snapshot, kind: str, removed: bool = False) -> list[Entity]:
        scans.append(kind)
        return entities(snapshot, kind, removed)

    monkeypatch.setattr(Snapshot, "entities", counted)
    text = "".join(f"task {number} +project{number} @context{number}\n" for number in range(1300))
    bring(a, "todotxt", text)
    assert scans.count("label") <= 2
    assert scans.count("category") <= 2
    monkeypatch.undo()
    assert len(a.read(lambda snapshot: snapshot.entities("label"))) == 1300
    assert bring(a, "todotxt", text).unchanged == 1300


def test_a_name_that_another_writer_gives_between_two_parts_is_found(a: Home):
    """Under another id than the one that follows from the name: it was renamed to it."""
    text = "".join(f"task {number} @one{number}\n" for number in range(700))
    work = a.read(PlanImport(read_plan("todotxt", "list", text)).with_matched_tasks)
    for number, part in enumerate(work.parts):
        a.write(lambda tx, part=part: work.import_part(tx, part))  # type: ignore[misc]
        if not number:
            a.write(lambda tx: labels.add(tx, NewLabel(name="other")))
            a.write(lambda tx: labels.edit(tx, "other", LabelEdit(name="one699")))
    assert len(a.read(lambda snapshot: snapshot.entities("label"))) == 700
