"""When a server is asked again, how long it is left alone, and what ends a turn.

Never sleeps: pauses pass because clocks are moved.
"""

import ssl
from pathlib import Path

import pytest

from daemon.agents.models.openai.chat_model import ChatCompletionsModel
from daemon.agents.models.openai.endpoint import Endpoint
from daemon.agents.models.openai.retry_policy import RetryPolicy
from daemon.agents.tools.model_interface import (
    AnswerFault,
    ModelFault,
    ModelMisconfigured,
    ModelUnavailable,
)
from daemon.peers.transport import identity
from tests.daemon.agents.models.openai.connected_model import (
    CONTEXT,
    KEY,
    SteppedClock,
    connected_model,
)
from tests.daemon.agents.models.openai.fake_server import (
    FakeChatServer,
    Step,
    calls,
    cuts,
    drips,
    floods,
    packs,
    raw,
    refuses,
)
from tests.daemon.agents.models.openai.turns import ESTIMATE, fault, turn


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_may_pass_is_asked_again(status: int):
    async with connected_model(refuses(status), calls(ESTIMATE)) as connected:
        assert (await connected.model.turn(CONTEXT)).calls
        (pause,) = connected.world.pauses
    assert 0.5 <= pause <= 1


async def test_pauses_grow_and_tries_end():
    async with connected_model(*[refuses(503)] * 5) as connected:
        with pytest.raises(ModelUnavailable, match=r"busy or failing \(503\)"):
            await connected.model.turn(CONTEXT)
        assert not connected.server.script
        assert connected.world.pauses == [0.5, 1, 2, 4]


@pytest.mark.parametrize("after", ["20", "Mon, 09 Mar 2026 12:00:20 GMT", "20.0"])
async def test_a_server_is_left_alone_for_as_long_as_it_says(after: str):
    async with connected_model(refuses(429, after=after), calls(ESTIMATE)) as connected:
        assert (await connected.model.turn(CONTEXT)).calls
        assert connected.world.pauses == [20]


async def test_a_server_that_wants_to_be_left_alone_for_too_long_is_asked_at_the_next_wake():
    model_fault = await fault(refuses(429, after="3600"))
    assert isinstance(model_fault, ModelUnavailable)
    assert "left alone for 3600 s" in str(model_fault)


@pytest.mark.parametrize("after", ["soon", "-1", "9" * 400, "Mon, 99 Foo 2026"])
async def test_a_word_that_is_no_time_makes_no_odd_pause(after: str):
    async with connected_model(refuses(429, after=after), calls(ESTIMATE), attempts_max=2) as connected:
        try:
            await connected.model.turn(CONTEXT)
        except ModelUnavailable as error:
            assert "left alone" in str(error)  # noqa: PT017 - either is right: an own pause, or none
        assert all(0 < pause < 420 for pause in connected.world.pauses)


@pytest.mark.parametrize(
    ("step", "kind", "words"),
    [
        (
            refuses(500, message="[{'type': 'literal_error'}]", kind="internal_server_error"),
            AnswerFault,
            "500",
        ),
        (refuses(500, message="1 validation error for Request"), AnswerFault, "model.mode (500"),
        (refuses(400, kind="invalid_request_error"), AnswerFault, "400, invalid_request_error"),
        (refuses(401, code="invalid_api_key"), ModelMisconfigured, "refused the key"),
        (refuses(403), ModelMisconfigured, "refused the key"),
        (refuses(404, code="model_not_found"), ModelMisconfigured, "404, model_not_found"),
        (refuses(429, code="insufficient_quota"), ModelMisconfigured, "no credit left"),
        (refuses(402), ModelMisconfigured, "no credit left: pay in there"),
        (refuses(400, message="Your credit balance is too low"), ModelMisconfigured, "no credit left"),
        (refuses(410), ModelMisconfigured, "no such model"),
        (raw(b"\x1f", 401, Content_Encoding="gzip"), ModelMisconfigured, "refused the key"),
        (raw(b"not JSON", 418), ModelMisconfigured, "418"),
        (raw(b'"text"', 400), AnswerFault, "400"),
        (packs(), AnswerFault, "packed its answer (gzip)"),
        (floods(), AnswerFault, "beyond 2 MiB"),
    ],
)
async def test_what_will_not_pass_is_asked_once_and_said(step: Step, kind: type[ModelFault], words: str):
    model_fault = await fault(step)
    assert isinstance(model_fault, kind)
    assert words in str(model_fault)
    assert "\n" not in str(model_fault)


async def test_a_connection_that_breaks_is_tried_again():
    assert (await turn(cuts(), calls(ESTIMATE))).calls
    assert "broke" in str(await fault(cuts(), cuts(), attempts_max=2))


async def test_a_server_that_is_not_there_is_said_to_be_away():
    async with connected_model() as connected:
        await connected.server.stop()
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await connected.model.turn(CONTEXT)


async def test_a_certificate_that_nobody_vouches_for_gets_neither_key_nor_note(tmp_path: Path):
    new_identity = identity.load_or_create(tmp_path, SteppedClock().randomness)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(new_identity.file)
    server, world = FakeChatServer(), SteppedClock()
    await server.start(tls)
    address = server.url.replace("http://", "https://")
    model = ChatCompletionsModel(Endpoint(address, "m", "tools", KEY), world, RetryPolicy(attempts_max=1))
    try:
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await model.turn(CONTEXT)
        assert not server.asked
    finally:
        await model.close()
        await server.stop()


async def test_an_answer_that_drips_for_ever_ends_with_the_time_for_a_turn():
    assert "within 0.2 s" in str(await fault(drips(), total_s=0.2))


async def test_a_server_that_says_nothing_is_not_waited_for_for_ever():
    assert "in time" in str(await fault(drips(), attempts_max=1, read_s=0.0001))
