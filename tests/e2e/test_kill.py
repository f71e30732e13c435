"""`kill -9` at random moments: nothing acknowledged is lost, and both devices still converge."""

import os
import random
import threading
import time

import pytest

from tests.e2e.conftest import Make
from tests.e2e.devices import START_S, Device, agree, pair, wait_until

SEED = int(os.environ.get("PLACET_TEST_SEED", "20261121"))
KILLS = int(os.environ.get("PLACET_TEST_KILLS", "8"))
PAUSE_S = (0.2, 1.2)


class Person(threading.Thread):
    """Someone who works on one device without pause and remembers what was acknowledged."""

    def __init__(self, device: Device, seed: int) -> None:
        super().__init__(daemon=True)
        self.device = device
        self.tasks: list[str] = []
        self.notes: list[tuple[str, str]] = []
        self.decided: list[str] = []
        self.over = threading.Event()
        self._random = random.Random(seed)
        self._count = 0

    def run(self) -> None:
        """Work until told to stop."""
        while not self.over.is_set():
            self._count += 1
            turn = self._random.randrange(4)
            if turn == 0 or not self.tasks:
                self._add()
            elif turn < 3:
                self._note(self._random.choice(self.tasks))
            else:
                self._decide()

    def _add(self) -> None:
        done = self.device.run("add", f"{self.device.name} task {self._count}", "--json")
        if done.status == 0:
            self.tasks.append(done.json["id"])
            self.device.run("agent", "create", done.json["id"])

    def _note(self, task: str) -> None:
        minutes = 5 + self._count % 200
        done = self.device.run(
            "note", task, f"It takes about {minutes} minutes. Note {self._count}.", "--json"
        )
        if done.status == 0:
            self.notes.append((task, done.json["id"]))

    def _decide(self) -> None:
        pending = self.device.run("pending", "--json")
        if pending.status != 0 or not pending.json:
            return
        item = self._random.choice(pending.json)["item_id"]
        done = self.device.run(self._random.choice(["confirm", "reject"]), item, "--json")
        if done.status == 0:
            self.decided.append(item)


@pytest.mark.timeout(300)
def test_killing_daemons_at_random_moments_loses_nothing_that_was_acknowledged(device: Make) -> None:
    chance = random.Random(SEED)
    print(f"seed {SEED}")
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    people = [Person(laptop, SEED + 1), Person(phone, SEED + 2)]
    for person in people:
        person.start()
    for _ in range(KILLS):
        time.sleep(chance.uniform(*PAUSE_S))  # noqa: TID251 - the moment of the kill is the point
        victim = chance.choice([laptop, phone])
        victim.kill()
        victim.launch()
        wait_until(f"{victim.name} is back", victim.answers, START_S)
    for person in people:
        person.over.set()
    for person in people:
        person.join()
    phone.do("sync", "--wait")
    wait_until("both hold the same", lambda: agree(laptop, phone), START_S)
    for person in people:
        assert person.tasks
        assert person.notes
    for where in (laptop, phone):
        held = {task["id"]: task for task in where.do("list", "--all")}
        for person in people:
            assert set(person.tasks) <= set(held)
            for task, note in person.notes:
                assert note in {entry["id"] for entry in where.do("show", task)["entries"]}
        decided = {
            item["item_id"] for person in people for item in where.do("pending") if not item["disputed"]
        }
        assert not decided & {item for person in people for item in person.decided}
