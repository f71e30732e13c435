"""What `doctor` and `status` hear of the model: who answers for agents, and what keeps it from answering.

Never asks the model's server, and never tells the key, only where it was read.
"""

from daemon.agents.remote import Remote, Standing
from daemon.control.checks import Check
from daemon.journal.provenance import iso

GO_ON = "see to the cause; agents stay due, and go on by themselves"
WAIT = "wait, or raise budget.cost_per_day"


async def model(far: Remote | None) -> Check:
    """Look at what answers for agents on this device."""
    if far is None:
        return Check("model", True, "agents are run by rules; no server is asked", "", "model_rules")
    return of(await far.standing())


def of(told: Standing) -> Check:
    """Look at a remote model: trouble comes before money."""
    name, given = f"{told.model} at {told.address}", _given(told)
    if told.fault:
        found = f"{name} has not answered since {given['since']}: {told.fault}"
        return Check("model", False, found, GO_ON, "model_trouble", given)
    if told.spent:
        return Check("model", False, f"agents wait: {told.spent}", WAIT, "model_spent", given)
    found = f"{name}, {told.today.requests} requests today, {told.today.input + told.today.output} tokens"
    if not told.key_from:
        return Check("model", True, f"{found}; without a key", "", "model_keyless", given)
    return Check("model", True, f"{found}; key: {told.key_from}", "", "model_well", given)


def _given(told: Standing) -> dict[str, str | int]:
    return {
        "model": told.model,
        "address": told.address,
        "key": told.key_from,
        "fault": told.fault,
        "since": "" if told.since_ms is None else iso(told.since_ms),
        "spent": told.spent,
        "requests": told.today.requests,
        "tokens": told.today.input + told.today.output,
    }
