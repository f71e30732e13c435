"""Whether arguments are those that a rule allows: the whole comparison, without a store or a clock.

Never matches more than was written: an argument that the pattern does not name makes another action.
Nobody here knows which arguments a shell runs, so what follows a beginning is judged as if one ran it.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from daemon.agents.standing_rules.wide_beginnings import awaits_a_command, leaves_the_command_open
from syncproto import codec

_PLAIN: Final = frozenset(" -_./:@+,")
"""The signs, beside letters and digits, that no shell interprets within a line, and no `NAME=` needs."""
_OPEN_ENDS: Final = tuple(" /@:=")
"""How a beginning ends that its writer left open on purpose; any other one ends a word."""

_LONGER: Final = ("docs", " docs")


class Pattern(NamedTuple):
    """The arguments that a rule allows: those that are exactly so, and texts by how they begin."""

    exact: Mapping[str, Any]
    begins: Mapping[str, str]

    @property
    def digest_source(self) -> bytes:
        """Return the bytes that the id of a rule follows from."""
        return codec.encode([dict(self.exact), dict(self.begins)])


def matches(pattern: Pattern, args: Mapping[str, Any]) -> bool:
    """Report whether a pattern allows these arguments, which are values as the log has them."""
    if args.keys() != pattern.exact.keys() | pattern.begins.keys():
        return False
    return all(_is_same(args[key], value) for key, value in pattern.exact.items()) and all(
        _goes_on_from(args[key], beginning) for key, beginning in pattern.begins.items()
    )


def wide_arguments(pattern: Pattern) -> list[str]:
    """Return the arguments whose beginning lets an agent choose what is run, in the order of their names.

    These are all of them if an exact argument is a program alone that runs others, such as `bash`.
    """
    if any(awaits_a_command(name, value) for name, value in pattern.exact.items()):
        return sorted(pattern.begins)
    return sorted(
        name for name, beginning in pattern.begins.items() if leaves_the_command_open(name, beginning)
    )


class Examples(NamedTuple):
    """Arguments that a rule lets through, and similar ones that still wait for a person."""

    let_through: Mapping[str, Any]
    asking: Mapping[str, Any]


def examples_of(pattern: Pattern) -> Examples:
    """Return two examples of what a pattern allows and does not, both as `matches` judges them."""
    plain = {**pattern.exact, **pattern.begins}
    let_through = dict(plain)
    for name, beginning in pattern.begins.items():
        longer = (beginning + rest for rest in _LONGER)
        let_through[name] = next(
            (text for text in longer if matches(pattern, {**plain, name: text})), beginning
        )
    return Examples(let_through, _asking(pattern, plain))


def _asking(pattern: Pattern, plain: dict[str, Any]) -> dict[str, Any]:
    """Return arguments that go on too far from those of a pattern, or one more if none of them is a text."""
    for name in pattern.begins:
        return {**plain, name: f"{plain[name]} --output=docs"}
    for name, value in pattern.exact.items():
        if isinstance(value, str):
            return {**plain, name: f"{value} docs"}
    more = "other"
    while more in plain:
        more += "_"
    return {**plain, more: "docs"}


def _is_same(value: object, allowed: object) -> bool:
    # For Python 1, 1.0 and True are equal; their encodings differ.
    return codec.encode(value) == codec.encode(allowed)


def _goes_on_from(value: object, beginning: str) -> bool:
    """Report whether a text begins so, and goes on with words that are neither a shell's nor options."""
    if not isinstance(value, str) or not value.startswith(beginning):
        return False
    rest = value[len(beginning) :]
    ends_at_a_word = beginning.endswith(_OPEN_ENDS) or rest.startswith(" ")
    return not rest or (bool(beginning.strip()) and ends_at_a_word and _is_plain(beginning, rest))


def _is_plain(beginning: str, rest: str) -> bool:
    """Report whether a shell takes the rest as it is, no option is in it, and no path that leads upwards.

    Many a harmless program runs another if an option or an assignment says so: `make SHELL=x`, `rg --pre x`.
    """
    # A path may begin before the rest does.
    words = re.split("[ /:=]", beginning.rpartition(" ")[2] + rest)
    is_data = all(sign.isalnum() or sign in _PLAIN for sign in rest)
    has_option = " -" in beginning[-1:] + rest
    return is_data and not has_option and ".." not in words
