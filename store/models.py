"""What this device keeps of remote models beside the log: how each is asked, and what was asked in a day.

Never replicated, and never the only place of what a run brought about.
"""

from typing import NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction

DAYS_MAX = 400


class Spent(NamedTuple):
    """What was asked of models, in tokens, and what it cost in millionths."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    cost_micro: int = 0


def form(snapshot: Snapshot, address: str, model: str) -> str:
    """Return how a model at an address is asked; empty where that is not known."""
    row = snapshot.db.execute(
        "SELECT form FROM model_form WHERE address = ? AND model = ?", (address, model)
    ).fetchone()
    return "" if row is None else str(row[0])


def keep_form(transaction: Transaction, address: str, model: str, written: str) -> None:
    """Remember how a model is asked; an empty form is forgotten."""
    transaction.db.execute("DELETE FROM model_form WHERE address = ? AND model = ?", (address, model))
    if written:
        transaction.db.execute("INSERT INTO model_form VALUES (?, ?, ?)", (address, model, written))


def book(transaction: Transaction, day: str, model: str, more: Spent) -> None:
    """Add to what was asked of a model on a day."""
    transaction.db.execute(
        "INSERT INTO model_day (day, model, requests, input, output, cached, reasoning, cost_micro)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, model) DO UPDATE SET"
        " requests = requests + excluded.requests, input = input + excluded.input,"
        " output = output + excluded.output, cached = cached + excluded.cached,"
        " reasoning = reasoning + excluded.reasoning, cost_micro = cost_micro + excluded.cost_micro",
        (day, model, *more),
    )
    transaction.db.execute(
        "DELETE FROM model_day WHERE day != ? AND no <= (SELECT max(no) FROM model_day) - ?", (day, DAYS_MAX)
    )


def spent(snapshot: Snapshot, day: str) -> Spent:
    """Return what was asked of all models on a day."""
    row = snapshot.db.execute(
        "SELECT total(requests), total(input), total(output), total(cached), total(reasoning),"
        " total(cost_micro) FROM model_day WHERE day = ?",
        (day,),
    ).fetchone()
    assert row is not None
    return Spent(*(round(value) for value in row))
