"""Permissions if the whole disk of the home device is put back, which no file tells: a peer does.

Never has a lease: with one, the device notices the same of its folder and its files.
"""

import shutil

import pytest

from daemon.agents.asks.ask_record import USE, read_ask, use_id
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.person import lifecycle
from daemon.agents.tools.agent_record import agent_id
from daemon.control.health.permissions import check_permissions
from store.fold.item_name import ask_id
from store.fold.verdicts import Verdict
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.simulation.device import forget_replica
from tests.support.asks import asked, decided, details, used
from tests.support.fleet import Fleet, Home


@pytest.fixture
def ask(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    """A permission that was given on `b`, and of which both devices know."""
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    ask = asked(a, agent_id(task))
    fleet.sync()
    decided(b, ask, Verdict.CONFIRMED)
    fleet.sync()
    return ask


def save_disk(home: Home) -> None:
    home.store.close()
    shutil.copyfile(home.path, home.path.with_suffix(".disk"))
    home.store = home.opened()


def put_disk_back(home: Home) -> None:
    home.store.close()
    shutil.copyfile(home.path.with_suffix(".disk"), home.path)
    home.store = home.opened()


def codes(home: Home) -> list[str]:
    return [check.code for check in home.read(lambda snapshot: list(check_permissions(snapshot)))]


def test_a_peer_that_knows_of_the_use_ends_all_that_was_asked_before(
    fleet: Fleet, a: Home, b: Home, ask: EntityId
):
    save_disk(a)
    assert used(a, ask).result is UseResult.GRANTED
    fleet.sync()
    put_disk_back(a)
    assert details(a, ask).state == "permitted"
    fleet.pull(a, b)
    assert (details(a, ask).state, details(a, ask).execution_id) == ("used", "run 1")
    assert [used(a, ask, execution).result for execution in ("run 1", "run 2")] == [UseResult.RESTORED] * 2
    assert codes(a) == codes(b) == ["permissions_well"]


def test_a_use_that_only_the_lost_disk_knew_of_is_granted_again_and_both_devices_say_so(
    fleet: Fleet, a: Home, b: Home, ask: EntityId
):
    """What is left: before a device meets a peer again, nothing can tell it that its disk was put back."""
    save_disk(a)
    assert used(a, ask).result is UseResult.GRANTED
    fleet.sync()
    put_disk_back(a)
    fleet.now_ms += 1000
    assert used(a, ask, "run 2").result is UseResult.GRANTED
    fleet.sync()
    assert used(a, ask, "run 2").result is UseResult.RESTORED
    assert [details(home, ask).execution_id for home in (a, b)] == ["run 1", "run 1"]
    for home in (a, b):
        (check,) = home.read(lambda snapshot: list(check_permissions(snapshot)))
        assert (check.code, check.well) == ("permission_used_again", False)
        assert "was used 2 times" in check.found
        assert "send_mail" in check.remedy


@pytest.mark.parametrize("lost", ["row", "commit"])
def test_either_of_row_and_commit_says_that_a_permission_was_used(a: Home, ask: EntityId, lost: str):
    used(a, ask)
    with a.store.write() as tx:
        if lost == "row":
            tx.db.execute("DELETE FROM granted_use")
        else:
            tx.db.execute("DELETE FROM history WHERE entity IN (SELECT id FROM entity WHERE kind = 'use')")
    assert used(a, ask, "run 2").result is UseResult.ALREADY_USED
    assert codes(a) == (["permissions_well"] if lost == "row" else ["permission_use_unlogged"])


def test_a_use_without_a_yes_is_found_on_every_device(fleet: Fleet, a: Home, b: Home, ask: EntityId):
    """A home device that was patched acts without asking, and tells of it."""
    stored = a.read(lambda snapshot: read_ask(snapshot, ask))
    assert stored is not None
    fields: dict[str, Value] = {
        "ask_id": ask,
        "execution_id": "run 1",
        "args_hash": bytes(32),
        "home": stored.home,
    }
    write = EntityWrite(use_id(ask, stored.replica), USE, fields)
    b.write(lambda tx: tx.commit([write], by=AuthorKind.AGENT))
    fleet.sync()
    assert codes(a) == codes(b) == ["permissions_well"]  # another device's word is none
    a.write(lambda tx: tx.commit([write], by=AuthorKind.AGENT))
    fleet.sync()
    assert codes(a) == codes(b) == ["permission_not_given"]


def test_what_was_not_used_before_a_restore_is_asked_anew_under_its_key(
    fleet: Fleet, a: Home, b: Home, task: EntityId, ask: EntityId
):
    """Old: the ask of before was returned for ever, and could never be used."""
    first = details(a, ask).asked_hash
    assert asked(a, agent_id(task)) == ask
    assert details(a, ask).asked_hash == first
    a.store.close()
    forget_replica(a.path)
    a.store = a.opened()
    assert used(a, ask).result is UseResult.RESTORED
    assert asked(a, agent_id(task)) == ask
    fleet.sync()
    for home in (a, b):
        assert (details(home, ask).state, details(home, ask).asked_hash == first) == ("pending", False)
    decided(b, ask, Verdict.CONFIRMED)
    fleet.sync()
    assert used(a, ask).result is UseResult.GRANTED


def test_what_was_used_before_a_restore_is_not_asked_anew(a: Home, task: EntityId, ask: EntityId):
    assert used(a, ask).result is UseResult.GRANTED
    a.store.close()
    forget_replica(a.path)
    a.store = a.opened()
    assert asked(a, agent_id(task)) == ask
    assert (details(a, ask).state, used(a, ask).result) == ("used", UseResult.RESTORED)


def test_a_member_that_writes_to_the_id_first_hinders_no_ask(fleet: Fleet, a: Home, b: Home, task: EntityId):
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    identifier = ask_id(agent_id(task), "mail 1", a.signer.device, None)
    b.write(lambda tx: tx.commit([EntityWrite(identifier, "ask", {"title": "Mine"})], by=AuthorKind.AGENT))
    fleet.sync()
    assert asked(a, agent_id(task)) == identifier
    decided(a, identifier, Verdict.CONFIRMED)
    assert used(a, identifier).result is UseResult.GRANTED
