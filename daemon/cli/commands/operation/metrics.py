"""Prints the metrics that Prometheus would scrape.

Never keeps figures over time: the program that scrapes does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer
from daemon.cli.framework.declaration import command, pass_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.terminal.output import Output


@command("metrics")
@pass_output
def metrics_command(output: Output) -> None:
    """Print the metrics as Prometheus reads them. With --plain: a name and a number per line."""
    pieces = client.download("/metrics", {}, client.ANSWER_TIMEOUT_S)
    text = b"".join(piece for piece, _whole in pieces).decode()
    samples = dict(_samples(text))
    output.write_answer(
        ApiAnswer(samples, ""), lambda _answer, _display: text.splitlines(), lambda all_: all_.items()
    )


def _samples(text: str) -> Iterator[tuple[str, float]]:
    for line in text.splitlines():
        name, _, number = line.rpartition(" ")
        if name and not line.startswith("#"):
            yield name, float(number)
