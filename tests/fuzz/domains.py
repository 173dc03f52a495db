"""Domains of anything: made by every call that makes one, and asked for anything."""

import pickle
from typing import Any

from hypothesis import strategies as st

from tests.fuzz import hostile_domains, hostile_parameters, hostile_values
from tests.fuzz.judge import Judge
from tests.fuzz.well_formed import look_at
from topgap import Domain
from topgap.domains import ABSENT, LARGEST_SIZE, MOST_ITEMS, DomainDescription
from topgap.domains.cell_text import normalize_text, to_text
from topgap.errors import DomainError, ParameterError, ParameterTypeError

PARAMETERS = (ParameterError, ParameterTypeError)
_FEW = 60
"""So many items are gone through."""


@st.composite
def describing(draw: st.DrawFn) -> dict[str, Any]:
    """What the calls that make a domain are given, and what it is asked for."""
    luck = draw(st.integers(0, 7))  # of the arguments for one call, at most one is odd
    ends, odd_ends = hostile_domains.ENDS, hostile_parameters.NO_KS
    texts = hostile_domains.GOOD_PATTERNS if luck % 4 else hostile_domains.PATTERNS
    counts = st.integers(1, 4) if luck else hostile_parameters.KS | hostile_parameters.NO_KS
    lengths = hostile_domains.LENGTHS if luck != 5 else hostile_domains.NO_LENGTHS
    made = draw(hostile_domains.made())
    places = st.lists(st.integers(0, 10**9), max_size=2)
    members = [made.unrank(place % made.size) for place in draw(places)]
    return {
        "items": draw(hostile_parameters.ANYTHING if luck == 7 else hostile_domains.written()),
        "ends": (draw(ends), draw(ends if luck else odd_ends)),
        "pattern": draw(hostile_parameters.ANYTHING if luck == 6 else texts),
        "alphabet": draw(hostile_parameters.ANYTHING if luck == 6 else hostile_domains.ALPHABETS),
        "max_length": draw(lengths | (st.none() if luck % 2 else lengths)),
        "parts": draw(
            st.lists(hostile_domains.PARTS, max_size=3)
            if luck % 4 == 0
            else st.lists(hostile_domains.made(), min_size=1, max_size=3)
        ),
        "count": draw(counts),
        "made": made,
        "sought": [*draw(st.lists(hostile_domains.SOUGHT, max_size=4)), *members],
        "rank": draw(hostile_values.WHOLE if luck else hostile_parameters.NO_KS),
    }


def fuzz_domains(given: dict[str, Any], call: Judge) -> None:
    """Make a domain in every way, and look for anything in each."""
    length, rule = given["max_length"], (DomainError, *PARAMETERS)
    whole_numbers = (DomainError, ParameterTypeError)
    parts = given["parts"]
    found = [
        given["made"],
        call("topgap.Domain", (DomainError,), Domain, given["items"]),
        call("topgap.Domain.range", whole_numbers, Domain.range, *given["ends"]),
        call("topgap.Domain.pattern", rule, Domain.pattern, given["pattern"], max_length=length),
        call("topgap.Domain.strings", rule, Domain.strings, given["alphabet"], max_length=length),
        call("topgap.Domain.product", (DomainError,), Domain.product, *parts),
        *(
            call("topgap.Domain.subsets", rule, Domain.subsets, part, size=given["count"])
            for part in parts[:1]
        ),
    ]
    for domain in found:
        if domain is not None:
            is_domain(domain)
            _ask(domain, given, call)


def is_domain(domain: Any) -> None:
    """Check that it is a domain: of a size, in words, and one that can be sent."""
    assert type(domain) is Domain
    assert type(domain.size) is int
    assert 1 <= domain.size <= LARGEST_SIZE
    assert type(domain.columns) is int
    assert domain.columns >= 1
    assert bool(domain) is True
    if domain.is_listed:
        look_at(domain)
        assert len(domain) == domain.size == len(domain.names) == len(domain.texts)
    description = domain.description
    assert description.size == domain.size
    assert description.is_listed is domain.is_listed
    assert DomainDescription.from_dict(description.to_dict()) == description
    for shown in (repr(domain), str(description)):
        assert shown.isprintable(), ascii(shown)
    sent = pickle.loads(pickle.dumps(domain))  # noqa: S301 - it is ours
    assert sent == domain
    assert hash(sent) == hash(domain)
    assert domain != Domain([f"another {each}" for each in range(1 + (domain.size == 1))])


def _ask(domain: Domain, given: dict[str, Any], call: Judge) -> None:
    sought, rank = given["sought"], given["rank"]
    members = call("topgap.Domain.find", (), domain.find, sought)
    by_text = call("topgap.Domain.find_texts", (), domain.find_texts, sought)
    assert members is not None
    assert by_text is not None
    assert len(members) == len(by_text) == len(sought)
    for name, member in zip(sought, members, strict=True):
        place = call("topgap.Domain.rank", (DomainError,), domain.rank, name)
        assert (place is None) == (member is ABSENT) == (name not in domain)
        if member is not ABSENT:
            assert domain.unrank(place or 0) == member
            hash(member)
    for member in by_text:
        assert member is ABSENT or member in domain
    call("topgap.Domain.unrank", PARAMETERS, domain.unrank, rank)
    size = domain.size
    places = {0, size - 1, size // 2, size // 3 + 7, *_whole(rank)}
    for place in sorted(each % size for each in places):
        name = call("topgap.Domain.unrank", (), domain.unrank, place)
        assert domain.rank(name) == place
        assert domain.find([name, name]) == domain.find_texts([_text(name)]) * 2 == [name] * 2
        assert call("topgap.Domain.unrank_all", (), domain.unrank_all, [place]) == [name]
    if size <= _FEW or size > MOST_ITEMS:
        through = call("iterated", (DomainError,), iter, domain)
        assert (through is None) == (size > MOST_ITEMS)
        assert through is None or [*through] == domain.unrank_all(range(size))


def _whole(rank: Any) -> list[int]:
    return [rank] if type(rank) is int else []


def _text(name: Any) -> Any:
    """The text of a member, as the cells that mean it have it; of tuples each."""
    if type(name) is tuple:
        return tuple(map(_text, name))
    return normalize_text(to_text(name) or "")
