"""What a card shows of an ask: the action and its arguments as they are, with the agent's words beside them.

Never shortens an argument: what is long is folded.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from daemon.agents.asks.ask_views import AskDetails, AskState
from daemon.agents.tools.presence import OTHER_DEVICE
from daemon.web.decide.asked_parts import FOLDERS, AskedPart, asked_parts
from daemon.web.decide.item_rows import elsewhere_words
from daemon.words import terms
from daemon.words.dates import relative_future_time, relative_time
from daemon.words.proposals import VERDICTS_ON_ASKS, need_words
from daemon.words.terminal_text import escape
from daemon.words.translation import _

_LINE_CHARS: Final = 72
_SHOWN_CHARS: Final = 320
_LITTLE_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class ArgumentBlock:
    """Lines of arguments. `rest` is the end of the last one, folded; "" if that is shown whole."""

    lines: list[str]
    rest: str


@dataclass(frozen=True, slots=True)
class AskRow:
    """An ask. `shown` is "ID:HASH" of exactly what is on the screen: `args`, which `parts` say for a person.

    `need` says what a verdict needs in order to count. `elsewhere` says where to decide if a verdict on this
    device does not count, and is "" otherwise. `idle` says which verdicts did not count. `has_folder`: one of
    the arguments says in which folder it would be done, so that a rule for them is one for that folder.
    """

    id: str
    shown: str
    title: str
    agent: str
    agent_id: str
    marks: list[tuple[str, str]]
    asked: str
    expires: str
    action: str
    parts: list[AskedPart]
    args: list[ArgumentBlock]
    why: str
    options: list[str]
    need: str
    elsewhere: str
    idle: list[str]
    deferred: bool
    has_folder: bool = False


def ask_row(ask: AskDetails, own_device: str, now_s: float) -> AskRow:
    """Return what a card shows of an ask on a device, which is given by its id."""
    agent = ask.agent_name or _("an agent")
    is_idle_here = ask.presence == OTHER_DEVICE and ask.home_device == own_device
    return AskRow(
        id=ask.ask_id,
        shown=f"{ask.ask_id}:{ask.asked_hash}",
        title=ask.title,
        agent=agent,
        agent_id=ask.agent_id,
        marks=_marks(ask),
        asked=relative_time(ask.made_at, now_s),
        expires=relative_future_time(ask.not_after, now_s),
        action=ask.name,
        parts=asked_parts(ask.asked_args),
        args=_blocks(ask.asked_args),
        why=ask.why,
        options=ask.options,
        need=need_words(ask.presence),
        elsewhere=elsewhere_words(ask.agent_name) if is_idle_here else "",
        idle=[
            _("{verdict} on {device} ({when}): it does not count").format(
                verdict=terms.proposal_status(VERDICTS_ON_ASKS.get(verdict.verdict, verdict.verdict)),
                device=verdict.device_name,
                when=relative_time(verdict.at, now_s),
            )
            for verdict in ask.idle_verdicts
        ],
        deferred=ask.state == AskState.DEFERRED,
        has_folder=any(name in FOLDERS for name in ask.asked_args),
    )


def _blocks(args: Any) -> list[ArgumentBlock]:
    """Write arguments as JSON, a line each if they are long together; the end of a long line is folded."""
    lines = _lines(args)
    blocks, shown = [], list[str]()
    for line in lines:
        if len(line) <= _SHOWN_CHARS + _LITTLE_CHARS:
            shown.append(line)
            continue
        blocks.append(ArgumentBlock([*shown, line[:_SHOWN_CHARS]], line[_SHOWN_CHARS:]))
        shown = []
    return [*blocks, ArgumentBlock(shown, "")] if shown else blocks


def _lines(args: Any) -> list[str]:
    whole = visible_json(args)
    if len(whole) <= _LINE_CHARS or not isinstance(args, dict):
        return [whole]
    members = [f"  {visible_json(name)}: {visible_json(value)}" for name, value in sorted(args.items())]
    return ["{", *(f"{member}," for member in members[:-1]), members[-1], "}"]


def visible_json(value: Any) -> str:
    """Write a value as JSON on one line. What could hide or reorder text is an escape of JSON."""
    return visible_line(json.dumps(value, ensure_ascii=False, sort_keys=True))


def visible_line(line: str) -> str:
    """Return a line of JSON that means the same, with escapes for what could hide or reorder text."""
    if escape(line) == line:
        return line
    return "".join(
        character if escape(character) == character else json.dumps(character)[1:-1] for character in line
    )


def _marks(ask: AskDetails) -> list[tuple[str, str]]:
    marks = []
    if ask.state == AskState.DISPUTED:
        marks.append((_("disputed: your devices decided differently"), "red"))
    if ask.state == AskState.DEFERRED:
        marks.append((_("deferred"), ""))
    return marks
