"""A function's name has a verb or a noun: it says what the function does, or what it returns.

Never imports the code that it reads.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.source_tree import PACKAGES, functions, modules


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


PARTICIPLES = words_of("""
    begun bound broken brought built caught chosen come dealt done drawn driven fallen felt forgotten fought
    found frozen given gone grown heard held hidden hung kept known laid led left lent lost made meant met
    paid seen sent shaken shown shut sold sought spent spoken stolen stood struck taken thought thrown told
    torn understood woken won worn written
""")
"""Participles that do not end in "-ed". Those that are also verbs, such as `read` and `cut`, are not here."""
NOUNS_IN_ING = frozenset(
    {"beginning", "ending", "finding", "greeting", "heading", "ruling", "setting", "spelling"}
)
VERBS_IN_ED = frozenset({"embed", "exceed", "feed", "heed", "need", "proceed", "seed", "speed"})
"""Words in "-ing" and "-ed" that are no participles."""
LINK_WORDS = words_of("""
    a above after all any as aside at away back before below beside by down each either every for from here in
    it many nth of off often on one other others out over own since some the there these to twice up which who
    with within without
""")
"""Words that need another one: which thing, or what of it?"""
FIELDS_IN_TIME = frozenset({"happened_at", "updated_at"})
"""Functions that return the field of this name."""


def is_participle(word: str) -> bool:
    """Return whether a word says only that something happened to a thing, and not to which."""
    if word in NOUNS_IN_ING | VERBS_IN_ED:
        return False
    return word in PARTICIPLES or word.endswith("ed") or (word.endswith("ing") and len(word) > len("string"))


def is_vague(name: str) -> bool:
    """Return whether a name is a bare participle or link word, or a participle with a link word behind it."""
    if name.startswith("__"):
        return False
    plain = name.strip("_")
    first, *rest = plain.split("_")
    if plain in FIELDS_IN_TIME or len(rest) > 1:
        return False
    return (is_participle(first) or (not rest and first in LINK_WORDS)) and LINK_WORDS.issuperset(rest)


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is read as a field of its owner: `item.disputed`."""
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in function.decorator_list}
    return not names.isdisjoint({"property", "cached_property"})


def vague_functions(path: Path) -> Iterator[str]:
    """Yield the places of a module's functions with a vague name."""
    for function in functions(path):
        if is_vague(function.name) and not is_property(function):
            yield f"{path}:{function.lineno}: {function.name}"


def test_a_functions_name_says_what_it_does_or_returns() -> None:
    assert [place for path in modules(*PACKAGES) for place in vague_functions(path)] == []


def test_a_name_without_a_verb_or_a_noun_is_vague() -> None:
    names = ["_told", "worded", "_listing", "of", "_each", "_left", "_seen_at", "taken_off", "_with"]
    assert [name for name in names if not is_vague(name)] == []


def test_a_verb_or_a_noun_makes_a_name() -> None:
    names = ["read", "_cut", "_feed", "greeting", "known_devices", "_ruling_on", "runs_of_agent", "__init__"]
    assert [name for name in names if is_vague(name)] == []
