"""All messages are of one kind, and `tools/messages.py` finds one that is not."""

from pathlib import Path

import pytest

from tools.messages import Message, find_messages, find_names

MESSAGES = [*find_messages()]
NAMES = find_names()


def test_all_messages_have_one_form() -> None:
    assert len(MESSAGES) > 500
    faults = {f"{each.file}:{each.line}": each.find_fault(NAMES) for each in MESSAGES}
    assert {place: fault for place, fault in faults.items() if fault} == {}


def test_messages_are_found_however_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(
        "def load(path):\n"
        "    raise errors.SourceError(f'{path} is empty; ' 'give another.')\n"
        "    raise ParameterError('k must be ' + limit + '.') from None\n"
        "    raise ValueError('not ours')\n"
        "    warnings.warn(DomainWarning('A list.'), stacklevel=2)\n"
        "    raise LedgerError(text)\n"
    )
    assert [each[1:] for each in find_messages(tmp_path)] == [
        (2, "SourceError", "{path} is empty; give another."),
        (3, "ParameterError", "k must be {…}."),
        (5, "DomainWarning", "A list."),
    ]
    assert find_names(tmp_path) == {"load", "path"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The file is empty.", None),
        ("path must be text.", None),
        ("{label} is empty; give {another}", None),
        ("ε must be larger.", None),
        ("file is empty.", "begins with a small letter"),
        ("a path is missing.", "begins with a small letter"),
        (" The file.", "begins with a small letter"),
        ("The file is empty", "does not end with a full stop"),
        ("The file is empty!", "does not end with a full stop"),
    ],
)
def test_another_form_is_seen(text: str, fault: str | None) -> None:
    assert Message("module.py", 1, "SourceError", text).find_fault({"path"}) == fault
