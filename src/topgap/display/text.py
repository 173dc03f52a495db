"""Text for people: names and paths on one line, without passwords, and tables of them."""

import re
from collections.abc import Callable, Collection, Sequence
from unicodedata import east_asian_width

Row = Sequence[str]

_LONGEST_PATH = 5_000  # no system has longer ones
# One slash is enough, for pathlib leaves one of two; one letter before it is a drive of Windows.
_ADDRESS = re.compile(r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]+:/", re.DOTALL)
# As in ann:secret@host, unless a directory has a colon and another one an @.
_LOGIN = re.compile(r"(^|[/\\\s])[^/\\:@\s]*:(?![/\\]).*@", re.DOTALL)
_SECRET = re.compile(
    r"((?:pass|pwd|secret|token|credential|signature|api_?key|access_?key|private_?key)[a-z_]*"
    r"\s*=\s*)('(?:[^'\\]|\\.|'')*(?:'|$)|\"(?:[^\"\\]|\\.|\"\")*(?:\"|$)|(?:[^\s&;\\]|\\.)+)",
    re.IGNORECASE | re.DOTALL,
)


def to_text(thing: object) -> str:
    """Return the thing as text, even if its own `str` fails.

    A whole number of more digits than Python writes has hexadecimal ones, and other things that
    refuse go by their type.

    >>> to_text("flu"), to_text(10**5000)[:5], to_text((10**5000,))
    ('flu', '0x31e', '<tuple>')
    """
    return _convert_safely(str, thing)


def to_repr(thing: object) -> str:
    """Return the thing as `repr` writes it, or else as `to_text` does.

    >>> to_repr("flu"), to_repr(10**5000)[:5]
    ("'flu'", '0x31e')
    """
    return _convert_safely(repr, thing)


def _convert_safely(write: Callable[[object], str], thing: object) -> str:
    try:
        return write(thing)
    except Exception:  # whose text is not ours
        kind = type(thing)
        return hex(thing) if issubclass(kind, int) else f"<{kind.__name__}>"  # type: ignore[arg-type]


def to_line(thing: object) -> str:
    r"""Return the thing as text, without characters that would change what is around it.

    >>> print(to_line("two\nlines"))
    two\nlines
    """
    text = to_text(thing)
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def format_path(path: object) -> str:
    r"""Return a path or an address as messages show it: on one line, and without a password.

    >>> format_path("visits.csv"), format_path("postgresql://ann:secret@host/db?password=secret")
    ('visits.csv', 'postgresql://…@host/db?…')
    >>> format_path("host=db password=secret"), format_path("two\nlines.csv")
    ('host=db password=…', 'two\\nlines.csv')
    """
    text = str(path)
    if len(text) > _LONGEST_PATH:
        return f"A name of {len(text):,} characters"
    address = _ADDRESS.search(text)
    if address is not None:
        return to_line(text[: address.end()] + _hide_secrets(text[address.end() :]))
    return to_line(_SECRET.sub(r"\1…", _LOGIN.sub(r"\1…@", text)))


def _hide_secrets(rest: str) -> str:
    """Hide the user, the password and the options in what follows the scheme of an address.

    A password may hold any character, so that its end is known only if nothing looks like another.
    """
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    login, at, place = rest[len(slashes) :].rpartition("@")
    if not at:
        _, colon, port = re.split(r"[/?#;]", place, maxsplit=1)[0].rpartition(":")
        if colon and re.search(r"[^0-9,\]]", port):  # a password, and the host was forgotten
            return f"{slashes}…"
        found = re.search(r"[?#;]", place)
        shown = place if found is None else f"{place[: found.end()]}…"
        return slashes + _SECRET.sub(r"\1…", shown)
    if re.search(r"[?#;]", login) and re.search(r"=", login):  # the @ may be one of the options
        return f"{slashes}…"
    return f"{slashes}…@" + _hide_secrets(place)


def name_type(thing: object, article: str = "A") -> str:
    """Return the name of the thing's type, with its article.

    >>> name_type([]), name_type(1), name_type(1, "a")
    ('A list', 'An int', 'an int')
    """
    name = type(thing).__name__
    return f"{article}{'n' if name[:1] in 'AEIOaeio' else ''} {name}"


def width(text: str) -> int:
    """Return the number of columns on a terminal, where wide characters take two.

    >>> width("flu"), width("日本")
    (3, 4)
    """
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def format_text_table(head: Row, rows: Sequence[Row], left: Collection[int] = (1,)) -> str:
    """Return a table of cells for a terminal or a file.

    Args:
        head: The names of the columns.
        rows: The cells.
        left: The columns that are aligned to the left; the others are aligned to the right.

    >>> print(format_text_table(["rank", "item"], [["1", "flu"]]))
    rank  item
       1  flu
    """
    widths = [max(map(width, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in [head, *rows]:
        spaces = [" " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)]
        cells = [
            cell + space if column in left else space + cell
            for column, (cell, space) in enumerate(zip(row, spaces, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
