"""The index of words: that it finds what the fold holds, and follows it wherever it goes.

Never reads the index but through what the store offers.
"""

from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.fold import word_index
from store.fold.word_index import label_word
from store.queries.word_search import WordSearch
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.stores import StoreBench, entity_id, exchange, write


def put(store: Store, number: int, kind: str = "task", **fields: Any) -> EntityId:
    """Write on an entity."""
    with store.write() as tx:
        tx.commit([EntityWrite(entity_id(number), kind, fields)])
    return entity_id(number)


def tagged(label: EntityId, *, on: bool) -> dict[str, Any]:
    """Return the field that puts a label on a task, or takes it off."""
    return {f"label_ids/{id_to_text(label)}": on}


def find(store: Store, query: str) -> list[EntityId]:
    with store.read() as snapshot:
        finder = WordSearch(snapshot)
        return list(finder.matching_ids(finder.parse_query(query)))


def sound(store: Store) -> bool:
    """Return whether the index is what the fold makes of it."""
    with store.read() as snapshot:
        return word_index.index_faults(snapshot.db) == []


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("Café crème", "cafe"),
        ("cafe", "CAFÉ"),
        ("Straße kehren", "straße"),
        ("Call the landlord", "land"),
        ("Call the landlord", "landlord call"),
        ("Call the landlord", '"the landlord"'),
        ("Call the landlord", "call -plumber"),
        ("e-mail to Ann", "e-mail"),
        ("ΑΘΉΝΑ", "αθήνα"),
        ("Привет, мир", "мир"),
        ("NEAR the AND gate", "near AND"),
        ("C++ and C#", "c++"),
        ("Upgrade to 20.04 at 3 GB/s", "20.04 GB/s"),
        ("Call Kim O'Brien", "o'brien"),
        ("Write to kim@example.org", "kim@example.org"),
        ("Discount of 50%", "50%"),
        ("İstanbul", "istanbul"),
        ("Limba română", "romana"),
        ("搬家 tomorrow", "搬家"),
    ],
)
def test_words_find_a_title_whatever_their_case_accents_and_order(title: str, query: str, bench: StoreBench):
    store = bench.store("a")
    task = put(store, 1, title=title)
    assert find(store, query) == [task]


@pytest.mark.parametrize(
    "query",
    [
        "landlord the call x",
        '"landlord the"',
        "lord",
        "call -landlord",
        "the lan call",
        "",
        "...",
        '"',
        "-",
        "-call",
    ],
)
def test_words_that_are_not_there_find_nothing(query: str, bench: StoreBench):
    store = bench.store("a")
    put(store, 1, title="Call the landlord")
    assert find(store, query) == []


@given(query=st.text(alphabet="ab \"-*^:(){}+\\\0'é\u200dNOT AND OR NEAR", max_size=40))
def test_no_query_is_a_syntax_error(query: str, finding: Snapshot):
    finder = WordSearch(finding)
    list(finder.matching_ids(finder.parse_query(query)))
    finder.tasks_titled(query, 5)


@pytest.fixture(scope="module")
def finding(tmp_path_factory: pytest.TempPathFactory):
    bench = StoreBench(tmp_path_factory.mktemp("finding"))
    store = bench.store("a")
    put(store, 1, title="a b ab")
    put(store, 2, kind="label", name="a b")
    with store.read() as snapshot:
        yield snapshot
    bench.close()


def test_a_word_that_is_repeated_is_looked_for_once(finding: Snapshot):
    terms = WordSearch(finding).parse_query("tea Tea -tea green tea green")
    assert [(term.words, term.excluded) for term in terms] == [
        (("tea",), False),
        (("tea",), True),
        (("green",), False),
        (("green",), False),
    ]
    assert [term.is_prefix for term in terms] == [False, False, False, True]


def test_titles_come_before_texts(bench: StoreBench):
    store = bench.store("a")
    note = put(store, 1, kind="entry", text="garden garden garden")
    task = put(store, 2, title="The garden and all that is to be done in it before the winter comes")
    assert find(store, "garden") == [task, note]


def test_each_kind_is_found_by_its_own_words(bench: StoreBench):
    store = bench.store("a")
    words = {
        put(store, 1, title="x", reason="waiting"): "waiting",
        put(store, 2, kind="checklist", title="shopping"): "shopping",
        put(store, 3, kind="checklist_item", title="milk"): "milk",
        put(store, 4, kind="entry", text="remember this"): "remember",
        put(store, 5, kind="time_record", note="drilled"): "drilled",
    }
    assert {identifier: find(store, word) for identifier, word in words.items()} == {
        identifier: [identifier] for identifier in words
    }


def test_a_label_finds_its_tasks_by_its_name_of_now(bench: StoreBench):
    store = bench.store("a")
    label, category = entity_id(8), entity_id(9)
    put(store, 8, kind="label", name="garden")
    put(store, 9, kind="category", name="House")
    task = put(store, 1, title="x", category_id=category, **tagged(label, on=True))
    assert find(store, "garden x") == [task]
    assert find(store, "hou") == [task]
    put(store, 8, kind="label", name="yard")
    assert find(store, "garden") == []
    assert find(store, "yard") == [task]
    put(store, 1, **tagged(label, on=False))
    assert find(store, "yard") == []
    assert sound(store)


def test_what_is_overwritten_is_found_no_more(bench: StoreBench):
    store = bench.store("a")
    task = put(store, 1, title="first words")
    put(store, 1, title="second words")
    assert find(store, "first") == []
    assert find(store, "second") == [task]


def test_an_undone_creation_leaves_the_index_and_a_confirmed_one_enters_it(bench: StoreBench):
    store = bench.store("a")
    item, proposed = entity_id(7), entity_id(8)
    with store.write() as tx:
        tx.commit(
            [EntityWrite(proposed, "task", {"title": "proposed"}, effect=item, by=AuthorKind.AGENT)],
            by=AuthorKind.USER,
        )
    assert find(store, "proposed") == []
    assert sound(store)
    decision = {"item_id": item, "verdict": "confirmed", "seen": []}
    put(store, 9, kind="decision", **decision)
    assert find(store, "proposed") == [proposed]
    put(store, 10, kind="decision", **(decision | {"verdict": "undone", "seen": [entity_id(9)]}))
    assert find(store, "proposed") == []
    assert sound(store)


@given(
    edits=st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]),
            st.integers(1, 3),
            st.sampled_from(["oak", "elm ash", "", "Oäk"]),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_after_any_edits_and_exchanges_the_index_is_that_of_the_fold(edits, tmp_path_factory):
    bench = StoreBench(tmp_path_factory.mktemp("edits"))
    try:
        stores = {name: bench.store(name) for name in ("a", "b")}
        for name, number, title, meet in edits:
            write(stores[name], entity_id(number), title=title)
            if meet:
                exchange(stores["a"], stores["b"])
                exchange(stores["b"], stores["a"])
        assert all(sound(store) for store in stores.values())
    finally:
        bench.close()


def test_a_fault_in_the_index_is_told_and_a_rebuild_mends_it(bench: StoreBench):
    store = bench.store("a")
    task = put(store, 1, title="words")
    with store.write() as tx:
        tx.db.execute("DELETE FROM search")
    assert not sound(store)
    with store.write() as tx:
        word_index.rebuild_index(tx.db)
    assert sound(store)
    assert find(store, "words") == [task]


def test_a_prefix_of_an_id_costs_a_look_up(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        ids = [tx.new_id() for _ in range(500)]
        tx.commit([EntityWrite(identifier, "task", {"title": "x"}) for identifier in ids])
    steps: list[int] = []
    with store.read() as snapshot:
        snapshot.db.trace_v2(
            apsw.SQLITE_TRACE_PROFILE,
            lambda event: steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]),
        )
        for digits in (3, 8, 9, 32):
            prefix = id_to_text(ids[7])[:digits]
            wanted = sorted(identifier for identifier in ids if id_to_text(identifier).startswith(prefix))
            assert snapshot.ids_with_prefix(["task"], prefix, 9) == wanted[:9]
        assert snapshot.ids_with_prefix(["agent"], id_to_text(ids[7]), 9) == []
        snapshot.db.trace_v2(0, None)
    assert sum(steps) < 1000


def test_a_label_is_marked_on_its_tasks_by_its_own_id():
    assert label_word(entity_id(1)) == id_to_text(entity_id(1))[:16]


def test_a_snippet_is_the_densest_stretch_with_its_hits(bench: StoreBench):
    store = bench.store("a")
    long = " ".join(["word"] * 40 + ["red", "then", "blue", "sky"] + ["word"] * 40 + ["red"])
    with store.read() as snapshot:
        finder = WordSearch(snapshot)
        snippet = finder.snippet(long, finder.parse_query("red blu"))
        assert snippet is not None
        assert [part.text for part in snippet.parts if part.is_match] == ["red", "blue"]
        assert (snippet.cut_before, snippet.cut_after) == (True, True)
        short = finder.snippet("Ein Café!", finder.parse_query("cafe"))
        assert short is not None
        assert [tuple(part) for part in short.parts] == [("Ein ", False), ("Café", True), ("!", False)]
        assert finder.snippet("nothing here", finder.parse_query("cafe")) is None
        row = finder.snippet("a red sky, a blue sky", finder.parse_query('"blue sky"'))
        assert row is not None
        assert [part.text for part in row.parts if part.is_match] == ["blue", "sky"]
