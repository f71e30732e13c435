"""What a remote model needs beside its server: who counts what is asked, and where its form is remembered.

Never touches a store: whoever puts a device together hands both in.
"""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from daemon.agents.models.interface import Usage


class Account(Protocol):
    """Who counts what is asked."""

    async def require(self) -> None:
        """Raise BudgetSpent where no run may begin."""

    def asking(self, prompt_tokens: int) -> AbstractAsyncContextManager[None]:
        """Set aside what a turn costs while it is under way. Raises BudgetSpent."""

    async def book(self, usage: Usage) -> None:
        """Count what a turn took."""


class Memory(Protocol):
    """Where the form is kept that a server understands, for longer than the daemon lives."""

    async def form(self) -> str:
        """Return what is remembered; empty where nothing is."""

    async def keep_form(self, form: str) -> None:
        """Remember a form; an empty one is forgotten."""


class Unbounded:
    """An account without limit, and a memory that lasts as long as this object."""

    kept = ""

    async def require(self) -> None:
        """Let every run begin."""

    def asking(self, prompt_tokens: int) -> AbstractAsyncContextManager[None]:
        """Set nothing aside."""
        del prompt_tokens
        return nullcontext()

    async def book(self, usage: Usage) -> None:
        """Count nothing."""

    async def form(self) -> str:
        """Return what was kept."""
        return self.kept

    async def keep_form(self, form: str) -> None:
        """Keep a form."""
        self.kept = form


@dataclass(frozen=True, slots=True)
class Around:
    """What a model needs beside its server."""

    account: Account = field(default_factory=Unbounded)
    memory: Memory = field(default_factory=Unbounded)
