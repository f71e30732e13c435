"""The check of the model for `doctor` and `status`: who answers for agents, and what prevents an answer.

Never calls the model's server, and never returns the key, only its source.
"""

from collections.abc import Iterable, Iterator, Sequence

from daemon.agents.running.remote_model import RemoteModel, RemoteModelStatus
from daemon.control.health.check import Check, make_check
from daemon.journal.references.names import shown_name
from daemon.text_comparison import comparison_key
from daemon.timestamps import iso_utc
from store.sentence import sentence
from store.snapshot import Snapshot

TROUBLE_REMEDY = sentence(
    "see-to-model", "see to the cause; until then agents wait, or the rules answer if model.fallback says so"
)
BUDGET_REMEDY = sentence(
    "wait-or-raise-budget",
    "raise budget.cost_per_day, or wait: agents wait too, or the rules answer if model.fallback says so",
)


async def check_models(remotes: Sequence[RemoteModel]) -> list[Check]:
    """Check each model that answers for agents on this device."""
    if not remotes:
        summary = sentence("model-is-rules", "agents use rules; no server is asked")
        return [make_check("model", summary, well=True, code="model_rules")]
    return [model_check(await remote.status()) for remote in remotes]


def model_check(status: RemoteModelStatus) -> Check:
    """Check a remote model: a fault is reported before a spent budget."""
    parameters = _parameters(status)
    if status.fault is not None:
        text = sentence(
            "model-in-trouble",
            "{model} at {address} has given no usable answer since {since}: {fault}",
            model=status.model,
            address=status.address,
            since=parameters["since"],
            fault=status.fault,
        )
        return make_check(
            "model", text, TROUBLE_REMEDY, well=False, code="model_trouble", parameters=parameters
        )
    if status.spent is not None:
        text = sentence(
            "model-not-asked", "{model} is not asked: {spent}", model=status.model, spent=status.spent
        )
        return make_check("model", text, BUDGET_REMEDY, well=False, code="model_spent", parameters=parameters)
    text = sentence(
        "model-well",
        "{model} at {address}, {requests} requests today, {tokens} tokens; {key}",
        model=status.model,
        address=status.address,
        requests=parameters["requests"],
        tokens=parameters["tokens"],
        key=sentence("model-key-from", "key: {source}", source=status.key_source)
        if status.key_source
        else sentence("model-without-key", "without a key"),
    )
    code = "model_well" if status.key_source else "model_keyless"
    return make_check("model", text, well=True, code=code, parameters=parameters)


def _parameters(status: RemoteModelStatus) -> dict[str, str | int]:
    return {
        "model": status.model,
        "address": status.address,
        "key": status.key_source,
        "fault": "" if status.fault is None else status.fault.text,
        "since": "" if status.since_ms is None else iso_utc(status.since_ms),
        "spent": "" if status.spent is None else status.spent.text,
        "requests": status.today.requests,
        "tokens": status.today.input + status.today.output,
    }


def check_withheld_categories(snapshot: Snapshot, withheld: Iterable[str]) -> Iterator[Check]:
    """Name each category that must not be sent to another machine and that no category is called.

    `withheld` are comparison keys of names. After a renaming, tasks of the category would be sent.
    """
    existing = {comparison_key(shown_name(category)) for category in snapshot.entities("category")}
    for name in sorted(set(withheld) - existing):
        text = sentence(
            "withheld-category-unknown",
            "no category is called {name!r}, which model.local_only_categories keeps on this machine",
            name=name,
        )
        remedy = sentence(
            "name-withheld-category",
            "if it was renamed, its tasks are sent: placet config set model.local_only_categories",
        )
        code = "withheld_category_unknown"
        yield make_check("model", text, remedy, well=False, code=code, parameters={"name": name})
