"""Items as text and as columns: one value, or several where an item is a tuple.

An item of a product of domains, or of pairs, is a tuple. Text shows its members on one line, and a
table for programs has one column for each of them, which every library and file format can hold.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from topgap.display.text import to_text

_INT64 = range(-(2**63), 2**63)
_SPECIAL_IN_BRACKETS = ',"()'


def format_item(item: object) -> str:
    """Return the item as text: the members of a tuple with commas between them.

    A member is quoted, as in CSV, where it could be mistaken for something else: if it holds a
    comma or a quotation mark, begins with a bracket, is empty, or has spaces around it. A tuple
    within a tuple is in brackets. So different tuples of texts have different texts.

    >>> format_item("flu, severe"), format_item(("Germany", "/start")), format_item((7, "a, b"))
    ('flu, severe', 'Germany, /start', '7, "a, b"')
    >>> format_item(("Germany", ("bread", "milk")))
    'Germany, (bread, milk)'
    """
    if type(item) is not tuple:
        return to_text(item)
    try:
        return ", ".join(map(_format_member, item))
    except RecursionError:
        return to_text(item)


def split_items(items: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the columns of a table that hold the items.

    That is one column `item`; or `item_1`, `item_2` and so on, if all items are tuples with the
    same number of members; the members of a tuple within a tuple count as its own. A column with a
    whole number beyond 64 bits, which no library's column holds, becomes text.

    >>> split_items(["flu", "cold"])
    {'item': ['flu', 'cold']}
    >>> split_items([("Germany", 7), ("France", 10**30)])
    {'item_1': ['Germany', 'France'], 'item_2': ['7', '1000000000000000000000000000000']}
    """
    rows: list[tuple[Any, ...]] = [(item,) for item in items]
    names = ["item"]
    if not rows:
        return {"item": []}
    if all(type(item) is tuple for item in items):
        try:
            members = [(*_flatten(item),) for item in items]
        except RecursionError:
            members = []
        counts = {len(each) for each in members}
        if len(counts) == 1 and 0 not in counts:
            rows, names = members, [f"item_{number + 1}" for number in range(max(counts))]
    columns = zip(*rows, strict=True)
    return {name: _fit([*column]) for name, column in zip(names, columns, strict=True)}


def _format_member(member: object, special: str = ',"') -> str:
    if type(member) is tuple:
        return f"({', '.join(_format_member(each, _SPECIAL_IN_BRACKETS) for each in member)})"
    text = to_text(member)
    is_plain = text and text == text.strip() and not text.startswith("(")
    if is_plain and not any(char in text for char in special):
        return text
    return '"' + text.replace('"', '""') + '"'


def _flatten(item: Any) -> Iterator[Any]:
    for member in item:
        if type(member) is tuple:
            yield from _flatten(member)
        else:
            yield member


def _fit(column: list[Any]) -> list[Any]:
    is_whole = all(type(each) is int for each in column)
    fits = not is_whole or all(each in _INT64 for each in column)
    return column if fits else [to_text(each) for each in column]
