"""What a person set of each request, and what the server turned out not to take of it.

Never changes what is asked: messages, tools and schemas are others' business.
"""

from typing import Any, Final

from daemon.agents.models.openai.endpoint import RequestSettings
from daemon.agents.models.openai.http_errors import RequestNotUnderstood

MAX_TOKENS: Final = "max_tokens"
MAX_COMPLETION_TOKENS: Final = "max_completion_tokens"
TOOL_CHOICE: Final = "tool_choice"
SHORT_ANSWER_TOKENS: Final = 1024
"""What an answer may have if question and answer together are too long for the model."""


class RequestParameters:
    """The parameters of one endpoint's requests; what the server refuses is left out from then on."""

    def __init__(self, settings: RequestSettings) -> None:
        self._extra = dict(settings.extra)
        self._own: dict[str, Any] = {}
        if settings.temperature is not None:
            self._own["temperature"] = settings.temperature
        if settings.max_output_tokens is not None:
            self._own[MAX_TOKENS] = settings.max_output_tokens
        self._refused: set[str] = set()

    @property
    def output_tokens(self) -> int | None:
        """Return how many tokens an answer may have; None if nothing bounds it."""
        limit = self._own.get(MAX_TOKENS, self._own.get(MAX_COMPLETION_TOKENS))
        return limit if isinstance(limit, int) else None

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request with the parameters, as this server takes it."""
        sent = {**self._own, **self._extra, **body}
        for name in self._refused:
            if name == TOOL_CHOICE and TOOL_CHOICE in sent:
                sent[TOOL_CHOICE] = "auto"
            elif name in sent and name not in ("messages", "model", "tools", "response_format"):
                del sent[name]
            elif name in _OF_MESSAGES:
                sent["messages"] = [_message_without(message, name) for message in sent["messages"]]
        return sent

    def learn(self, fault: RequestNotUnderstood, sent: dict[str, Any]) -> bool:
        """Note which parameter a server refused; return whether the request may be sent without it.

        A server that knows the limit of an answer under its newer name gets it under that name.
        """
        # Named in a refusal, a field that was not sent back is missed rather than refused.
        sent_back = [name for name in _OF_MESSAGES if any(name in message for message in sent["messages"])]
        names = [name for name in (*sent, *sent_back) if name in fault.parameters]
        for name in names:
            if name == MAX_TOKENS and MAX_COMPLETION_TOKENS in fault.parameters:
                self._own[MAX_COMPLETION_TOKENS] = self._own.pop(MAX_TOKENS)
                return True
            is_ours = name in self._own or name in self._extra or name in _OF_MESSAGES
            if name not in self._refused and (is_ours or name == TOOL_CHOICE):
                self._refused.add(name)
                return True
        return False

    def shorten_answer(self) -> bool:
        """Let answers be shorter, since question and answer share the room; return False if they are."""
        limit = self.output_tokens
        if limit is None or limit <= SHORT_ANSWER_TOKENS:
            return False
        name = MAX_TOKENS if MAX_TOKENS in self._own else MAX_COMPLETION_TOKENS
        self._own[name] = SHORT_ANSWER_TOKENS
        return True


_OF_MESSAGES = ("reasoning_content", "reasoning", "extra_content")
"""Fields that we send back with messages because the server sent them."""


def _message_without(message: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != name}
