"""Doing the same to several things, one after the other: each is one request, and one commit.

Never stops at one that is refused: the others are done, and the exit status says that it was in part.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from daemon.cli.client import Answer
from daemon.cli.refusals import DONE, FAILED, PARTLY, Refusal
from daemon.cli.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from daemon.cli.look import Look
    from daemon.cli.output import Output

_ENDS_ALL = ("no_daemon", "timeout", "disk")
"""Refusals that the next request would meet too."""


def each(
    output: Output,
    refs: Sequence[str],
    ask: Callable[[str], Answer],
    view: Callable[[Any, Look], Iterable[str]],
    rows: Callable[[Any], Iterable[Sequence[object]]],
) -> int:
    """Ask for each in turn and show what was done; views and rows take a list. Returns the exit status.

    One alone is answered as it is, and refused as it is; of several, a refused one is told in a line.
    """
    if len(refs) == 1:
        answer = ask(refs[0])
        output.show(answer, lambda told, look: view([told], look), lambda told: rows([told]))
        return DONE
    answers: list[Answer] = []
    refusals: list[tuple[str, Refusal]] = []
    for ref in dict.fromkeys(refs):
        try:
            answers.append(ask(ref))
        except Refusal as refusal:
            if refusal.code in _ENDS_ALL and not answers:
                raise
            refusals.append((ref, refusal))
            if refusal.code in _ENDS_ALL:
                break
    told = [answer.json for answer in answers]
    failed = [{"ref": ref, **one.as_json()} for ref, one in refusals]
    date = answers[-1].date if answers else ""
    # Programs get what was refused beside what was done; people get it in words.
    everything = told if output.for_people or output.form == "plain" else [*told, *failed]
    output.show(Answer(everything, date), view, rows)
    sys.stdout.flush()
    for ref, one in refusals:
        print(f"placet: {shown(ref)}: {shown(one.as_line())}", file=sys.stderr)
    return _status(len(answers), [one for _, one in refusals])


def _status(done: int, refusals: Sequence[Refusal]) -> int:
    if not refusals:
        return DONE
    if done:
        return PARTLY
    statuses = {refusal.status for refusal in refusals}
    return statuses.pop() if len(statuses) == 1 else FAILED
