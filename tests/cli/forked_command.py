"""The command, in a process that is forked from one that has imported all it needs.

Such a process has its own arguments, directory, environment, streams and exit code, and ends as an
interpreter ends. It only begins sooner: what takes half a second is the imports.

    python -m tests.cli.forked_command DESCRIPTOR     serves who holds the other end of this socket
"""

import contextlib
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

import topgap.cli
from tests.checking.separate_process import with_tests

IMPORTED = (
    "duckdb", "encodings.utf_8_sig", "matplotlib.backends.backend_agg", "matplotlib.figure",
    "multiprocessing.context", "numpy.ma", "pyarrow.csv", "pyarrow.json", "pyarrow.parquet",
    "pydantic.types", "rich.console", "rich.progress", "rich.table", "rich.text",
    "topgap.auditing", "topgap.cli", "topgap.counting", "topgap.planning", "topgap.report",
    "topgap.streams", "typer.completion", "zoneinfo",
)  # fmt: skip
_AT_THE_START = ("PYTHON", "LC_", "LANG")
"""Variables that begin so are read when an interpreter starts, and no more."""


def can_be_forked(environment: Mapping[str, str]) -> bool:
    """Whether this system forks, and no variable asks for an interpreter that starts otherwise."""
    return sys.platform == "linux" and _early(environment) == _early(os.environ)


def run_forked(
    arguments: Sequence[str],
    *,
    folder: Path,
    given: bytes,
    environment: Mapping[str, str],
    timeout: float,
) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors of the command with these arguments."""
    return _server().run(arguments, folder, given, environment, timeout)


class _Server:
    """The process that forks: there is one for each process that runs tests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.forked_command", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,  # streams are opened as what they will be
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=with_tests(),
            cwd=Path(__file__).parents[2],
        )
        theirs.close()
        self._socket = ours
        self._answers = ours.makefile("r", encoding="utf-8")

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        given: bytes,
        environment: Mapping[str, str],
        timeout: float,
    ) -> tuple[int, bytes, bytes]:
        asked = {"arguments": [*arguments], "folder": str(folder), "environment": {**environment}}
        theirs, ours = zip(os.pipe(), os.pipe()[::-1], os.pipe()[::-1], strict=True)
        with self._lock:
            message = json.dumps(asked).encode() + b"\n"
            socket.send_fds(self._socket, [len(message).to_bytes(8, "big")], [*theirs])
            self._socket.sendall(message)
            for each in theirs:
                os.close(each)
            pid = int(self._answers.readline())
            late = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
            late.start()
            read: dict[int, bytes] = {}
            readers = [threading.Thread(target=_read, args=(at, read)) for at in ours[1:]]
            for reader in readers:
                reader.start()
            with contextlib.suppress(BrokenPipeError), open(ours[0], "wb") as stdin:
                stdin.write(given)
            for reader in readers:
                reader.join()
            code = int(self._answers.readline())
            late.cancel()
        return code, read[ours[1]], read[ours[2]]


@cache
def _server() -> _Server:
    return _Server()


def _early(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_AT_THE_START)}


def _read(descriptor: int, into: dict[int, bytes]) -> None:
    with open(descriptor, "rb") as file:
        into[descriptor] = file.read()


def _serve(descriptor: int) -> None:
    parts = pkgutil.walk_packages(topgap.cli.__path__, "topgap.cli.")
    for name in (*IMPORTED, *(each.name for each in parts)):
        if not name.endswith("__main__"):
            with contextlib.suppress(ModuleNotFoundError):  # Typer uses Pydantic, if there is one
                importlib.import_module(name)
    with socket.socket(fileno=descriptor) as asking:
        while True:
            size, streams, _, _ = socket.recv_fds(asking, 8, 3)
            if not size:
                return
            message = b""
            while len(message) < int.from_bytes(size, "big"):
                message += asking.recv(1 << 16)
            pid = os.fork()
            if pid == 0:
                asking.detach()
                os.close(descriptor)
                _become_command(streams, **json.loads(message))
            for each in streams:
                os.close(each)
            asking.sendall(f"{pid}\n".encode())
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            asking.sendall(f"{code}\n".encode())


def _become_command(
    streams: list[int], arguments: list[str], folder: str, environment: dict[str, str]
) -> NoReturn:
    for at, stream in enumerate(streams):
        os.dup2(stream, at)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.path[0] = folder
    sys.argv[1:] = arguments
    runpy.run_module("topgap.cli", run_name="__main__", alter_sys=True)
    raise SystemExit(0)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
