"""The command on PostgreSQL: what is charged, what is shown, and where a password may come from.

Without PostgreSQL these tests are skipped; with TOPGAP_NEEDS_POSTGRESQL=1 they fail.
"""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.checking.postgresql_server import PASSWORD, PostgresServer
from tests.cli.command import COUNTS, TOPGAP, Ended, is_one_sentence, surroundings, topgap
from topgap.ledger import Ledger

pytestmark = pytest.mark.slow

ASKED = ("--person", "who", "--item", "what", "-k", 2, "--epsilon", 1)
PUBLIC = (*ASKED, "--domain", "domain.txt")
CHARGED = (*PUBLIC, "--ledger", "b.db", "--dataset", "visits")
VISITS = "CREATE TABLE visits AS " + " UNION ALL ".join(
    f"SELECT 'p' || n AS who, '{item}' AS what FROM generate_series(1, {count}) AS n"
    for item, count in COUNTS.items()
)


@pytest.fixture
def clinic(postgresql: PostgresServer, tmp_path: Path) -> PostgresServer:
    """The server with events; a ledger and a domain are in the folder."""
    (tmp_path / "domain.txt").write_text("gout\nflu\ncough\ncold\nmumps\n")
    topgap("budget", "init", "b.db", "--dataset", "visits", "--epsilon", 9, folder=tmp_path)
    postgresql.execute(VISITS)
    return postgresql


def run(folder: Path, *arguments: object, **environment: str) -> Ended:
    environment.setdefault("PGPASSFILE", "/nowhere/pgpass")
    return topgap("release", *arguments, folder=folder, environment=environment)


@pytest.mark.parametrize("there", [(), ("--count-in-database",)])
def test_a_release_is_made_and_no_password_is_kept(
    there: tuple[str, ...], clinic: PostgresServer, tmp_path: Path
) -> None:
    for what in (("--table", "visits"), ("--query", "SELECT who, what FROM visits")):
        ended = run(tmp_path, clinic.address, *what, *CHARGED, *there, "--report", "r.html",
                    "--overwrite")  # fmt: skip
        assert ended.code == 0, ended.err
        assert [line.split()[1] for line in ended.out.splitlines()[1:3]] == ["flu", "cold"]
        kept = (tmp_path / "b.db").read_bytes() + (tmp_path / "r.html").read_bytes()
        assert PASSWORD not in ended.out + ended.err
        assert PASSWORD.encode() not in kept
        assert f"…@127.0.0.1:{clinic.port}/clinic".encode() in kept
    assert clinic.sessions() == 0


@pytest.mark.deep
def test_what_fails_before_it_can_be_released_is_not_charged(
    clinic: PostgresServer, tmp_path: Path
) -> None:
    asked = [
        (clinic.address.replace(PASSWORD, f"{PASSWORD}x"), "--table", "visits"),
        (clinic.address.replace(str(clinic.port), "1"), "--table", "visits"),
        (clinic.public_address, "--table", "visits"),
        (clinic.address, "--table", "nope"),
        (clinic.address, "--query", "SELECT who, what FROM visits LIMIT 9"),
        (clinic.address, "--query", "SELECT who, nope AS what FROM visits"),
        (clinic.address, "visits.csv", "--table", "visits"),
        (f"postgresql://h/d?user=a&password={PASSWORD}@1&x=y", "--table", "visits"),
        (f"postgresql://:{PASSWORD}%40@127.0.0.1:1/d", "--table", "visits"),
        (f"postgresql+psycopg://ann:{PASSWORD}@127.0.0.1:1/d", "--table", "visits"),
        (f"snowflake://ann:{PASSWORD}@a/d", "--table", "visits"),
        (f"mysql://ann:{PASSWORD}@h/d", "--table", "visits"),
    ]
    for arguments in asked:
        ended = run(tmp_path, *arguments, *CHARGED)
        assert ended.code == 1, arguments
        first = ended.err.splitlines()
        assert is_one_sentence("\n".join(first[:1])), ended.err
        assert first[1:] in ([], ["topgap: Nothing was charged."]), ended.err
        assert PASSWORD not in ended.err + ended.out
    assert Ledger(tmp_path / "b.db").budget("visits").left == 9
    assert clinic.sessions() == 0


def test_the_driver_of_another_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "domain.txt").write_text("flu\ncold\ngout\n")
    ended = run(tmp_path, f"bigquery://project/{PASSWORD}@x", "--table", "visits", *PUBLIC)
    assert "needs adbc-driver-bigquery: pip install 'topgap[bigquery]'" in ended.err


@pytest.mark.parametrize("options", [("--by", "x", "--groups", "domain.txt"), ("--together", 2),
                                     ("--items-per-person", 1)])  # fmt: skip
def test_the_server_counts_no_items_of_each_person(
    options: tuple[object, ...], tmp_path: Path
) -> None:
    address = "postgresql://127.0.0.1:1/x"
    ended = run(tmp_path, address, "--table", "v", *PUBLIC, "--count-in-database", *options)
    assert ended.code == 2
    assert "looks at the items" in ended.err
    ended = run(tmp_path, "visits.csv", *PUBLIC, "--count-in-database")
    assert ended.code == 2
    assert "--count-in-database is for" in ended.err


@pytest.mark.deep
def test_a_password_comes_from_where_libpq_finds_it(clinic: PostgresServer, tmp_path: Path) -> None:
    table = ("--table", "visits", *PUBLIC)
    assert run(tmp_path, clinic.public_address, *table, PGPASSWORD=PASSWORD).code == 0
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"127.0.0.1:{clinic.port}:clinic:ann:{PASSWORD}\n")
    passwords.chmod(0o600)
    assert run(tmp_path, clinic.public_address, *table, PGPASSFILE=str(passwords)).code == 0
    services = tmp_path / "services.conf"
    services.write_text(
        f"[clinic]\nhost=127.0.0.1\nport={clinic.port}\ndbname=clinic\nuser=ann\n"
        f"password={PASSWORD}\n"
    )
    source = "postgresql:///?service=clinic"
    ended = run(tmp_path, source, *table, PGSERVICEFILE=str(services))
    assert ended.code == 0, ended.err
    ended = run(tmp_path, source.replace("clinic", "other"), *table, PGSERVICEFILE=str(services))
    assert "no such service" in ended.err


def test_the_check_reads_and_charges_nothing(clinic: PostgresServer, tmp_path: Path) -> None:
    ended = run(tmp_path, clinic.address, "--table", "visits", *CHARGED, "--check")
    assert ended.code == 0, ended.err
    assert Ledger(tmp_path / "b.db").budget("visits").left == 9


@pytest.mark.deep
@pytest.mark.posix
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda sent: sent.name)
def test_a_signal_leaves_no_session(
    sent: signal.Signals, clinic: PostgresServer, tmp_path: Path
) -> None:
    clinic.execute(
        "CREATE VIEW long AS SELECT n::text AS who, md5(n::text) AS what "
        "FROM generate_series(1, 300000000) AS n"
    )
    asked = ("--table", "long", "--rows-are-per-person", *CHARGED)
    process = subprocess.Popen(
        [*TOPGAP, "release", clinic.address, *map(str, asked)],
        cwd=tmp_path, env=surroundings(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    running = (
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'ann' AND query LIKE 'COPY%series%'"
        " OR usename = 'ann' AND state = 'active' AND query LIKE '%long%'"
    )
    end = time.monotonic() + 30
    while clinic.ask(running) == [(0,)] and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(process.pid, sent)
    _, shown = process.communicate(timeout=30)
    assert process.returncode not in (0, 1)
    assert b"Traceback" not in shown
    end = time.monotonic() + 10
    while clinic.sessions() and time.monotonic() < end:
        time.sleep(0.05)
    assert clinic.sessions() == 0
    assert Ledger(tmp_path / "b.db").budget("visits").left == 9


@pytest.mark.deep
@pytest.mark.posix
def test_a_server_that_does_not_answer_is_left(tmp_path: Path) -> None:
    (tmp_path / "domain.txt").write_text("flu\ncold\ngout\n")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"postgresql://ann:{PASSWORD}@127.0.0.1:{silent.getsockname()[1]}/clinic"
        process = subprocess.Popen(
            [*TOPGAP, "release", address, "--table", "visits", *map(str, PUBLIC)],
            cwd=tmp_path, env=surroundings(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        connected, _ = silent.accept()
        with connected:
            os.kill(process.pid, signal.SIGINT)
            _, shown = process.communicate(timeout=30)
        ended = run(tmp_path, f"{address}?connect_timeout=2", "--table", "visits", *PUBLIC)
        assert ended.code == 1
        assert "does not answer" in ended.err
        assert is_one_sentence(ended.err)
    assert process.returncode == 130
    assert b"Traceback" not in shown
    assert PASSWORD.encode() not in shown
