"""Which things of a file are those that an earlier version of it had, by keys and words alone.

Never reads a file or a store: a journal is here a list of keys with the words that the file last said.
"""

from collections.abc import Iterator
from itertools import count

from hypothesis import example, given
from hypothesis import strategies as st

from daemon.formats.core.similarity import TextElement, keys_of, pair_similar

Journal = list[tuple[str, str]]
"""The keys of all things, in their order, each with what the file last said of it."""

# Some read alike, so that all the ways of pairing are taken.
titles = st.sampled_from(["water plants", "water plant", "water all plants", "call Ana", "B", "A: B"])
_texts = st.lists(titles, max_size=6)
_headings = st.lists(st.tuples(st.sampled_from(["B", "C"]), titles), max_size=6)


def key_of(heading: str, occurrence: int) -> str:
    return f"{heading}/{occurrence}"


def elements(file: list[tuple[str, str]], journal: Journal) -> Iterator[TextElement]:
    """Yield the things of a file: a heading makes the key of each, a title its words."""
    taken = {key for key, _ in journal}
    occurrences: dict[str, Iterator[int]] = {}
    for heading, words in file:
        own = key_of(heading, next(occurrences.setdefault(heading, count(1))))
        yield TextElement(keys_of(own, f"{own}/{{}}".format, taken.__contains__), words)


def import_file(journal: Journal, file: list[tuple[str, str]]) -> tuple[Journal, list[str]]:
    """Return the journal after an import, and the key of each thing of the file."""
    new = list(elements(file, journal))
    pairs = pair_similar(new, [TextElement([key], words) for key, words in journal])
    assert len(set(pairs.values())) == len(pairs)
    keys = [
        journal[pairs[place]][0] if place in pairs else str(element.keys[-1])
        for place, element in enumerate(new)
    ]
    assert len(set(keys)) == len(keys)
    words_now = dict(zip(keys, [words for _, words in file], strict=True))
    return list((dict(journal) | words_now).items()), keys


@given(st.lists(_headings, min_size=1, max_size=4))
@example([[("B", "B")], [("B", "A: B"), ("B", "A: B")]])
@example([[("B", "water plant"), ("C", "water plants")], [("B", "water plants"), ("B", "water plants")]])
def test_the_same_file_finds_each_thing_under_its_key_again(files):
    journal: Journal = []
    for file in files:
        journal, keys = import_file(journal, file)
        assert import_file(journal, file) == (journal, keys)


@given(_texts)
def test_what_is_new_has_the_key_of_its_own_words(file):
    _, keys = import_file([], [("B", words) for words in file])
    assert keys == [key_of("B", n + 1) for n in range(len(file))]
