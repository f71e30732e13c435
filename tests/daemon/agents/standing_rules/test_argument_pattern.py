"""What a rule's pattern lets through: exactly what was written, and nothing that only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.standing_rules.argument_pattern import Pattern, examples_of, matches

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=4), children, max_size=3)
    ),
    max_leaves=6,
)
arguments = st.dictionaries(st.text(max_size=4), values, max_size=4)


@given(arguments)
def test_exact_values_match_themselves(args: dict[str, object]):
    assert matches(Pattern(args, {}), args)


@given(arguments, st.text(min_size=5, max_size=6), values)
def test_an_argument_more_or_less_is_another_action(args: dict[str, object], key: str, value: object):
    more = {**args, key: value}
    assert not matches(Pattern(args, {}), more)
    assert not matches(Pattern(more, {}), args)
    if isinstance(value, str):
        assert not matches(Pattern(args, {key: ""}), args)


@given(arguments, st.dictionaries(st.text(max_size=4), st.text(min_size=1).filter(str.strip), max_size=3))
def test_the_examples_of_a_rule_are_what_it_lets_through_and_what_it_does_not(
    exact: dict[str, object], begins: dict[str, str]
):
    pattern = Pattern({name: value for name, value in exact.items() if name not in begins}, begins)
    examples = examples_of(pattern)
    assert matches(pattern, examples.let_through)
    assert not matches(pattern, examples.asking)


def test_an_example_goes_on_where_the_beginning_ends():
    pattern = Pattern({"in": "/srv"}, {"command": "git status", "file": "/srv/"})
    examples = examples_of(pattern)
    assert examples.let_through == {"in": "/srv", "command": "git status docs", "file": "/srv/docs"}
    assert examples.asking == {"in": "/srv", "command": "git status --output=docs", "file": "/srv/"}
    assert examples_of(Pattern({"to": "ana", "n": 1}, {})).asking == {"to": "ana docs", "n": 1}
    assert examples_of(Pattern({"n": 1}, {})).asking == {"n": 1, "other": "docs"}


SIGNS_OF_A_SHELL = ";&|<>$`\\\"'()[]{}*?~#!^%\n\r\t\0"


@given(
    st.text("ab /", min_size=1, max_size=4).filter(str.strip),
    st.text("aé1-_/:@+, ", max_size=6),
    st.sampled_from(SIGNS_OF_A_SHELL),
    st.integers(0, 6),
)
def test_one_sign_that_a_shell_interprets_ends_what_a_beginning_lets_through(
    beginning: str, words: str, sign: str, place: int
):
    pattern = Pattern({}, {"text": beginning})
    assert matches(pattern, {"text": f"{beginning} {words}"}) is (" -" not in f" {words}")
    assert not matches(pattern, {"text": f"{beginning} {words[:place]}{sign}{words[place:]}"})
    assert not matches(Pattern({}, {"text": "x" + beginning}), {"text": beginning})


def test_a_beginning_goes_on_with_whole_words_and_never_with_another_command():
    """One table: the beginning, what follows, and whether it is let through."""
    fits = {
        ("git status", ""): True,
        ("git status", " docs/a-b.md a- +x"): True,
        ("git log --format=", "-x a"): True,
        ("https://example.org/?q=", "rain"): True,
        ("git ls-remote ", "--upload-pack=./evil ."): False,
        ("git ls-remote ", "origin --upload-pack ./evil"): False,
        ("git log ", "-p"): False,
        ("git log", "  -p"): False,
        ("git log --format=", "x --output=a"): False,
        ("rg ", "--pre x"): False,
        ("go test ", "-exec reboot"): False,
        ("make test", " SHELL=./evil"): False,
        ("make test", " -f x.mk"): False,
        ("make SHELL:", "=./evil"): False,
        ("make ", ".SHELLFLAGS+=x"): False,
        ("Weekly ", "report of München 12"): True,
        ("to ana@", "example.org"): True,
        ("cat docs/", "guide/page.md"): True,
        **{
            ("git status", rest): False
            for rest in (
                *(
                    " && rm -rf ~",
                    "; ls",
                    " | sh",
                    " & ls",
                    " > a",
                    " $(ls)",
                    " `ls`",
                    " ~",
                    " *",
                    " {a,b}",
                    " a?",
                    " [a]",
                ),
                *(
                    " 'a'",
                    ' "a"',
                    " \\a",
                    " #",
                    " !!",
                    " a^b",
                    " %PATH%",
                    " =ls",
                    "\nls",
                    "\rls",
                    "\tls",
                    " \u202ea",
                    " \uff1b ls",
                ),
                *(
                    "es",
                    "-x",
                    "/../../bin/sh",
                    ".sh",
                    "\u00a0ls",
                    " ../a",
                    " a/../b",
                    " --x=..",
                    " \u2018a\u2019",
                ),
            )
        },
        ("cat docs/", "../../etc/passwd"): False,
        ("cat docs/.", "./secret"): False,
        ("", "ls"): False,
        (" ", "ls"): False,
    }
    wrong = {
        case: fit
        for case, fit in fits.items()
        if matches(Pattern({}, {"command": case[0]}), {"command": "".join(case)}) is not fit
    }
    assert not wrong


@pytest.mark.parametrize(
    ("allowed", "given_value"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, ""), ([1], [True])]
)
def test_values_of_other_types_differ(allowed: object, given_value: object):
    assert not matches(Pattern({"value": allowed}, {}), {"value": given_value})


@pytest.mark.parametrize("hidden", ["\n", "\r", "\x00", "\u202e", "\u2028", "\u200b", "\x1b"])
def test_nothing_hides_behind_a_beginning(hidden: str):
    pattern = Pattern({}, {"command": "npm test"})
    assert matches(pattern, {"command": "npm test watch"})
    assert not matches(pattern, {"command": f"npm test{hidden}rm -rf ~"})


def test_a_star_in_an_exact_text_is_a_star():
    assert not matches(Pattern({"command": "rm *"}, {}), {"command": "rm -rf ~"})
    assert matches(Pattern({"command": "rm *"}, {}), {"command": "rm *"})
