"""What an OpenDP domain holds: a vector of answers, or a map from keys to answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opendp.mod import Domain

from topgap.errors import ItemsError, ParameterError, ParameterTypeError
from topgap.numbers.parse import is_whole

_WHOLE = {"u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64"}
_FLOATS = {"f32", "f64"}
_ANY = "ExtrinsicObject"  # what a user_domain holds; OpenDP does not look into it


@dataclass(frozen=True)
class DomainInfo:
    """What the members of a domain are.

    Attributes:
        whole: Whether all answers are known to be integers.
        size: How many answers a vector has; None if that is open, or they are keyed.
        keys: OpenDP's name for the type of the keys, or of the dict of a `user_domain`; None for a
            vector.
    """

    whole: bool
    size: int | None
    keys: str | None

    def check_keys(self, names: Sequence[Any]) -> None:
        """Refuse names that no key can be equal to, for they would count 0 whatever the data.

        Raises:
            ItemsError: A name is not of the keys' type.
        """
        if not all(_is_key(name, self.keys) for name in names):
            raise ItemsError(
                f"Each item must be a key as input_domain has them, of type {self.keys}; for items "
                f"of another type, such as tuples, give a user_domain of dicts."
            )


def read_domain(domain: object) -> DomainInfo:
    """What the members of an OpenDP domain are, if they are answers.

    Raises:
        ParameterTypeError: `domain` is not a Domain of OpenDP.
        ParameterError: Its members are not vectors or maps of numbers, or may hold NaN. What a
            `user_domain` holds is not known before it comes.

    >>> from opendp.domains import atom_domain, map_domain, vector_domain
    >>> read_domain(vector_domain(atom_domain(T="i32"), size=9))
    DomainInfo(whole=True, size=9, keys=None)
    >>> read_domain(map_domain(atom_domain(T="String"), atom_domain(T="i32")))
    DomainInfo(whole=True, size=None, keys='String')
    """
    if not isinstance(domain, Domain):
        raise ParameterTypeError(
            f"input_domain must be a domain of OpenDP, such as "
            f"vector_domain(atom_domain(T='i32')), not {type(domain).__name__}."
        )
    carrier: Any = domain.carrier_type
    if carrier == _ANY:
        return DomainInfo(whole=False, size=None, keys=_ANY)
    holds = getattr(carrier, "origin", None)
    if holds not in ("Vec", "HashMap") or carrier.args[-1] not in _WHOLE | _FLOATS:
        raise ParameterError(
            "input_domain must be a vector_domain or a map_domain of numbers, "
            "such as vector_domain(atom_domain(T='i32')), or a user_domain of dicts."
        )
    if "nan=true" in str(domain):
        raise ParameterError(
            "input_domain must be free of NaN, which has no rank: atom_domain(T=float, nan=False)."
        )
    whole = carrier.args[-1] in _WHOLE
    if holds == "Vec":
        return DomainInfo(whole, domain.size, keys=None)
    return DomainInfo(whole, size=None, keys=str(carrier.args[0]))


def _is_key(name: object, keys: str | None) -> bool:
    if keys == _ANY:
        return True
    if keys == "String":
        return isinstance(name, str)
    return isinstance(name, bool) if keys == "bool" else is_whole(name)
