"""What a disk may hold after a power cut, from a log of all that was written to it.

A disk keeps for certain only what was synchronised: the bytes of a file, when that file was; the
names in a folder, when that folder was. Of what came after it may hold any part: every sector of
512 bytes, every change of a file's length and every name on its own, in whatever order it liked.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, pairwise

SECTOR = 512
_EXHAUSTIVE = 6
"""Up to so many changes, all their subsets are looked at."""

Files = dict[str, bytes]


@dataclass(frozen=True)
class Event:
    """A line of the log: what was done, to which open file, where, and with which bytes."""

    what: str
    file: int
    where: int
    data: bytes


def read_log(log: bytes) -> Iterator[Event]:
    """The events, in their order."""
    at = 0
    while at < len(log):
        end = log.index(b"\n", at)
        what, file, where, length = log[at:end].split()
        at = end + 1 + int(length)
        yield Event(what.decode(), int(file), int(where), log[end + 1 : at])


@dataclass(frozen=True)
class Change:
    """What is not yet certain: a part of a file's bytes, its length, or a name.

    Attributes:
        file: The file, of the many that a name may have had.
        kind: What changes.
        where: From where on, or the length.
        data: The bytes, or the name.
    """

    file: int
    kind: str
    where: int = 0
    data: bytes = b""

    def parts(self) -> list["Change"]:
        """The changes of which the disk may hold some and not others."""
        if self.kind != "write":
            return [self]
        first = min(len(self.data), SECTOR - self.where % SECTOR)
        cuts = [0, *range(first, len(self.data), SECTOR), len(self.data)]
        longer = Change(self.file, "length", self.where + len(self.data))
        pieces = [
            Change(self.file, "write", self.where + a, self.data[a:b])
            for a, b in pairwise(cuts)
            if a < b
        ]
        return [*pieces, longer]


@dataclass
class Disk:
    """What is certain, and what is not.

    Attributes:
        files: The certain bytes of each file.
        names: The certain names.
        pending: What is not certain, in the order in which it was done.
    """

    files: dict[int, bytes] = field(default_factory=dict)
    names: dict[bytes, int] = field(default_factory=dict)
    pending: list[Change] = field(default_factory=list)
    _seen: dict[bytes, int] = field(default_factory=dict)
    _open: dict[int, int] = field(default_factory=dict)
    _made: int = 0

    @classmethod
    def holding(cls, files: Files) -> "Disk":
        """A disk that holds these for certain."""
        disk = cls()
        for name, content in files.items():
            disk._made += 1
            disk.files[disk._made] = content
            disk.names[name.encode()] = disk._seen[name.encode()] = disk._made
        return disk

    def take(self, event: Event, folder: bytes) -> None:
        """What the event does to the disk."""
        if event.what == "open":
            self._take_open(event, folder)
        elif event.what == "unlink":
            self.pending.append(Change(self._seen.pop(event.data), "delete", data=event.data))
        elif event.what == "sync":
            self._sync(self._open[event.file])
        elif event.what == "write":
            self.pending.append(
                Change(self._open[event.file], "write", event.where, event.data),
            )
        elif event.what == "cut":
            self.pending.append(Change(self._open[event.file], "cut", event.where))
        elif event.what == "close":
            self._open.pop(event.file, None)

    def _take_open(self, event: Event, folder: bytes) -> None:
        if event.data == folder:
            self._open[event.file] = 0
            return
        if event.where:
            self._made += 1
            self._seen[event.data] = self._made
            self.files[self._made] = b""
            self.pending.append(Change(self._made, "name", data=event.data))
        self._open[event.file] = self._seen[event.data]

    def _sync(self, file: int) -> None:
        """Make certain what concerns this file, or the names if it is 0."""
        done: list[Change] = []
        left: list[Change] = []
        for change in self.pending:
            concerns = 0 if change.kind in ("name", "delete") else change.file
            (done if concerns == file else left).append(change)
        self._apply(self.files, self.names, done)
        if file == 0:  # what has no name now will never have one again
            left = [change for change in left if change.file in self.names.values()]
        self.pending = left

    def states(self, drawn: int, chance: random.Random) -> Iterator[Files]:
        """What it may hold: certainly all and none, each alone and all but each, and so many drawn.

        What it may hold at an earlier moment since the last synchronisation is among it, for the
        changes of that moment are the first of these.
        """
        changes = self.pending
        chosen: list[Iterable[Change]] = [changes[:n] for n in range(len(changes) + 1)]
        if len(changes) <= _EXHAUSTIVE:
            for n in range(len(changes) + 1):
                chosen += combinations(changes, n)
        else:
            chosen += [[each] for each in changes]
            chosen += [[c for c in changes if c is not each] for each in changes]
            chosen += [[c for c in changes if chance.random() < 0.5] for _ in range(drawn)]
        parts = [part for change in changes for part in change.parts()]
        for _ in range(drawn if len(parts) > len(changes) else 0):
            held = chance.choice([0.1, 0.5, 0.9])
            chosen.append([part for part in parts if chance.random() < held])
        if len(changes) > 0 and changes[-1].kind == "write":
            *pieces, _ = changes[-1].parts()
            chosen += [[*changes[:-1], *pieces[:n]] for n in range(1, len(pieces))]
        for some in chosen:
            yield self._with(some)

    def _with(self, some: Iterable[Change]) -> Files:
        files, names = dict(self.files), dict(self.names)
        self._apply(files, names, some)
        return {name.decode(): files[file] for name, file in names.items()}

    @staticmethod
    def _apply(files: dict[int, bytes], names: dict[bytes, int], some: Iterable[Change]) -> None:
        for each in some:
            content = files[each.file]
            if each.kind == "name":
                names[each.data] = each.file
            elif each.kind == "delete":
                names.pop(each.data, None)
            elif each.kind == "cut":
                files[each.file] = content[: each.where].ljust(each.where, b"\0")
            elif each.kind == "length":
                files[each.file] = content.ljust(each.where, b"\0")
            else:
                end = each.where + len(each.data)
                content = content.ljust(each.where, b"\0")
                files[each.file] = content[: each.where] + each.data + content[end:]
