"""`kill -9` at random moments: nothing acknowledged is lost, and both devices still converge."""

import os
import random
import threading
import time

import pytest

from tests.support.devices import Device, MakeDevice, have_equal_state, pair
from tests.support.patience import LIMIT_S, wait_until

SEED = int(os.environ.get("SEED", "20261121"))
KILLS = int(os.environ.get("KILLS", "8"))
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
        result = self.device.run("add", f"{self.device.name} task {self._count}", "--json")
        if result.status == 0:
            self.tasks.append(result.json["id"])
            self.device.run("agent", "create", result.json["id"])

    def _note(self, task: str) -> None:
        minutes = 5 + self._count % 200
        result = self.device.run(
            "note", task, f"It takes about {minutes} minutes. Note {self._count}.", "--json"
        )
        if result.status == 0:
            self.notes.append((task, result.json["id"]))

    def _decide(self) -> None:
        pending = self.device.run("pending", "--json")
        if pending.status != 0 or not pending.json:
            return
        item = self._random.choice(pending.json)["item_id"]
        result = self.device.run(self._random.choice(["confirm", "reject"]), item, "--json")
        if result.status == 0:
            self.decided.append(item)


@pytest.mark.slow
def test_killing_daemons_at_random_moments_loses_nothing_that_was_acknowledged(device: MakeDevice) -> None:
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
        wait_until(f"{victim.name} is back", victim.answers, LIMIT_S)
    for person in people:
        person.over.set()
    for person in people:
        person.join()
    phone.do("sync", "--wait")
    wait_until("both hold the same", lambda: have_equal_state(laptop, phone), LIMIT_S)
    for person in people:
        assert person.tasks
        assert person.notes
    for where in (laptop, phone):
        stored = {task["id"]: task for task in where.do("list", "--all")}
        for person in people:
            assert set(person.tasks) <= set(stored)
            for task, note in person.notes:
                assert note in {entry["id"] for entry in where.do("show", task)["entries"]}
        decided = {
            item["item_id"] for person in people for item in where.do("pending") if not item["disputed"]
        }
        assert not decided & {item for person in people for item in person.decided}
