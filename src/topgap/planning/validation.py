"""What a plan is asked for, read and checked: values of ε, values of k, and the domain's size."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from topgap.domains import LARGEST_SIZE, Domain
from topgap.errors import DomainError, ParameterError, ParameterTypeError
from topgap.numbers.parse import Number, is_whole, read_number, read_parameter, read_whole
from topgap.parameters import TopK
from topgap.selection.unlisted import leaves_ties

EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")
"""The default values of ε."""

_FARTHEST = 10**100


def read_epsilons(epsilons: "Number | Iterable[Number]") -> list[Fraction]:
    """Read the values of ε, each once, from the smallest up.

    Raises:
        ParameterError, ParameterTypeError: There is none, or one that cannot be used.

    >>> read_epsilons([1, "1/3", 1.0])
    [Fraction(1, 3), Fraction(1, 1)]
    """
    read = sorted({read_parameter(each, "epsilon") for each in to_list(epsilons, "epsilons")})
    if not read:
        raise ParameterError("epsilons must have a value of ε to plan for.")
    if max(read[-1], 1 / read[0]) > _FARTHEST:
        raise ParameterError("epsilon must lie between 1e-100 and 1e100 to be planned for.")
    return read


def read_thresholds(thresholds: "Number | Iterable[Number]") -> list[Fraction]:
    """Read thresholds, each once, from the smallest up.

    Raises:
        ParameterError, ParameterTypeError: There is none, or one that cannot be used.

    >>> read_thresholds([500, "100.5", 500.0])
    [Fraction(201, 2), Fraction(500, 1)]
    """
    read = sorted({read_number(each, "threshold") for each in to_list(thresholds, "thresholds")})
    if not read:
        raise ParameterError("thresholds must have a value to plan for.")
    return read


def read_ks(k: int | Iterable[int]) -> list[int]:
    """Read the values of k, each once, from the smallest up.

    Raises:
        ParameterError, ParameterTypeError: There is none, or one that cannot be used.

    >>> read_ks([25, 10, 25]), read_ks(3)
    ([10, 25], [3])
    """
    read = sorted({read_whole(each, "k", least=1) for each in to_list(k, "k")})
    if not read:
        raise ParameterError("k must have a value to plan for.")
    return read


def read_size(domain: Domain | int) -> int:
    """Read how many items a domain has.

    Raises:
        ParameterError, ParameterTypeError: It is neither a domain nor its size.
        DomainError: It is larger than any domain may be.

    >>> read_size(10**12), read_size(Domain(["flu", "cold"]))
    (1000000000000, 2)
    """
    if isinstance(domain, Domain):
        return domain.size
    if not is_whole(domain):
        raise ParameterTypeError(
            f"domain must be a Domain, or its size as an int, not {type(domain).__name__}."
        )
    size = read_whole(domain, "domain", least=1)
    if size > LARGEST_SIZE:
        raise DomainError("The size of a domain must be at most 10^4000.")
    return size


def check_noise(all_parameters: Sequence[TopK]) -> None:
    """Refuse noise with which releases of a domain cannot be simulated.

    Raises:
        ParameterError: One of them has such noise.
    """
    if any(parameters.kernel is None for parameters in all_parameters):
        raise ParameterError(
            "A plan for a domain needs noise that the kernel's integers can hold; use larger "
            "values of epsilon or a coarser resolution."
        )
    if any(map(leaves_ties, all_parameters)):
        raise ParameterError(
            "With such small noise too many items of the domain would be equal; use smaller "
            "values of epsilon."
        )


def to_list(values: Any, name: str) -> list[Any]:
    """The values of a list, or a single one as a list.

    Raises:
        ParameterTypeError: They cannot be read.
    """
    try:
        single = isinstance(values, str) or getattr(values, "ndim", 1) == 0
        return [values] if single or not isinstance(values, Iterable) else [*values]
    except Exception:  # an iterable may fail in any way
        raise ParameterTypeError(f"{name} must be numbers in a list that can be read.") from None
