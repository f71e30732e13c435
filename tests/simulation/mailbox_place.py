"""The place of a mailbox in its histories, and whoever keeps it: delays, halves, mixes, deletes, puts back.

Never makes a blob: without the key of a member nobody can.
"""

from random import Random

from tests.simulation.mailbox_device import Blob, Device

KEPT_MAX = 200


class Place:
    """What is there, and what its owner kept of what was there once."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.cloud: dict[str, Blob] = {}
        self.kept: list[tuple[str, Blob]] = []

    def push(self, device: Device, *, all_of_it: bool = False) -> None:
        """Take along what a device wrote and deleted, or the beginning of it."""
        count = len(device.outgoing) if all_of_it else self.random.randint(0, len(device.outgoing))
        for name, blob in device.outgoing[:count]:
            before = self.cloud.get(name)
            if blob is None:
                self.cloud.pop(name, None)
                continue
            if before is not None and self.random.random() < 0.2 and not all_of_it:
                self.cloud[f"{name}.conflict-{self.random.getrandbits(16):x}"] = before
            self.cloud[name] = blob
            self.kept.append((name, blob))
        del device.outgoing[:count]
        del self.kept[:-KEPT_MAX]

    def pull(self, device: Device, *, all_of_it: bool = False) -> None:
        """Show a device what is there: all of it, or some, halves, and others' blobs under a name."""
        own = {name for name, _ in device.outgoing}
        names = sorted((device.view.keys() | self.cloud.keys()) - own)
        for name in names:
            if not all_of_it and self.random.random() < 0.4:
                continue
            draw = 1.0 if all_of_it else self.random.random()
            if name not in self.cloud or draw < 0.04:
                device.view.pop(name, None)  # a list that leaves something out looks the same
            elif draw < 0.12:
                device.view[name] = None
            elif draw < 0.16:
                device.view[name] = self.random.choice(list(self.cloud.values()))
            else:
                device.view[name] = self.cloud[name]

    def delete_files(self) -> None:
        """Lose some of the blobs."""
        for name in sorted(self.cloud):
            if self.random.random() < 0.4:
                del self.cloud[name]

    def replay(self) -> None:
        """Put back some of what was there once, under its name or another one."""
        for _ in range(min(len(self.kept), self.random.randint(1, 6))):
            name, blob = self.random.choice(self.kept)
            if self.random.random() < 0.3:
                name = f"{name}.again-{self.random.getrandbits(16):x}"
            self.cloud[name] = blob
