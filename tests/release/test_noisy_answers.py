"""A release of noisy answers: what can be one, and the same in every form."""

import copy
import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import topgap
from tests.checking.secrets_held import secrets_held
from topgap import Release, ReleaseError, TopK
from topgap.release.result import _restore

FEW = TopK(3, "1/2", monotonic=True, items_per_person=2)
CUT = TopK(3, "1/2", monotonic=True, items_per_person=2, threshold="-7/2", resolution="1/2")
NAMED = Release(FEW, [4, 0, 7], [5, 0, 30], ["flu", "cold", "pox"], value_units=[12, 7, 7])
PLAIN = Release(FEW, [4, 0, 7], [5, 0, 30], value_units=[12, 7, 7])
WITHOUT = Release(FEW, [4, 0, 7], None, ["flu", "cold", "pox"])
LONG = Release(FEW, None, [10**40, 0, 1], ["a", "b", "c"], value_units=[10**40, 0, 0])
BELOW = Release(CUT, None, [1, 5], ["flu", "cold"], value_units=[-1, -2])
EMPTY = Release(CUT, None, [], [], value_units=[])
ALL = [NAMED, PLAIN, WITHOUT, LONG, BELOW, EMPTY]


def test_it_says_what_was_released() -> None:
    assert NAMED.values == (Fraction(12), Fraction(7), Fraction(7))
    assert NAMED.value_units is not None
    assert NAMED.value_units.dtype == np.int64
    assert BELOW.values == (Fraction(-1, 2), Fraction(-1))
    assert BELOW.gaps == (Fraction(1, 2), Fraction(5, 2))
    assert LONG.value_units is not None
    assert LONG.value_units.dtype == object
    assert WITHOUT.values is None
    assert EMPTY.values == EMPTY.gaps == EMPTY.items == ()
    with pytest.raises(ValueError, match="read-only"):
        NAMED.value_units[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        LONG.value_units[0] = 1


@pytest.mark.parametrize("release", ALL, ids=repr)
def test_it_comes_back_as_it_went(release: Release) -> None:
    copies = [pickle.loads(pickle.dumps(release)), copy.deepcopy(release)]  # noqa: S301
    copies += [Release.from_json(release.to_json()), Release.from_dict(release.to_dict())]
    if release is not PLAIN:  # which would have names then
        copies.append(release.with_items(release.items))
    for each in copies:
        assert each == release
        assert hash(each) == hash(release)
        assert each.values == release.values
        assert each.parameters == release.parameters


def test_what_differs_is_not_equal() -> None:
    assert len({*ALL, *ALL}) == len(ALL)
    higher = Release(FEW, [4, 0, 7], [5, 0, 30], ["flu", "cold", "pox"], value_units=[13, 8, 8])
    assert higher != NAMED


def test_json_has_values_gaps_and_the_bound() -> None:
    document = json.loads(BELOW.to_json())
    assert document["winners"] == [
        {"item": "flu", "value": "-0.5", "gap": "0.5"},
        {"item": "cold", "value": "-1", "gap": "2.5"},
    ]
    assert document["parameters"] == {
        "k": 3, "epsilon": "1/2", "resolution": "1/2", "sensitivity": "1", "monotonic": True,
        "items_per_person": 2, "noise": "laplace", "threshold": "-7/2",
    }  # fmt: skip
    assert "threshold" not in NAMED.to_dict()["parameters"]


OLD = (
    '{"format": "topgap.release/1", "parameters": {"k": 2, "epsilon": "1/3", '
    '"resolution": "1/10", "sensitivity": "1", "monotonic": false}, '
    '"winners": [{"item": "flu", "gap": "12.5"}, {"item": "cold", "gap": "0.3"}]}'
)


def test_what_was_written_before_there_were_bounds_is_read_and_written_as_it_was() -> None:
    release = Release.from_json(OLD)
    assert release == Release(TopK(2, "1/3"), None, [125, 3], ["flu", "cold"])
    assert release.values is None
    assert release.to_json() == OLD
    # As such a release was pickled.
    older = _restore(TopK(2, "1/3"), None, [125, 3], ("flu", "cold"), False, None)
    assert older == release


def test_a_bound_without_laplace_noise_is_kept() -> None:
    release = Release(TopK(2, 1, items_per_person=5), None, [125, 3], ["flu", "cold"])
    read = Release.from_json(release.to_json())
    assert read == release != Release(TopK(2, 1), None, [125, 3], ["flu", "cold"])
    assert read.parameters.items_per_person == 5
    assert read.parameters.noise == "exponential"


NAMES = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("parameters", "arguments", "word"),
    [
        (FEW, ([5, 0, 1], NAMES, None), "noisy answers come with the gaps"),
        (FEW, (None, NAMES, [9, 4, 4]), "noisy answers come with the gaps"),
        (TopK(3, 1), ([5, 0, 1], NAMES, [9, 4, 4]), "noisy answers come with the gaps"),
        (TopK(3, 1), (None, NAMES, [9, 4, 4]), "noisy answers come with the gaps"),
        (FEW, ([5, 0, 1], NAMES, [9, 4, 3]), "its gaps do not match its answers"),
        (FEW, ([4, 0, 1], NAMES, [9, 4, 4]), "its gaps do not match its answers"),
        (FEW, ([5, -1, 1], NAMES, [9, 4, 5]), "a gap is never negative"),
        (FEW, ([5, 0, -1], NAMES, [9, 4, 4]), "a gap is never negative"),
        (FEW, ([5, 0, 1], NAMES, [9, 4]), "one noisy answer per named item"),
        (FEW, ([5, 0, 1], NAMES, 9), "one noisy answer per named item"),
        (FEW, ([5, 0, 1], NAMES, [9, 4, 4.0]), "a whole number of steps"),
        (FEW, ([5, 0, 1], NAMES, [9, 4, True]), "a whole number of steps"),
        (FEW, ([5, 0, 1], NAMES, [9, 4, None]), "a whole number of steps"),
        (FEW, ([5], ["a", "b"], [9, 4]), "one"),
        (FEW, ([], [], []), "one"),
        (CUT, ([1, 0], ["a", "b"], [-7, -8]), "below the threshold"),
        (CUT, ([0] * 4, ["a", "b", "c", "d"], [5] * 4), "at most k named items"),
        (CUT, ([0] * 2, ["a"], [5] * 2), "one gap per named item"),
        (CUT, ([12], "a", [5]), "one name per named item"),
        (CUT, ([11], ["a"], [5]), "its last gap is not over the threshold"),
        (CUT, ([0, 0, 13], ["a", "b", "c"], [5, 5, 5]), "its last gap is not over the threshold"),
    ],
)
def test_what_cannot_have_been_released_is_refused(
    parameters: TopK, arguments: tuple[Any, Any, Any], word: str
) -> None:
    gaps, items, values = arguments
    with pytest.raises(ReleaseError, match=rf"^This is not a release: .*{word}.*\.$"):
        Release(parameters, None, gaps, items, value_units=values)


def _changed(**changes: Any) -> dict[str, Any]:
    document = BELOW.to_dict()
    for name, value in changes.items():
        part, _, key = name.partition("__")
        place: Any = document["parameters"] if part == "parameters" else document["winners"][0]
        if value is None:
            del place[key]
        else:
            place[key] = value
    return document


@pytest.mark.parametrize(
    "document",
    [
        _changed(parameters__noise=None),
        _changed(parameters__items_per_person=None),
        _changed(parameters__noise="gauss"),
        _changed(parameters__noise="exponential"),
        _changed(parameters__items_per_person="2"),
        _changed(parameters__items_per_person=0),
        _changed(parameters__threshold="none"),
        _changed(parameters__threshold="0"),  # which none of them reaches
        _changed(parameters__group="x"),
        _changed(winner__value=None),
        _changed(winner__value="-0.4"),
        _changed(winner__value=-1),
        _changed(winner__value="1"),
        _changed(winner__noise="1"),
        _changed(winner__gap=None),
        _changed(parameters__k=1),
    ],
    ids=str,
)
def test_what_is_no_document_of_it_is_refused(document: dict[str, Any]) -> None:
    for read in (Release.from_dict, lambda given: Release.from_json(json.dumps(given))):
        with pytest.raises(ReleaseError, match=r"^This is not a release: .*\.$"):
            read(document)


def test_without_a_threshold_there_are_as_many_winners_as_k_says() -> None:
    document = NAMED.to_dict()
    document["winners"].pop()
    with pytest.raises(ReleaseError, match="as many as k says"):
        Release.from_dict(document)


ANSWERS = {"ash": 10**9 + 12345, "elm": 7, "runner-up": 10**6}


@pytest.mark.parametrize("threshold", [None, 10**7, 10**4])
def test_it_holds_nothing_that_was_not_released(threshold: int | None) -> None:
    """Noise of scale 100 is 0 with probability tanh(1/200); then there is another release."""
    given: dict[str, Any] = {"items_per_person": 1, "noise": "laplace", "threshold": threshold}
    for _ in range(20):
        release = topgap.top_k(ANSWERS, 1, "1/100", monotonic=True, **given)
        assert release.items == ("ash",)
        if release.values != (ANSWERS["ash"],):
            break
    secrets = {"elm", "runner-up", *ANSWERS.values(), 2}
    assert secrets_held(release, secrets) == set()
    for written in (release.to_json(), str(release), repr(release), release._repr_html_()):
        assert "runner-up" not in written
        assert str(ANSWERS["ash"]) not in written
