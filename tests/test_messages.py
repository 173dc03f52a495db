"""All error messages are of one kind: subject, problem; what to do.

`python -m tools.messages` prints them in one table.
"""

import re

import pytest

from tools.messages import Message, collect, read_names

BANNED = {
    r"(?<!there )(?:is|are) no": "is not a, is not an",
    r"(?<!noise )alone": "only",
    r"(?<!by )chances?": "probability",
    r"(?<!number of )winners?(?! must)": "named item",
    r"take (?:a|one|another|fewer|smaller|larger|shorter)": "use",
    r"make (?:one with|a new one)": "create",
    r"cut short": "incomplete",
    r"by other means": "outside topgap",
    r"vouch|your word": "confirm",
    r"told by": "have",
    r"who had what": "which person has which item",
    r"what goes together": "together",
    r"speaks? (?:against|for)": "was found",
}
"""Words that a reader reads twice, as regular expressions, and what to say instead."""


def find_faults(message: Message) -> list[str]:
    """What is wrong with the words of a message."""
    text = message.text
    faults = []
    first = re.split(r"[^\w]", text, maxsplit=1)[0]
    if message.error != "BadParameter" and not (
        first[:1].isupper()
        or "_" in first
        or first in read_names()
        or text.startswith(("{", "-", "ε"))
    ):
        faults.append("must start with a capital letter, an option or a parameter")
    if not text.endswith((".", "}")) or text.endswith(".."):
        faults.append("must end with one period")
    if re.search(r"[a-z)}]\. [A-Z]", text):
        faults.append("must be one sentence")
    words = re.sub(r"\{[^{}]*\}", "{}", text)
    return faults + [
        f"says {found[0]!r}: say {instead!r}"
        for banned, instead in BANNED.items()
        if (found := re.search(rf"\b(?:{banned})\b", words, re.IGNORECASE))
    ]


@pytest.mark.slow
def test_all_messages_are_of_one_kind() -> None:
    messages = collect()
    assert len(messages) > 500
    found = {
        f"{each.path}:{each.line} {each.text}": faults
        for each in messages
        if (faults := find_faults(each))
    }
    assert not found


@pytest.mark.slow
def test_a_message_of_another_kind_is_found() -> None:
    def faults(text: str) -> list[str]:
        return find_faults(Message("here.py", 1, "ParameterError", text))

    assert not faults("k = {k} is above 10; use a smaller k.")
    assert not faults("{label} cannot be read: {why}.")
    for wrong in (
        "smaller k needed.",
        "The file is empty",
        "The file is empty..",
        "The file is empty. Give another one.",
        "{label} is no ledger.",
        "The file was changed by other means.",
        "The threshold is too high; take a smaller one.",
    ):
        assert len(faults(wrong)) == 1, wrong
