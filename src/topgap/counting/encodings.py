"""Encodings of text: which one a user names, and which one a file seems to have."""

import codecs
import gzip
from collections.abc import Iterable, Iterator
from typing import Any

from topgap.errors import ParameterError

_CHUNK = 1 << 20
_MOST_SEEN = 1 << 26  # of a file, to guess its encoding
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UTF8 = {"utf-8", "utf-8-sig", "ascii"}


def read_encoding(encoding: str | None) -> str | None:
    """Read the name of an encoding: Python's own name for it; None if none is given.

    Raises:
        ParameterError: It is none of text that Python knows.

    >>> read_encoding("Latin-1"), read_encoding("windows-1252"), read_encoding("UTF8")
    ('iso8859-1', 'cp1252', 'utf-8')
    """
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        found = None
    if found is None or not found._is_text_encoding or found.incrementaldecoder is None:
        raise ParameterError(
            "The encoding is not known to Python; give one such as latin-1, windows-1252 or utf-16."
        )
    return found.name


def is_utf8(encoding: str | None) -> bool:
    """Whether text of this encoding, named as by `read_encoding`, is UTF-8 as it stands."""
    return encoding is None or encoding in _UTF8


def find_mark(start: bytes) -> str | None:
    """The encoding that a byte order mark tells, other than UTF-8; None without a mark.

    >>> find_mark("flu".encode("utf-16")), find_mark(b"flu")
    ('utf-16', None)
    """
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def find_zeros(start: bytes) -> str | None:
    """The encoding that the places of zero bytes tell; None if there are none, or no pattern.

    Text of letters and digits has a zero in every second byte of UTF-16. In UTF-8 there is none.

    >>> find_zeros("who,what".encode("utf-16-le")), find_zeros("who,what".encode("utf-16-be"))
    ('utf-16-le', 'utf-16-be')
    """
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) * 4 < len(start) // 2:
        return None
    return "utf-16-le" if odd > 2 * even else "utf-16-be" if even > 2 * odd else None


def guess_encoding(chunks: Iterable[bytes]) -> str | None:
    r"""Guess the encoding of a text that is not UTF-8; None if nothing shows it.

    Bytes from 0x80 to 0x9F are letters and signs in windows-1252, and nothing that is typed in
    Latin-1, which is otherwise the same.

    >>> guess_encoding([b"caf\xe9"]), guess_encoding([b"5 \x80"]), guess_encoding([b"\x81"])
    ('latin-1', 'windows-1252', None)
    """
    seen, of_windows = 0, False
    for chunk in chunks:
        if seen == 0 and (told := find_mark(chunk) or find_zeros(chunk[:1024])):
            return told
        high = {*chunk} & {*range(0x80, 0xA0)}
        if high & {0x81, 0x8D, 0x8F, 0x90, 0x9D}:  # nothing in windows-1252
            return None
        of_windows = of_windows or bool(high)
        seen += len(chunk)
        if seen >= _MOST_SEEN:
            break
    return "windows-1252" if of_windows else "latin-1"


def find_wrong_text(paths: Iterable[str]) -> tuple[str, str | None] | None:
    """Find the first of several text files that is not UTF-8, and guess its encoding."""
    for path in paths:
        decoder, failed = codecs.getincrementaldecoder("utf-8")(), False
        for chunk in _read_chunks(path):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                failed = True
                break
        if failed:
            return path, guess_encoding(_read_chunks(path))
    return None


def not_utf8(label: str, encoding: str | None) -> str:
    """Write the sentence about a text that is not UTF-8, and seems to have this encoding."""
    if encoding is None:
        return (
            f"{label} is not UTF-8 text; say which encoding it has (encoding=, --encoding), or "
            f"save it as UTF-8."
        )
    return (
        f"{label} is not UTF-8 text, and looks like {encoding}; say so (encoding={encoding!r}, "
        f"--encoding {encoding}), or save it as UTF-8."
    )


def not_decodable(label: str, encoding: str) -> str:
    """Write the sentence about a text that does not have the encoding that was named."""
    return f"{label} has bytes that are not text in the encoding {encoding}; give another one."


def of_domain(sentence: str) -> str:
    """Say in a sentence the options for the domain's file instead of those for the source.

    >>> of_domain("Say so (--encoding latin-1).")
    'Say so (--domain-encoding latin-1).'
    """
    return sentence.replace("--encoding", "--domain-encoding").replace("--table", "--domain-table")


def open_text(path: str) -> Any:
    """Open a text file, packed by gzip or not, as its name says."""
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")


def make_decoder(encoding: str) -> Any:
    """Make what decodes text of this encoding in parts, and raises UnicodeError if it is none."""
    return codecs.getincrementaldecoder(encoding)("strict")


def _read_chunks(path: str) -> Iterator[bytes]:
    with open_text(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
