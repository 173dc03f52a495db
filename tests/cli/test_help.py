"""Help fits a terminal, its examples can be typed, and a shell completes what it lists."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from tests.cli.command import topgap
from topgap.cli.app import SUMMARIES, app
from topgap.cli.command import summarize
from topgap.cli.help import Page, format_page, is_typed
from topgap.display.text import width

ROOT = get_command(app)


def commands(command: Any = ROOT, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands, with the words that name them."""
    yield words, command
    for name in getattr(command, "commands", ()):
        yield from commands(command.commands[name], *words, name)


ALL = dict(commands())


def page(words: tuple[str, ...]) -> Page:
    path = " ".join(["topgap", *words])
    found: Page = ALL[words].help_page(typer.Context(ALL[words], info_name=path))
    return found


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_page_fits_a_terminal(words: tuple[str, ...]) -> None:
    for columns in (60, 80, 120):
        text = format_page(page(words), columns)
        too_long = [line for line in text.splitlines() if width(line) > max(columns, 80)]
        assert too_long == []
        assert all(line.startswith("  ") for line in text.splitlines() if width(line) > columns)
    for word in ("<bool>", "<str>", "[bold]", "None", "Usage: Usage", "[required]"):
        assert word not in text


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_each_option_is_explained_in_a_sentence(words: tuple[str, ...]) -> None:
    for _, entries in page(words).sections:
        for name, text in entries:
            assert text.strip().endswith((".", ")")), name
            assert text[0].isupper() or text.startswith("topgap"), name


@pytest.mark.parametrize("words", [words for words in ALL if words], ids=" ".join)
def test_examples_can_be_typed(words: tuple[str, ...]) -> None:
    """Typer takes them: only then it is asked to run them, which other tests do."""
    typed = [each for each in page(words).examples.strip().split("\n\n") if is_typed(each)]
    assert typed
    for example in typed:
        line = example.replace("\\\n", " ").partition("topgap ")[2]
        assert "\n" not in line
        parts = shlex.split(line)
        depth = 2 if parts[0] == "budget" else 1
        command = ALL[tuple(parts[:depth])]
        context = command.make_context(" ".join(parts[:depth]), parts[depth:])
        assert context.params


def test_an_example_that_cannot_be_typed_is_found() -> None:
    command = ALL[("budget", "verify")]
    with pytest.raises(Exception, match="no-such-option"):
        command.make_context("verify", ["budget.db", "--no-such-option"])


def test_the_list_of_commands_says_what_their_own_help_says() -> None:
    found = {words[0]: page(words).description for words in ALL if len(words) == 1}
    assert {name: summarize(text) for name, text in found.items()} == SUMMARIES


@pytest.mark.parametrize(("typed", "said"), [
    ("plan -k x", "'-k': x is not a whole number."),
    ("plan -k 1_0", "'-k': 1_0 is not a whole number."),
    ("plan -k ٢", "'-k': ٢ is not a whole number."),
    ("plan -k 1 --neighbours foo", "'--neighbours': foo is none of add-remove and replace."),
    ("release a.csv --format xlsx", "xlsx is none of table, csv, json and parquet."),
    ("demo --baskets 0", "'--baskets': 0 is less than 1."),
    ("budget init a.db", "Missing option '--dataset'"),
    ("budget record a.db r.json --charge 1.5", "'--charge': 1.5 is not a whole number."),
])  # fmt: skip
def test_what_is_typed_wrong_gets_a_sentence_of_ours(typed: str, said: str) -> None:
    ended = CliRunner().invoke(app, typed.split())
    assert ended.exit_code == 2
    text = " ".join(ended.output.split())
    assert said in text
    for word in ("Value error", "Input should", "│", "pydantic"):
        assert word not in text


def complete(folder: Path, line: str, **shell: str) -> str:
    words = line.split(" ")
    bash = {"_TOPGAP_COMPLETE": "complete_bash", "COMP_WORDS": line}
    bash["COMP_CWORD"] = str(len(words) - 1)
    ended = topgap(folder=folder, environment=shell or bash, preexec_fn=None)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


@pytest.mark.slow
@pytest.mark.parametrize(("line", "offered"), [
    ("topgap rel", "release"),
    ("topgap budget ve", "verify"),
    ("topgap release --neigh", "--neighbours"),
    ("topgap release a.csv --neighbours ", "add-remove replace"),
    ("topgap release vis", ""),  # then the shell offers files
])  # fmt: skip
def test_bash_completes(tmp_path: Path, line: str, offered: str) -> None:
    assert complete(tmp_path, line).split() == offered.split()


@pytest.mark.slow
def test_other_shells_complete(tmp_path: Path) -> None:
    zsh = {"_TOPGAP_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "topgap pl"}
    assert '"plan"' in complete(tmp_path, "", **zsh)
    fish = {"_TOPGAP_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": "topgap bud"}
    assert "budget" in complete(tmp_path, "", _TYPER_COMPLETE_FISH_ACTION="get-args", **fish)
