"""Passkeys on the page: what a browser returns is read, and what no browser returns is refused."""

import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from daemon.agents.person import lifecycle, passkeys, presence_edits
from daemon.agents.tools.agent_record import agent_id
from daemon.web.sign_in import passkey_routes
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.web.conftest import Page
from tests.support.authenticator import Authenticator


class PasskeyPage(Page):
    def more_routes(self) -> list[web.RouteDef]:
        return passkey_routes.routes(self.services, self.fleet.randomness)

    @property
    def rp_id(self) -> str:
        return self.host.partition(":")[0]

    async def make_form(self, authenticator: Authenticator, **changed: Any) -> dict[str, str]:
        """Return the form of a new passkey, as the page's script fills it."""
        challenge = re.search(r'data-makes="([\w-]+)"', (await self.ask("/passkeys")).text)
        assert challenge
        client = {"type": "webauthn.create", "challenge": challenge[1], "origin": self.origin} | changed
        public_key = authenticator.private_key.public_key()
        made = {
            "credential": text_of(credential_of(authenticator)),
            "key": text_of(public_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)),
            "client": text_of(json.dumps(client).encode()),
        }
        return {"do": "add", "name": "Finger", "challenge": challenge[1], "credential": json.dumps(made)}


def text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def credential_of(authenticator: Authenticator) -> bytes:
    return hashlib.sha256(authenticator.passkey.key).digest()


def signed(text: str, authenticator: Authenticator) -> str:
    """Return the field with the assertions that a page asks for, as its script fills it."""
    answer_asking = re.search(r'data-signs="([\w -]+)"', text)
    assert answer_asking
    return json.dumps([assertion(challenge, authenticator) for challenge in answer_asking[1].split()])


def assertion(challenge: str, authenticator: Authenticator) -> dict[str, str]:
    answer = authenticator.answer(base64.urlsafe_b64decode(challenge + "=="))
    signature = answer.signature
    if isinstance(authenticator.private_key, EllipticCurvePrivateKey):
        # Browsers wrap the two numbers.
        r, s = (int.from_bytes(part, "big") for part in (signature[:32], signature[32:]))
        signature = encode_dss_signature(r, s)
    return {
        "challenge": challenge,
        "credential": text_of(credential_of(authenticator)),
        "authenticator": text_of(answer.authenticator_data),
        "client": text_of(answer.client_data),
        "signature": text_of(signature),
    }


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[PasskeyPage]:
    page = PasskeyPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


@pytest.fixture(params=["p256", "ed25519"])
def finger(request: pytest.FixtureRequest, page: PasskeyPage) -> Authenticator:
    make = Authenticator.with_p256 if request.param == "p256" else Authenticator.with_ed25519
    return make(1, page.rp_id)


async def guard(page: PasskeyPage) -> EntityId:
    """Make a task whose agent's proposals need a passkey."""

    def use(tx: Transaction) -> EntityId:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": "Write to Ana", "status": "OPEN"})])
        lifecycle.create_agent(tx, id_to_text(task), "rules")
        presence_edits.set_presence(tx, agent_id(task), "all", "passkey", has_other_devices=False)
        return task

    return await page.store.write(use)


async def names(page: PasskeyPage) -> list[str]:
    return [listed.name for listed in await page.store.read(passkeys.list_passkeys)]


async def guarded_item(page: PasskeyPage) -> str:
    task = await guard(page)
    home = page.fleet.home("unused")
    home.close()

    def use(tx: Transaction) -> str:
        desk = home.desk(tx, task, agent_id(task), "run")
        desk.answer_call("update_task_estimate", {"minutes": 120}, tx)
        writes = desk.run_end_writes(tx)
        tx.commit(writes)
        return next(id_to_text(item.id) for item in tx.items(task))

    return await page.store.write(use)


async def test_a_passkey_is_added_and_gives_a_verdict(page: PasskeyPage, finger: Authenticator) -> None:
    added = await page.ask("/passkeys", await page.make_form(finger))
    assert (added.status, await names(page)) == (303, ["Finger"])
    item = await guarded_item(page)
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    before = await page.commits()
    answer_asking = await page.ask("/inbox", {"decide": button})
    assert "Use your passkey" in answer_asking.text
    assert (await page.commits(), await page.status_of(item)) == (before, "pending")
    form = {"decide": button, "assertions": signed(answer_asking.text, finger)}
    thief = Authenticator.with_p256(5, page.rp_id)
    assert (
        "Use your passkey"
        in (await page.ask("/inbox", form | {"assertions": signed(answer_asking.text, thief)})).text
    )
    assert await page.status_of(item) == "pending"
    assert (await page.ask("/inbox", form)).status == 200
    assert await page.status_of(item) == "confirmed"


@pytest.mark.parametrize(
    "changed",
    [{"type": "webauthn.get"}, {"challenge": "AAAA"}, {"origin": "http://evil.localhost:1"}, {"type": None}],
)
async def test_a_passkey_of_another_page_or_time_is_not_added(
    page: PasskeyPage, finger: Authenticator, changed: dict[str, Any]
) -> None:
    answer = await page.ask("/passkeys", await page.make_form(finger, **changed))
    assert (answer.status, await names(page)) == (409, [])


async def test_a_challenge_is_good_once_and_while_the_page_is_new(
    page: PasskeyPage, finger: Authenticator
) -> None:
    form = await page.make_form(finger)
    assert (await page.ask("/passkeys", form)).status == 303
    assert (await page.ask("/passkeys", form)).status == 409
    form = await page.make_form(Authenticator.with_ed25519(7, page.rp_id))
    for _ in range(passkey_routes.CHALLENGES_MAX + 1):
        await page.ask("/passkeys")
    assert (await page.ask("/passkeys", form)).status == 409


@pytest.mark.parametrize(
    "credential",
    [
        "",
        "[]",
        "{",
        '{"credential":"AA","key":"AA","client":"AA"}',
        '{"credential":1,"key":2,"client":3}',
        "[" * 9999,
    ],
)
async def test_what_no_browser_returns_is_refused(page: PasskeyPage, credential: str) -> None:
    form = {"do": "add", "name": "Finger", "challenge": "x", "credential": credential}
    assert (await page.ask("/passkeys", form)).status == 400
    assert (await page.ask("/passkeys", {"do": "remove", "passkey": "../x"})).status == 400
    assert (await page.ask("/passkeys", {"do": "explode"})).status == 400


async def test_assertions_that_no_browser_returns_are_refused(
    page: PasskeyPage, finger: Authenticator
) -> None:
    await page.ask("/passkeys", await page.make_form(finger))
    item = await guarded_item(page)
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    genuine = json.loads(signed((await page.ask("/inbox", {"decide": button})).text, finger))
    broken: list[Any] = [
        "{",
        "{}",
        "[1]",
        json.dumps(genuine * 65),
        json.dumps([genuine[0] | {"client": "*"}]),
    ]
    broken.append(json.dumps([genuine[0] | {"signature": "AAAA"}]))
    for text in broken:
        assert (await page.ask("/inbox", {"decide": button, "assertions": text})).status == 400
    for name in ("authenticator", "client"):
        bent = json.dumps([genuine[0] | {name: text_of(b"x" * 40)}])
        assert (await page.ask("/inbox", {"decide": button, "assertions": bent})).status == 200
    assert await page.status_of(item) == "pending"


async def test_one_that_is_removed_is_asked_for_no_more(page: PasskeyPage, finger: Authenticator) -> None:
    await page.ask("/passkeys", await page.make_form(finger))
    text = (await page.ask("/passkeys")).text
    form = {"do": "remove", "passkey": re.findall(r'name="passkey" value="(\w+)"', text)[0]}
    item = await guarded_item(page)
    answer_asking = await page.ask("/passkeys", form)
    assert (answer_asking.status, "Use your passkey" in answer_asking.text) == (409, True)
    assert (
        await page.ask("/passkeys", form | {"assertions": signed(answer_asking.text, finger)})
    ).status == 303
    assert await names(page) == []
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    words = (await page.ask("/inbox", {"decide": button})).text
    assert "This needs a passkey that was made on this page." in words
    assert (await page.ask("/passkeys", form)).status == 409
    assert await page.store.read(lambda snapshot: snapshot.entity(id_from_text(form["passkey"]))) is not None
