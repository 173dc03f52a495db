"""Bits read from a given tape, so that a run can be repeated: for checks only, never for a release.

Whoever knows the tape knows the noise.
"""


class TapeExhaustedError(EOFError):
    """A draw asked for more bits than the tape has left.

    Attributes:
        missing: How many bits the draw wanted beyond the end of the tape.
    """

    def __init__(self, missing: int) -> None:
        super().__init__(f"The tape is exhausted: the draw needs {missing} more bits.")
        self.missing = missing


class Tape:
    """A finite tape of bits, written as a string of 0 and 1 and read from its beginning.

    Attributes:
        left: How many bits have not been read yet.

    >>> tape = Tape("101")
    >>> tape.take(2), tape.left
    (2, 1)
    >>> tape.take(3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    topgap...TapeExhaustedError: The tape is exhausted: the draw needs 2 more bits.
    """

    def __init__(self, bits: str) -> None:
        self._value = int("0" + bits, 2)
        self.left = len(bits)

    def take(self, count: int) -> int:
        """Return the next `count` bits, the first of them as the highest."""
        if count > self.left:
            raise TapeExhaustedError(count - self.left)
        self.left -= count
        return (self._value >> self.left) & ((1 << count) - 1)
