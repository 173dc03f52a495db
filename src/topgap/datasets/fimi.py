"""Public files of transactions, in the forms in which they are passed around.

These readers are for public data: their errors name the line that is wrong. Data about people who
are to be protected go through `topgap.counting`, whose errors never do.

| form | a line | where it is met |
|---|---|---|
| `fimi` | a person: items with spaces or tabs between them | the FIMI repository |
| `commas` | a person: items with commas between them | copies of BMS-POS as a CSV file |
| `spmf` | a person: items, each followed by -1, and -2 at the end | sequences of the SPMF library |
| `pairs` | an event: a transaction's number and an item | BMS-POS of the KDD Cup 2000 |

Items are whole numbers from 0. An item that a person has twice counts once. Spaces at the end of a
line and the line ends of Windows do no harm. Where a line is a person, an empty one is a person
without items; in `spmf` it is refused, and in `pairs` it is nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias, get_args

from topgap.datasets.content import Content, File, open_unpacked
from topgap.errors import ParameterError

Form = Literal["fimi", "commas", "spmf", "pairs"]
FORMS: tuple[Form, ...] = get_args(Form)

_MOST_DIGITS = 18  # so that an item fits 64 bits

_Number: TypeAlias = Callable[[bytes], int]


def transactions(source: File, *, form: Form = "fimi") -> Iterator[list[int]]:
    r"""Read a public file of transactions, one by one.

    Args:
        source: A path, or a file that is open for reading bytes. It may be packed by gzip.
        form: What a line is; see the table above. It is never guessed from the data.

    Returns:
        An iterator over the transactions: the items of each, in the order of the file, none twice.
        The file is opened at the first one. Only one is in memory at a time.

    Raises:
        ParameterError: There is no such form.
        DatasetError: The file cannot be read, or is of another form. This comes while iterating.

    >>> from io import BytesIO
    >>> list(transactions(BytesIO(b"7 3 7\n\n12\n")))
    [[7, 3], [], [12]]
    >>> list(transactions(BytesIO(b"1\t7\n1\t3\n2\t12\n"), form="pairs"))
    [[7, 3], [12]]
    >>> list(transactions(BytesIO(b"7 3\n12 -4\n")))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    topgap.errors.DatasetError: Line 2 of the open file has '-4' where a whole ...
    """
    return _read_file(source, read_form(form))


def read_form(form: str) -> Form:
    """The form, if there is one of this name.

    Raises:
        ParameterError: There is none.
    """
    for known in FORMS:
        if form == known:
            return known
    raise ParameterError(f"The form of a file must be one of {', '.join(FORMS)}.")


def parse_transactions(content: Content, form: Form) -> Iterator[list[int]]:
    """The transactions in what a file holds.

    Raises:
        DatasetError: It is of another form, or damaged.
    """
    number = _Numbers(content).__getitem__
    match form:
        case "fimi":
            return _parse_lines(content.lines(), number)
        case "commas":
            return _parse_lines((line.replace(b",", b" ") for line in content.lines()), number)
        case "spmf":
            return _parse_lines(_strip_marks(content), number)
        case "pairs":
            return _parse_pairs(content, number)


def _read_file(source: File, form: Form) -> Iterator[list[int]]:
    with open_unpacked(source) as content:
        yield from parse_transactions(content, form)


class _Numbers(dict[bytes, int]):
    """What each token means. There are few of them beside all their occurrences."""

    def __init__(self, content: Content) -> None:
        self._content = content

    def __missing__(self, token: bytes) -> int:
        number = self[token] = _parse_number(self._content, token)
        return number


def _parse_number(content: Content, token: bytes) -> int:
    # int() alone would also read signs and underscores.
    if not token.isdigit() or len(token) > _MOST_DIGITS:
        raise content.line_error(
            f"has {_format_token(token)} where a whole number from 0 of at most {_MOST_DIGITS} "
            f"digits should be"
        )
    return int(token)


def _format_token(token: bytes) -> str:
    start = token[:20].decode("ascii", "backslashreplace")
    return repr(start) if len(token) <= 20 else f"{start!r}…"


def _parse_lines(lines: Iterable[bytes], number: _Number) -> Iterator[list[int]]:
    for line in lines:
        yield [*dict.fromkeys(map(number, line.split()))]


def _strip_marks(content: Content) -> Iterator[bytes]:
    for line in content.lines():
        *tokens, last = line.split() or [b""]
        if last != b"-2":
            raise content.line_error("does not end in -2, as each line of the form spmf does")
        yield b" ".join(token for token in tokens if token != b"-1")


def _parse_pairs(content: Content, number: _Number) -> Iterator[list[int]]:
    ended: set[int] = set()
    current = -1  # which no transaction has
    basket: dict[int, None] = {}
    for line in content.lines():
        tokens = line.split()
        if not tokens:
            continue
        if len(tokens) != 2:
            raise content.line_error("is not a pair of a transaction number and an item")
        transaction = _parse_number(content, tokens[0])
        if transaction != current:
            if basket:
                yield [*basket]
            if transaction in ended:  # it would count as two persons
                raise content.line_error(
                    "goes back to a transaction that had ended; sort the lines"
                )
            ended.add(transaction)
            current, basket = transaction, {}
        basket[number(tokens[1])] = None
    if basket:
        yield [*basket]
