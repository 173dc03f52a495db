"""Where randomness comes from: a source of independent fair bits, passed in, never global."""

import secrets
from typing import Protocol

from topgap.errors import KernelError


class BitSource(Protocol):
    """Anything that hands out independent fair bits."""

    def take(self, count: int) -> int:
        """Return the next `count` bits as one integer, 0 ≤ result < 2**count."""


class SystemBits:
    """The operating system's cryptographic generator, asked anew for every draw.

    It keeps no state, so neither a fork, a thread nor a pickle can hand out the same bits twice.

    >>> SystemBits().take(0)
    0
    """

    __slots__ = ()

    def take(self, count: int) -> int:
        """Return `count` fresh bits as one integer, 0 ≤ result < 2**count.

        Raises:
            KernelError: The system gave no randomness.
        """
        try:
            return secrets.randbits(count)
        except (OSError, NotImplementedError):
            raise KernelError(
                "The operating system gave no randomness; nothing was released."
            ) from None
