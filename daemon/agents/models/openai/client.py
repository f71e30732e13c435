"""One request to a Chat Completions server, through the `openai` client, and its answer as bytes.

Never follows a redirect, asks the environment for a proxy or a header, reads without bound, or logs.
"""

import codecs
import logging
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, OpenAIError

from daemon.agents.models.openai.endpoint import Endpoint
from daemon.agents.tools.model_interface import AnswerFault, ModelUnavailable
from store.sentence import sentence

ANSWER_BYTES_MAX = 2 << 20
CONNECT_TIMEOUT_S = 10.0
USER_AGENT = "placet"
_LOGGERS = ("openai", "httpx2", "httpcore2")
_PLAIN = frozenset({"", "identity"})
_ENCODING = re.compile(r"[a-z0-9-]{1,16}")
_KEPT = ("host", "content-type", "content-length", "transfer-encoding")


class HttpReply(NamedTuple):
    """What a server answered, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class AnswerTooLarge(Exception):
    """An answer beyond the bound."""


class AnswerPacked(Exception):
    """An answer that is packed, so that its size cannot be known; its words are how."""


class ServerUnreached(ModelUnavailable):
    """The server was not reached: nothing was asked of it."""


class ChatClient:
    """The way to one endpoint."""

    def __init__(self, endpoint: Endpoint, read_s: float) -> None:
        silence_library_logs()
        timeout = httpx2.Timeout(
            connect=CONNECT_TIMEOUT_S, read=read_s, write=CONNECT_TIMEOUT_S * 3, pool=CONNECT_TIMEOUT_S
        )
        http = httpx2.AsyncClient(
            transport=_Guarded(endpoint),
            trust_env=False,
            follow_redirects=False,
            timeout=timeout,
        )
        # Nothing is left to the environment: what is None here, the client would look for there.
        self._client = AsyncOpenAI(
            api_key=endpoint.key or "none",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=endpoint.base_url,
            timeout=timeout,
            max_retries=0,
            http_client=http,
        )

    async def post(self, body: dict[str, Any]) -> HttpReply:
        """Ask once. Raises ModelUnavailable if no whole answer came, AnswerFault if it is beyond bounds.

        No fault keeps its cause: causes contain the request, with the key and the notes.
        """
        try:
            answer = await self._client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except APIStatusError as fault:
            return _reply(fault.response)
        except APITimeoutError as fault:
            late = isinstance(fault.__cause__, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            kind = ServerUnreached if late else ModelUnavailable
            raise kind(sentence("model-server-late", "the server did not answer in time")) from None
        except AnswerTooLarge:
            raise AnswerFault(
                sentence(
                    "model-answer-too-large",
                    "the server's answer is beyond {most} MiB",
                    most=ANSWER_BYTES_MAX >> 20,
                )
            ) from None
        except AnswerPacked as packed:
            unasked = sentence(
                "model-answer-packed",
                "the server packed its answer ({encoding}), which was not asked for:"
                " turn compression off there, or at the proxy before it",
                encoding=str(packed),
            )
            raise AnswerFault(unasked) from None
        except APIConnectionError as fault:
            raise _connection_failure(fault) from None
        except (OpenAIError, httpx2.HTTPError, httpx2.StreamError) as fault:
            unreadable = sentence(
                "model-answer-unreadable",
                "the server's answer cannot be read ({kind_of_fault})",
                kind_of_fault=type(fault).__name__,
            )
            raise AnswerFault(unreadable) from None
        return _reply(answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def silence_library_logs() -> None:
    """Keep the client's libraries from logging, whatever level or variable asks for it.

    At the level of debugging they write down the headers of answers, in which a server may echo anything.
    """
    for name in tuple(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).disabled = True
    for name in _LOGGERS:  # and for loggers that are made later
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # without one, the last resort prints to standard error


def _reply(response: httpx2.Response) -> HttpReply:
    return HttpReply(response.status_code, response.headers, response.content.removeprefix(codecs.BOM_UTF8))


def _connection_failure(fault: APIConnectionError) -> ModelUnavailable:
    """Say what broke, by its type alone."""
    if isinstance(fault.__cause__, httpx2.ConnectError):
        return ServerUnreached(
            sentence("model-server-unreached", "the server cannot be reached; see model.base_url")
        )
    return ModelUnavailable(
        sentence("model-connection-broke", "the connection broke before the answer was whole")
    )


class _Guarded(httpx2.AsyncBaseTransport):
    """Sends to the endpoint alone, with no header but those named here, and bounds what comes back."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)
        self._base = httpx2.URL(endpoint.base_url)
        self._own = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": USER_AGENT}
        if endpoint.key:
            self._own["Authorization"] = f"Bearer {endpoint.key}"

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. The answer's body raises AnswerTooLarge or AnswerPacked if it must not be read."""
        assert (request.url.scheme, request.url.netloc) == (self._base.scheme, self._base.netloc)
        kept_headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        sent = httpx2.Request(
            request.method,
            request.url,
            headers=kept_headers | self._own,
            stream=request.stream,
            extensions=request.extensions,
        )
        answer = await self._inner.handle_async_request(sent)
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        # A small packed answer may unpack to any size. The request asked for none, so it is refused unread.
        encoding = answer.headers.get("content-encoding", "").strip().lower()
        packed = "" if encoding in _PLAIN else encoding if _ENCODING.fullmatch(encoding) else "?"
        return httpx2.Response(
            answer.status_code,
            headers={name: value for name, value in answer.headers.items() if name != "content-encoding"},
            stream=_Bounded(answer.stream, packed, is_read=not packed or answer.status_code == 200),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A body that raises AnswerTooLarge beyond the bound, and AnswerPacked if `packed` says how it is.

    It is empty unless it `is_read`: of a packed refusal the status says enough.
    """

    def __init__(self, inner: httpx2.AsyncByteStream, packed: str, *, is_read: bool) -> None:
        self._inner = inner
        self._packed = packed
        self._is_read = is_read

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body, piece by piece."""
        length = 0
        if not self._is_read:
            return
        async for piece in self._inner:
            if self._packed:
                raise AnswerPacked(self._packed)
            length += len(piece)
            if length > ANSWER_BYTES_MAX:
                raise AnswerTooLarge
            yield piece

    async def aclose(self) -> None:
        """Close the body below."""
        await self._inner.aclose()
