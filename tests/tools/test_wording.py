"""What `tools/wording.py`, a part of `make check`, finds in a text, and what it leaves alone."""

from pathlib import Path

import pytest

from tools.wording import REPLACED, find_files, find_words, find_words_of_file

EXAMPLES = (
    "a chance", "what is told", "who takes part", "what take part", "a candidate list",
    "counts that exist already", "ready counts", "off by 4", "it leans", "calls it violated",
    "paid for", "neighboring sets", "Laplacian noise", "telling on anyone",
)  # fmt: skip


@pytest.mark.parametrize("words", EXAMPLES)
def test_a_replaced_word_is_found_whatever_its_case_and_line(words: str) -> None:
    text = f"A line.\n\nHere, {words.upper()}"
    [hit] = find_words(text)
    assert hit.line == 3
    assert hit.instead in REPLACED.values()
    [broken] = find_words(words.replace(" ", "\n"))
    assert broken.word.lower() == hit.word.lower()


def test_every_replaced_word_has_an_example() -> None:
    found = {hit.instead for words in EXAMPLES for hit in find_words(words)}
    assert found == {*REPLACED.values()}


@pytest.mark.parametrize(
    "text",
    [
        "A span `chance`, and ``chance ` chance``.",
        "```text\nchance\n```\n",
        "  ````sh\n```\nchance\n```\n  ````\n",
        ">>> chance(1)\nchance\n",
        "> A quoted chance.",
        'He wrote "chance", and “a\nchance”.',
        "<!-- A chance\nbelow 1. -->",
        '<img alt="chance"> <code>chance</code>',
        "[link](chance.md#chance)",
        "It happens by chance, off by one.",
        "A chancellor leaned on unpaid work.",
    ],
)
def test_code_quotations_and_other_words_are_exempt(text: str) -> None:
    assert find_words(text) == []


def test_text_after_an_exempt_part_is_not() -> None:
    text = "`code`, and\n```sh\nchance\n```\na chance\n\n<!-- note -->\nready counts"
    assert [(hit.line, hit.word) for hit in find_words(text)] == [
        (5, "chance"),
        (8, "ready counts"),
    ]


def test_strings_of_a_module_are_read_and_its_names_are_not(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""One.\n\nA chance.\n"""\nchance = "chance"\nhelp = f"The chance of {chance}."\n'
    )
    assert [hit.line for hit in find_words_of_file(module)] == [3, 6]


def test_all_that_is_read_is_looked_at(tmp_path: Path) -> None:
    names = {path.name for path in find_files()}
    assert {"README.md", "SECURITY.md", "CONTRIBUTING.md", "index.md", "errors.py"} <= names
    with pytest.raises(FileNotFoundError, match=r"README\.md matches no file"):
        find_files(tmp_path)
