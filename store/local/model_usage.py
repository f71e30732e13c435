"""Remote models on this device: the request form of each, and their usage per day.

Never replicated, and never the only record of what a run did.
"""

from typing import NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction

DAYS_MAX = 400


class ModelUsage(NamedTuple):
    """The usage of models: requests, tokens, and the cost in millionths of the currency."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    cost_micro: int = 0


def request_form(snapshot: Snapshot, address: str, model: str) -> str:
    """Return the request form of a model at an address; empty if it is not known."""
    row = snapshot.db.execute(
        "SELECT form FROM model_form WHERE address = ? AND model = ?", (address, model)
    ).fetchone()
    return "" if row is None else str(row[0])


def store_request_form(transaction: Transaction, address: str, model: str, text: str) -> None:
    """Store the request form of a model; an empty form deletes it."""
    transaction.db.execute("DELETE FROM model_form WHERE address = ? AND model = ?", (address, model))
    if text:
        transaction.db.execute("INSERT INTO model_form VALUES (?, ?, ?)", (address, model, text))


def add_usage(transaction: Transaction, day: str, model: str, more: ModelUsage) -> None:
    """Add to the usage of a model on a day."""
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


def usage_of_day(snapshot: Snapshot, day: str) -> ModelUsage:
    """Return the usage of all models on a day."""
    row = snapshot.db.execute(
        "SELECT total(requests), total(input), total(output), total(cached), total(reasoning),"
        " total(cost_micro) FROM model_day WHERE day = ?",
        (day,),
    ).fetchone()
    assert row is not None
    return ModelUsage(*(round(value) for value in row))
