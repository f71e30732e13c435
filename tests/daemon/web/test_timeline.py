"""The timeline on the page: its words, its drawing, and what an undo took back."""

import re
from functools import partial
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.deciding import decisions
from daemon.agents.person import lifecycle
from daemon.web.history import lanes
from daemon.web.history.lanes import Edge, draw
from store.transaction import EntityWrite
from syncproto.ids import id_from_text, id_to_text
from tests.daemon.web.conftest import Page
from tests.support.fleet import Fleet

EDGES = st.lists(
    st.builds(
        lambda upper, more, kind: Edge(upper, upper + more, kind),
        st.integers(0, 8),
        st.integers(0, 6),
        st.sampled_from(["doubt", "good"]),
    ),
    max_size=12,
)


@given(st.lists(st.integers(0, 9), min_size=15, max_size=15), EDGES)
def test_every_line_that_is_drawn_goes_from_its_beginning_to_its_end(lane: list[int], edges: list[Edge]):
    drawing = draw(lane, edges)
    places = {segment.x for row in drawing.rows for segment in row.segments}
    assert not places & set(drawing.lanes)
    assert all(0 < x < drawing.width for x in (*places, *drawing.lanes))
    assert [row.dot_x for row in drawing.rows] == [
        drawing.lanes[min(number, lanes.LANES_MAX - 1)] for number in lane
    ]
    drawn = []
    for x in places:
        begun = None
        for index, row in enumerate(drawing.rows):
            here = [segment for segment in row.segments if segment.x == x]
            assert len(here) <= 1
            assert bool(here) == (begun is not None or any(segment.begins for segment in here))
            for segment in here:
                assert segment.begins == (begun is None)
                begun = index if begun is None else begun
                if segment.ends:
                    drawn.append(Edge(begun, index, segment.kind))
                    begun = None
        assert begun is None
    assert len(drawn) == len(set(drawn))
    assert set(drawn) <= {edge for edge in edges if edge.upper < edge.lower}


def test_a_line_is_left_out_only_if_the_tracks_are_full() -> None:
    nested = [Edge(0, 9 - index, "good") for index in range(lanes.TRACKS_MAX + 2)]
    segments = draw([0] * 10, nested).rows[0].segments
    assert len(segments) == lanes.TRACKS_MAX
    after = [Edge(0, 1, "good"), Edge(2, 3, "good")]
    assert len({segment.x for row in draw([0] * 4, after).rows for segment in row.segments}) == 1


async def task_of(page: Page) -> str:
    tasks = await page.store.read(lambda snapshot: [task.id for task in snapshot.entities("task")])
    return id_to_text(tasks[0])


async def test_an_undo_names_and_joins_what_it_took_back(page: Page) -> None:
    (item,) = await page.propose(("update_task_estimate", {"minutes": 120}))
    path = f"/tasks/{await task_of(page)}/timeline"
    await page.store.write(partial(decisions.confirm, item=id_from_text(item), via="cli"))
    text = (await page.ask(path)).text
    assert "confirmed" in text
    assert re.search(r"<ins><bdi>2 h</bdi></ins>", text)
    assert "takes back" not in text
    page.fleet.now_ms += 60_000
    await page.store.write(partial(decisions.undo, item=id_from_text(item), via="cli"))
    text = (await page.ask(path)).text
    reference = re.search(r'<a href="#(t-\d+)"><bdi>takes back', text)
    assert reference
    assert f'<li class="item" id="{reference[1]}">' in text
    assert text.count('<g class="doubt"') == 2


async def test_what_a_person_did_is_a_sentence_with_its_values_behind_it(page: Page) -> None:
    await page.propose(("set_task_title", {"title": "Better"}))
    task = await task_of(page)
    await page.store.write(lambda tx: lifecycle.create_agent(tx, task, "rules"))
    text = (await page.ask(f"/tasks/{task}/timeline")).text
    (details,) = re.findall(r"<p><bdi>You created an agent</bdi></p><details.*?</details>", text)
    assert "<ins><bdi>rules</bdi></ins>" in details


async def test_hostile_words_and_positions_are_harmless(page: Page) -> None:
    await page.propose(("set_task_title", {"title": "Better"}))
    task = await task_of(page)

    await page.store.write(
        lambda tx: tx.commit([EntityWrite(id_from_text(task), "task", {"title": "<script>\u202e"})])
    )
    text = (await page.ask(f"/tasks/{task}/timeline")).text
    assert ("<script>\u202e" in text, "\u202e" in text) == (False, False)
    assert (await page.ask(f"/tasks/{task}/timeline?before=²")).status == 200
    assert "Nothing happened yet" in (await page.ask(f"/tasks/{task}/timeline?before=0")).text
    assert (await page.ask(f"/tasks/{'0' * 32}/timeline")).status == 404
    assert (await page.ask(f"/tasks/{task}/timeline", {"do": "x"})).status == 405


async def test_changes_made_apart_are_told_with_their_device(page: Page, tmp_path: Path) -> None:
    await page.propose(("set_task_title", {"title": "Better"}))
    task = id_from_text(await task_of(page))
    (tmp_path / "other").mkdir()
    fleet = Fleet(tmp_path / "other")
    desk = fleet.home("desk")
    commits = await page.store.read(lambda snapshot: snapshot.page_lacking([], 0, 1 << 20).commits)
    desk.write(lambda tx: tx.accept_page(commits))
    desk.enter_device("desk <b>")
    desk.set(task, title="Of desk")
    await page.store.write(lambda tx: tx.commit([EntityWrite(task, "task", {"title": "Of laptop"})]))
    vector = await page.store.read(lambda snapshot: snapshot.vector())
    lacking = desk.read(lambda snapshot: snapshot.page_lacking(vector, 0, 1 << 20).commits)
    await page.store.write(lambda tx: tx.accept_page(lacking))
    text = (await page.ask(f"/tasks/{id_to_text(task)}/timeline")).text
    assert text.count("apart from 1 change on") == 2
    assert "apart from 1 change on desk &lt;b&gt;" in text
    fleet.close()
