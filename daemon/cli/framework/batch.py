"""Doing the same to several things, one after the other: each is one request, and one commit.

Never stops at one that is refused: the others are done, and the exit status says that it was in part.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from daemon.cli.api.client import ApiAnswer
from daemon.cli.api.command_error import EXIT_DONE, EXIT_FAILED, EXIT_PARTLY, CommandError
from daemon.words.terminal_text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

_ENDS_ALL = ("no_daemon", "timeout", "disk")
"""Refusals that the next request would meet too."""


def run_for_each(
    output: Output,
    refs: Sequence[str],
    ask: Callable[[str], ApiAnswer],
    view: Callable[[Any, Display], Iterable[str]],
    rows: Callable[[Any], Iterable[Sequence[object]]],
) -> int:
    """Ask for each in turn and show what was done; views and rows take a list. Returns the exit status.

    One alone is answered as it is, and refused as it is; of several, a refused one is told in a line.
    """
    if len(refs) == 1:
        answer = ask(refs[0])
        output.write_answer(
            answer,
            lambda answer_part, display: view([answer_part], display),
            lambda answer_part: rows([answer_part]),
        )
        return EXIT_DONE
    answers: list[ApiAnswer] = []
    refusals: list[tuple[str, CommandError]] = []
    for ref in dict.fromkeys(refs):
        try:
            answers.append(ask(ref))
        except CommandError as refusal:
            if refusal.code in _ENDS_ALL and not answers:
                raise
            refusals.append((ref, refusal))
            if refusal.code in _ENDS_ALL:
                break
    jsons = [answer.json for answer in answers]
    failed = [{"ref": ref, **command_error.as_json()} for ref, command_error in refusals]
    date = answers[-1].date if answers else ""
    # Programs get what was refused beside what was done; people get it in words.
    everything = jsons if output.is_for_people or output.form == "plain" else [*jsons, *failed]
    output.write_answer(ApiAnswer(everything, date), view, rows)
    sys.stdout.flush()
    if refusals:
        # Most commands are not refused: the words of refusals are imported for those that are.
        from daemon.cli.framework.error_lines import error_line

        for ref, refused in refusals:
            print(f"placet: {escape(ref)}: {escape(error_line(refused))}", file=sys.stderr)
    return _status(len(answers), [command_error for _, command_error in refusals])


def _status(count: int, refusals: Sequence[CommandError]) -> int:
    if not refusals:
        return EXIT_DONE
    if count:
        return EXIT_PARTLY
    statuses = {refusal.exit_status for refusal in refusals}
    return statuses.pop() if len(statuses) == 1 else EXIT_FAILED
