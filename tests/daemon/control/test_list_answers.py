"""Lists whose answers are bounded in bytes: nothing is left out without a word, and the rest can be had.

Never divides an element.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.control import list_answers
from daemon.control.list_answers import encode_list
from tests.daemon.control.conftest import Api


@given(st.lists(st.text(max_size=20)), st.integers(1, 60))
def test_asked_for_again_and_again_a_list_comes_whole(elements: list[str], bytes_max: int):
    came: list[Any] = []
    while True:
        body, left_out = encode_list(elements, len(came), bytes_max)
        part = json.loads(body)
        assert len(body) <= bytes_max + 2 or len(part) == 1
        came += part
        assert left_out == len(elements) - len(came)
        if not left_out:
            break
        assert part
    assert came == elements


def test_beyond_the_end_of_a_list_nothing_is_left_out():
    assert encode_list(["a"], 5) == (b"[]", 0)


@pytest.fixture
async def task(api: Api) -> str:
    """A task with five long notes, as a path."""
    task = (await api.ask("POST", "/v1/tasks", {"title": "Renew the passport"})).json
    for letter in "abcde":
        await api.ask("POST", f"/v1/tasks/{task['id']}/entries", {"text": letter * 1000})
    return f"/v1/tasks/{task['id']}"


@pytest.mark.parametrize("path", ["entries", "log"])
async def test_an_answer_counts_what_of_a_list_follows_it(
    api: Api, task: str, path: str, monkeypatch: pytest.MonkeyPatch
):
    target = f"{task}/entries?removed=false" if path == "entries" else "/v1/log?field=text"
    whole = await api.ask("GET", target)
    assert (len(whole.json), whole.left_out) == (5, None)
    monkeypatch.setattr(list_answers.encode_list, "__defaults__", (3000,))
    came: list[Any] = []
    counts: list[int] = []
    while not came or counts[-1]:
        answer = await api.ask("GET", f"{target}&from={len(came)}")
        came += answer.json
        counts.append(int(answer.left_out or 0))
    assert (came, counts[-1], len(counts) > 1) == (whole.json, 0, True)


@pytest.mark.parametrize("text", ["-1", "x", "1.5", "٣", "9" * 30])
async def test_only_a_number_is_a_place_in_a_list(api: Api, task: str, text: str):
    assert (await api.ask("GET", f"{task}/entries?from={text}")).code == "usage"


async def test_what_is_no_list_has_no_place(api: Api, task: str):
    assert (await api.ask("GET", f"{task}?from=1")).code == "usage"
