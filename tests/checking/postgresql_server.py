"""A real PostgreSQL for tests, from Debian's package: a server of its own, on a port of its own.

Without it these tests are skipped; with TOPGAP_NEEDS_POSTGRESQL=1 they fail.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PASSWORD = "hunter2"  # noqa: S105 - of a server that lives for a minute
_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name)
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "30",
    "shared_buffers": "64MB",
}


class PostgresServer(NamedTuple):
    """A running server with a database `clinic`, and in it a user `ann` who may read."""

    port: int
    folder: Path

    @property
    def address(self) -> str:
        """The address with which ann connects, with her password."""
        return f"postgresql://ann:{PASSWORD}@127.0.0.1:{self.port}/clinic"

    @property
    def public_address(self) -> str:
        """The same without her password."""
        return f"postgresql://ann@127.0.0.1:{self.port}/clinic"

    def execute(self, script: str) -> None:
        """Run statements as the owner of the database."""
        with closing(self._connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.executescript(script)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query as the owner of the database."""
        with closing(self._connect()) as connection, closing(connection.cursor()) as cursor:
            return [*cursor.execute(query).fetchall()]

    def sessions(self) -> int:
        """How many sessions ann has."""
        ((count,),) = self.ask("SELECT count(*) FROM pg_stat_activity WHERE usename = 'ann'")
        return int(count)

    def clear(self) -> None:
        """Remove all tables."""
        self.execute(
            "DROP SCHEMA public CASCADE; CREATE SCHEMA public; "
            "GRANT USAGE ON SCHEMA public TO ann; "
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ann"
        )

    def _connect(self, database: str = "clinic") -> Any:
        import adbc_driver_postgresql.dbapi as driver

        address = f"postgresql://owner:{PASSWORD}@127.0.0.1:{self.port}/{database}"
        return driver.connect(address, autocommit=True)


@contextmanager
def serve_postgresql() -> Iterator[PostgresServer]:
    """Start a server, and stop it at the end of the block."""
    if not _PROGRAMS:
        refuse = pytest.fail if os.environ.get("TOPGAP_NEEDS_POSTGRESQL") == "1" else pytest.skip
        refuse("There is no PostgreSQL here: apt-get install postgresql.")
    folder = Path(tempfile.mkdtemp(prefix="topgap-postgresql-"))
    # It refuses to run as root; Debian's package brings a user for it.
    as_user: dict[str, Any] = {}
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    started: list[subprocess.Popen[bytes]] = []
    try:
        password = folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        subprocess.run(
            [_PROGRAMS[-1] / "initdb", "-D", folder / "data", "-U", "owner", "-A", "scram-sha-256",
             "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", f"--pwfile={password}"],
            check=True, capture_output=True, cwd=folder, **as_user,
        )  # fmt: skip
        options = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with open(folder / "log", "wb") as log:
            started.append(
                subprocess.Popen(
                    [_PROGRAMS[-1] / "postgres", "-D", folder / "data", "-p", str(port),
                     "-k", folder, *options],
                    stdout=log, stderr=log, cwd=folder, **as_user,
                )
            )  # fmt: skip
        server = PostgresServer(port, folder)
        _wait_for(server)
        yield server
    finally:
        for process in started:
            process.send_signal(signal.SIGINT)
            process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(server: PostgresServer) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            with closing(server._connect("postgres")) as connection:
                with closing(connection.cursor()) as cursor:
                    cursor.execute("CREATE DATABASE clinic")
                    cursor.execute(f"CREATE ROLE ann LOGIN PASSWORD '{PASSWORD}'")
                return
        except Exception:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
