"""Output files appear whole or not at all, whatever operation fails."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from topgap.cli import files
from topgap.errors import OutputError

CONTENT = b"a release\n" * 100


def failing(number: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("operation", ["link", "fsync", "fdopen"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_failing_operation_leaves_nothing_behind(
    operation: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if operation == "link":  # then the file is moved, which fails too
        monkeypatch.setattr(os, "replace", failing(number))
    monkeypatch.setattr(os, operation, failing(number))
    with pytest.raises(OutputError, match="one cannot be written"):
        files.write({tmp_path / "one": CONTENT, tmp_path / "two": CONTENT}, overwrite=False)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("overwrite", [False, True])
def test_both_files_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, overwrite: bool
) -> None:
    calls = []
    real = files._write_beside

    def second_fails(target: Path, content: bytes) -> Path:
        calls.append(target)
        return real(target, content) if len(calls) < 2 else failing(errno.ENOSPC)()

    monkeypatch.setattr(files, "_write_beside", second_fails)
    if overwrite:
        (tmp_path / "one").write_text("earlier")
    with pytest.raises(OutputError, match="two cannot be written: No space left"):
        files.write({tmp_path / "one": CONTENT, tmp_path / "two": CONTENT}, overwrite=overwrite)
    assert os.listdir(tmp_path) == ["one"] * overwrite
    assert not overwrite or (tmp_path / "one").read_text() == "earlier"


def test_an_interruption_while_writing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write({tmp_path / "one": CONTENT}, overwrite=False)
    assert os.listdir(tmp_path) == []


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "one"
    files.check([target], [], overwrite=False)
    target.write_text("somebody else's")
    with pytest.raises(OutputError, match="exists"):
        files.write({target: CONTENT}, overwrite=False)
    assert target.read_text() == "somebody else's"
    assert os.listdir(tmp_path) == ["one"]


def test_where_there_are_no_hard_links_a_file_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", failing(errno.EPERM))
    files.write({tmp_path / "one": CONTENT}, overwrite=False)
    assert (tmp_path / "one").read_bytes() == CONTENT
    with pytest.raises(OutputError, match="exists"):
        files.write({tmp_path / "one": b"new"}, overwrite=False)
    assert os.listdir(tmp_path) == ["one"]


@pytest.mark.posix
def test_a_file_keeps_its_rights_and_a_link_to_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("earlier")
    (tmp_path / "one").chmod(0o600)
    files.write({tmp_path / "one": CONTENT}, overwrite=True)
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(OutputError, match="link to nowhere"):
        files.check([tmp_path / "link"], [], overwrite=True)


@pytest.mark.posix
def test_a_link_is_followed_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("earlier")
    (tmp_path / "link").symlink_to("real")
    files.write({tmp_path / "link": CONTENT}, overwrite=True)
    assert (tmp_path / "real").read_bytes() == CONTENT
    assert (tmp_path / "link").is_symlink()
    files.check([Path("/dev/null")], [], overwrite=False)
    files.write({Path("/dev/null"): CONTENT}, overwrite=False)
    assert not Path("/dev/null").is_file()
