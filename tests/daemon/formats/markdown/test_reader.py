"""Reading Markdown to-do files, as people write them.

Never opens a store: a plan is plain structure.
"""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.token import Token

from daemon.formats.core.plan import Plan, PlannedTask
from daemon.formats.markdown import blocks, reader
from tests.daemon.formats.plans import everything, items, keys


def parse(text: str, name: str = "garden.md") -> Plan:
    return reader.parse(name, text)


def only(text: str) -> PlannedTask:
    (task,) = parse(text).tasks
    return task


def texts_of(task: PlannedTask) -> list[str]:
    return [entry.text for entry in task.entries]


def test_headings_are_tasks_items_are_checklist_items_and_prose_is_entries():
    first, second = parse(
        "# Beds\n\nFor spring.\n\n- [ ] dig\n- [x] rake\n* water\n\n1. plan\n\n# Shed\n\nRoof leaks.\n"
    ).tasks
    assert (first.title, first.line, second.title, second.line) == ("Beds", 1, "Shed", 11)
    assert items(first) == [(False, "dig"), (True, "rake"), (False, "water"), (False, "plan")]
    assert texts_of(first) == ["For spring."]
    assert texts_of(second) == ["Roof leaks."]
    assert [checklist.title for checklist in first.checklists] == ["Todos"]
    assert second.checklists == ()


def test_a_list_without_headings_becomes_one_task_named_after_the_file():
    task = only("- dig\n- rake\n")
    assert (task.title, items(task)) == ("garden", [(False, "dig"), (False, "rake")])


def test_what_stands_before_the_first_heading_belongs_to_the_file():
    assert [task.title for task in parse("intro\n\n# Beds\n").tasks] == ["garden", "Beds"]
    assert [task.title for task in parse("# Beds\n").tasks] == ["Beds"]


@pytest.mark.parametrize("text", ["", "\n\n", "---\n", "- \n-\n", "#\n"])
def test_a_file_without_text_asks_for_nothing(text):
    assert parse(text) == Plan("markdown", list_key=parse("# One").list_key)


@pytest.mark.parametrize(
    ("name", "title"), [("", "Imported list"), ("a/To do.md", "To do"), ("x" * 999, None)]
)
def test_any_file_name_makes_a_title(name, title):
    (task,) = parse("- x", name).tasks
    assert task.title == title or len(task.title) == 400


def test_nested_items_are_flattened_with_the_parents_title_before_them():
    task = only("- Beds:\n  - [x] dig\n    - deep\n  - rake\n- Shed\n")
    assert items(task) == [
        (False, "Beds:"),
        (True, "Beds: dig"),
        (False, "Beds: dig: deep"),
        (False, "Beds: rake"),
        (False, "Shed"),
    ]


def test_nested_headings_are_tasks_linked_to_the_one_above():
    beds, north, deep, shed = parse("# Beds\n## North\n### Deep\n# Shed\n").tasks
    assert [task.title for task in (beds, north, deep, shed)] == ["Beds", "North", "Deep", "Shed"]
    assert [(link.from_key, link.to_key, link.type) for link in north.links] == [
        (north.key, beds.key, "basic")
    ]
    assert deep.links[0].to_key == north.key
    assert beds.links == shed.links == ()


def test_headings_of_the_same_name_are_told_apart_by_the_one_above():
    titles = [task.title for task in parse("# Beds\n## To do\n# Shed\n## To do\n## Paint\n").tasks]
    assert titles == ["Beds", "Beds: To do", "Shed", "Shed: To do", "Paint"]
    assert [task.title for task in parse("# Beds\n# Beds\n").tasks] == ["Beds", "Beds"]


def test_a_ticked_heading_is_a_finished_task():
    planned_task, open_ = parse("## [x] Dig\n## [ ] Rake\n").tasks
    assert (planned_task.title, planned_task.status, open_.title, open_.status) == (
        "Dig",
        "DONE",
        "Rake",
        "OPEN",
    )


def test_an_underlined_line_is_a_heading():
    first, second = parse("Beds\n====\n\n- dig\n\nShed\n----\n").tasks
    assert (first.title, items(first), second.title) == ("Beds", [(False, "dig")], "Shed")


def test_an_item_over_several_lines_is_one_title():
    assert items(only("* dig the\nbed over\n  twice\n\n* rake\n")) == [
        (False, "dig the bed over twice"),
        (False, "rake"),
    ]


def test_boxes_without_bullets_are_items():
    assert items(only("[ ] dig\n[X] rake\n")) == [(False, "dig"), (True, "rake")]


def test_more_text_in_an_item_is_an_entry_under_its_title():
    task = only("- dig\n\n  First the sod.\n\n  ```sh\n  spade --deep\n  ```\n\n  > says Ann\n- rake\n")
    assert items(task) == [(False, "dig"), (False, "rake")]
    assert texts_of(task) == ["dig\n\nFirst the sod.", "dig\n\n```sh\nspade --deep\n```", "dig\n\n> says Ann"]


@pytest.mark.parametrize(
    "prose",
    [
        "<!-- one\n\n- two\n\nthree -->",
        "> quoted\n> - with a list",
        "```\n# no heading\n- [ ] no item\n```",
        "    indented code\n\n    and more",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "[docs]: https://example.org/docs 'The docs'",
        "// TODO:\n// share sets",
        "//TODO #tag [x](y) **z**",
        "***\nafter a rule",
        "<details>\n<summary>more</summary>",
    ],
)
def test_prose_of_any_kind_is_kept_as_it_stands(prose):
    task = only("# Beds\n\n" + prose + "\n")
    assert task.checklists == ()
    text = "\n".join(texts_of(task))
    assert text == prose.removeprefix("***\n") or text == "\n".join(line[4:] for line in prose.split("\n"))


def test_settings_before_the_text_are_kept_as_they_stand():
    task, beds = parse("---\ntitle: Garden\ntags: [x]\n---\n# Beds\n").tasks
    assert texts_of(task) == ["---\ntitle: Garden\ntags: [x]\n---"]
    assert (beds.title, beds.line) == ("Beds", 5)


def test_backslashes_of_markup_are_taken_out_of_titles_but_not_of_code():
    assert items(only("- view\\_module\\* \\\\\n- `a\\_b`\n")) == [
        (False, "view_module* \\"),
        (False, "`a\\_b`"),
    ]


def test_a_title_that_is_too_long_is_cut_and_kept_in_full():
    long = "word " * 100
    task, beds = parse(f"- {long}\n\n# {long}\n").tasks
    assert len(items(task)[0][1]) <= 400
    assert texts_of(task) == texts_of(beds) == [long.strip()]
    assert beds.title.endswith("…")


def test_a_parents_title_gives_way_to_the_items_own():
    parent, child = "p" * 300, "c" * 300
    task = only(f"- {parent}\n  - {child}\n")
    assert items(task)[1][1].endswith(f"…: {child}")
    assert len(items(task)[1][1]) == 400
    assert items(only(f"- p\n  - {'c' * 400}\n"))[1][1] == "c" * 400


def test_lists_nested_beyond_reason_keep_their_text():
    text = "".join("  " * depth + f"- word{depth}\n" for depth in range(300))
    remaining = everything(parse(text))
    assert all(re.search(rf"\bword{depth}\b", remaining) for depth in range(300))


def test_ticking_a_line_keeps_its_key_and_rewording_it_does_not():
    before, ticked = only("# A\n- [ ] dig\n"), only("# A\n\n- [x] dig\n")
    reworded = only("# A\n- [ ] dig deep\n")
    item = before.checklists[0].items[0]
    assert ticked.checklists[0].items[0].key == item.key
    assert reworded.checklists[0].items[0].key != item.key
    assert before.key == ticked.key == reworded.key


def test_lines_that_say_the_same_are_told_apart():
    plan = parse("# A\n- x\n- x\n  - x\n\np\n\np\n# A\n- x\n")
    assert len(set(keys(plan))) == len(keys(plan))


def test_files_of_different_names_stay_apart():
    assert not set(keys(parse("# A\n- x", "a.md"))) & set(keys(parse("# A\n- x", "b.md")))


def test_line_ends_of_any_system_read_alike():
    text = "# A\n\n- x\n- y\n\np\nq\n"
    assert parse(text) == parse(text.replace("\n", "\r\n")) == parse(text.replace("\n", "\r"))
    assert parse(text) == parse("\ufeff" + text)


@pytest.mark.parametrize(("text", "line"), [("a\n\0", 2), ("\n\n\udcff", 3)])
def test_what_is_no_text_is_a_fault_that_names_the_line(text, line):
    plan = parse(text)
    assert (plan.tasks, [fault.line for fault in plan.faults]) == ((), [line])


def test_a_broken_file_name_is_no_reason_to_fail():
    assert parse("- x", "a\udcff\0.md").tasks[0].title.encode()


pieces = st.sampled_from(
    [
        "# ",
        "## ",
        "- ",
        "* ",
        "1. ",
        "[ ] ",
        "[x] ",
        "> ",
        "```",
        "---",
        "===",
        "<!--",
        "-->",
        "<div>",
        "\t",
        "  ",
        "    ",
        "\n",
        "\n\n",
        "\\",
        "`",
        "[a]: b",
        "|",
        ":",
        "&amp;",
        "é",
    ]
)
numbered = st.integers(0, 99).map(lambda number: f"w{number} ")
files = st.lists(pieces | numbered, max_size=50).map("".join)


@given(files)
def test_no_word_of_any_file_is_lost(text):
    plan = parse(text)
    assert plan.faults == ()
    wanted = Counter(re.findall(r"w\d+", text))
    counter = Counter(re.findall(r"w\d+", everything(plan)))
    assert all(counter[word] >= count for word, count in wanted.items())


@given(files)
def test_every_key_of_a_file_is_its_own(text):
    texts = keys(parse(text))
    assert len(set(texts)) == len(texts)


@given(st.text(max_size=200))
def test_whatever_text_comes_it_is_a_plan_or_a_fault(text):
    plan = parse(text)
    assert not (plan.faults and plan.tasks)
    assert all(0 < len(task.title) <= 400 for task in plan.tasks)
    assert all(0 < len(title) <= 400 for task in plan.tasks for _, title in items(task))
    assert all(entry.text.strip() for task in plan.tasks for entry in task.entries)


@pytest.mark.parametrize("beneath", ["  - a\n", "\n  a\n", "## a\n", "  1. a\n"])
@pytest.mark.parametrize("mark", ["- ", "# "])
def test_what_stands_under_a_long_text_does_not_repeat_it(mark: str, beneath: str):
    long = "word " * 20_000
    (first, *more) = parse(f"{mark}{long}\n{beneath * 500}").tasks
    assert long.strip() in {entry.text for entry in first.entries}
    everything_told = [*keys(Plan("markdown", (first, *more))), *texts_of(first)]
    assert sum(map(len, everything_told)) < 8 * len(long)


def test_items_under_two_long_texts_that_begin_alike_stay_apart():
    long = "word " * 1_000
    task = only(f"- {long}one\n  - a\n- {long}two\n  - a\n")
    assert len({item.key for item in task.checklists[0].items}) == 4


def test_the_keys_of_a_file_with_a_long_name_are_short():
    assert max(map(len, keys(parse("# Beds\n- dig\n", "x" * 5_000)))) < 200


@pytest.mark.parametrize(("line", "count"), [("- a", 200), ("# a", 334), ("- - - - - - a", 46)])
def test_a_file_of_very_many_blocks_is_refused_before_it_takes_memory(
    line: str, count: int, monkeypatch: pytest.MonkeyPatch
):
    """A list item of four bytes takes two KiB once it is read."""
    monkeypatch.setattr(blocks, "TOKENS_MAX", 1000)
    assert not parse(f"{line}\n" * (count // 2)).faults
    (fault,) = parse(f"{line}\n" * (20 * count)).faults
    assert "split the file" in fault.message
    assert count // 2 < fault.line < 2 * count


def test_a_file_has_as_many_items_as_its_length_suggests():
    assert not parse("- a\n" * 10_000).faults
    (fault,) = parse("- a\n" * 30_000).faults
    assert "split the file" in fault.message
    assert not parse("- call Ana about it\n" * 30_000).faults


def test_the_blocks_of_a_file_that_is_refused_take_no_more_memory_the_longer_it_is(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(blocks, "TOKENS_MAX", 1000)
    created = 0

    class Counted(Token):
        def __init__(self, *parameters: Any, **by_name: Any) -> None:
            nonlocal created
            created += 1
            super().__init__(*parameters, **by_name)

    monkeypatch.setattr("markdown_it.rules_block.state_block.Token", Counted)
    for count in (1_000, 8_000):
        created = 0
        assert parse("- a\n" * count).faults
        assert created <= 1001
