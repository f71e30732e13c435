"""What a remote model needs beside its server: an account of its usage, and a memory of its form.

Never touches a store: the composition of the device passes both in.
"""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from daemon.agents.tools.model_interface import TokenUsage


class UsageAccount(Protocol):
    """An account of what the model's requests cost."""

    async def require_budget(self) -> None:
        """Raise BudgetSpent if no run may begin."""

    def reserve(self, prompt_tokens: int) -> AbstractAsyncContextManager[None]:
        """Set aside what a turn costs while it is under way. Raises BudgetSpent."""

    async def record_usage(self, usage: TokenUsage) -> None:
        """Count what a turn took."""


class FormMemory(Protocol):
    """A memory of the form that a server understands. It lasts longer than the daemon runs."""

    async def remembered_form(self) -> str:
        """Return the remembered form; empty if there is none."""

    async def remember_form(self, form: str) -> None:
        """Remember a form; an empty one is forgotten."""


class UnlimitedAccount:
    """An account without limit, which counts nothing."""

    async def require_budget(self) -> None:
        """Let every run begin."""

    def reserve(self, prompt_tokens: int) -> AbstractAsyncContextManager[None]:
        """Set nothing aside."""
        del prompt_tokens
        return nullcontext()

    async def record_usage(self, usage: TokenUsage) -> None:
        """Count nothing."""


class TransientFormMemory:
    """A memory of the form that lasts as long as this object."""

    form_kept = ""

    async def remembered_form(self) -> str:
        """Return what was kept."""
        return self.form_kept

    async def remember_form(self, form: str) -> None:
        """Keep a form."""
        self.form_kept = form


@dataclass(frozen=True, slots=True)
class DeviceServices:
    """What a model needs beside its server."""

    account: UsageAccount = field(default_factory=UnlimitedAccount)
    form_memory: FormMemory = field(default_factory=TransientFormMemory)
