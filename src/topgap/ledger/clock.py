"""When an entry is written: never before the one that it follows."""

from datetime import UTC, datetime, timedelta

from topgap.errors import LedgerError

TOLERANCE = timedelta(minutes=1)
"""So far may the clocks of several machines lie apart."""

_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


def now() -> datetime:
    """What the system's clock says."""
    return datetime.now(UTC)


def stamp(last: str | None, *, check: bool) -> str:
    """The time of an entry that follows one with the time `last`.

    Args:
        last: The time of the one before, if there is one.
        check: Whether to refuse a clock that is far behind; otherwise the entry gets the time of
            the one before.

    Raises:
        LedgerError: The clock is behind by more than the tolerance.

    >>> stamp("9999-12-31T00:00:00.000000Z", check=False)
    '9999-12-31T00:00:00.000000Z'
    """
    time = now()
    if last is None:
        return time.strftime(_FORMAT)
    before = read(last)
    if check and time < before - TOLERANCE:
        raise LedgerError(
            f"The clock stands at {time:%Y-%m-%d %H:%M:%S} UTC, before the ledger's last entry of "
            f"{before:%Y-%m-%d %H:%M:%S} UTC; set it right, or "
            f"give check_clock=False (--ignore-clock)."
        )
    return max(time, before).strftime(_FORMAT)


def read(text: str) -> datetime:
    """The time that was stamped.

    Raises:
        ValueError: It was not written so.

    >>> read("2026-01-01T00:00:00.000000Z")
    datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    time = datetime.fromisoformat(text)
    if time.tzinfo != UTC or time.strftime(_FORMAT) != text:
        raise ValueError
    return time
