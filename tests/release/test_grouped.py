"""A release of many groups: a frozen mapping, as JSON and back, and in frames of long form."""

import copy
import json
import pickle
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.selection.sample_selectors import FAR
from topgap import (
    Domain,
    GroupedRelease,
    Release,
    ReleaseError,
    TopKByGroup,
    select,
    top_k,
    top_k_by_group,
)
from topgap.domains import FROM_DATA

REGIONS = {"north": {"flu": 3 * FAR, "cold": FAR}, "south": {"cough": FAR}, "": {}}
DISEASES = ["flu", "cold", "cough"]
BOTH: dict[str, Any] = {"domain": DISEASES, "monotonic": True}

MADE: dict[str, GroupedRelease] = {
    "named": top_k_by_group(REGIONS, 2, 1, groups_per_person=2, **BOTH),
    "places": top_k_by_group(np.arange(12).reshape(3, 4), 2, 1),
    "without gaps": top_k_by_group(REGIONS, 1, 1, gaps=False, **BOTH),
    "noisy answers": top_k_by_group(REGIONS, 2, 1, items_per_person=1, **BOTH),
    "noisy places": top_k_by_group(np.arange(12).reshape(3, 4), 2, 1, items_per_person=1),
    "threshold": top_k_by_group(REGIONS, 2, 1, threshold=FAR // 2, **BOTH),
    "threshold of places": top_k_by_group(FAR * np.eye(3, 4, 1), 4, 1, threshold=FAR // 2),
    "all empty": top_k_by_group(REGIONS, 2, 1, threshold=9 * FAR, **BOTH),
    "empty and without gaps": top_k_by_group(REGIONS, 2, 1, threshold=9 * FAR, gaps=False, **BOTH),
    "noisy and empty": top_k_by_group(
        REGIONS, 2, 1, threshold=9 * FAR, items_per_person=1, **BOTH
    ),
    "empty places": top_k_by_group(np.zeros((2, 3)), 4, 1, threshold=9 * FAR),
    "from the data": top_k_by_group(REGIONS, 1, 1, domain=FROM_DATA),
    "a domain by a rule": top_k_by_group(
        {1: {7: FAR}, 2: {}}, 1, 1, domain=Domain.range(0, 10**20)
    ),
    "tuples": top_k_by_group({("AT", 1): {("flu", True): FAR, ("cold", False): 0}}, 1, 1),
    "enormous gaps": top_k_by_group({"a": [2**80, 0, 0], "b": [1, 0, 5]}, 2, 1),
    "enormous values": top_k_by_group(
        {"a": [2**80, 0, 0], "b": [1, 0, 5]}, 2, 1, items_per_person=1
    ),
    "one group": top_k_by_group({"a": [1, 2]}, 1, "1/3"),
}  # fmt: skip


@pytest.fixture(params=MADE, name="made")
def _made(request: pytest.FixtureRequest) -> GroupedRelease:
    return MADE[request.param]


def test_it_is_a_frozen_mapping_of_releases(made: GroupedRelease) -> None:
    assert isinstance(made, Mapping)
    assert [*made] == [*made.keys()] == [*made.groups]
    assert [len(release) for release in made.values()] == [*made.sizes]
    assert len(made) == len(made.groups)
    for group, release in made.items():
        assert group in made
        assert type(release) is Release
        assert release == made[group]
        assert release.parameters == made.parameters.each
        assert release.domain == made.domain
        assert release.domain_from_data == made.domain_from_data
    assert ["east"] not in made  # which has no hash
    assert "east" not in made
    with pytest.raises(KeyError):
        made["east"]
    with pytest.raises(AttributeError, match="frozen"):
        made.epsilon = Fraction(3)  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del made._groups


def test_it_says_what_all_groups_cost_together(made: GroupedRelease) -> None:
    assert made.epsilon == made.parameters.epsilon
    assert made.spent == made.parameters.cost(made.sizes) <= made.epsilon
    written = made.to_dict()
    assert written["parameters"]["epsilon"] == str(made.epsilon)
    assert ("spent" in written) == made.parameters.each.has_sentinel
    assert ("caveat" in written) == made.domain_from_data == (made.caveats != ())


COPIES: list[Callable[[GroupedRelease], GroupedRelease]] = [
    lambda made: GroupedRelease.from_json(made.to_json()),
    lambda made: GroupedRelease.from_json(made.to_json(indent=2).encode()),
    lambda made: GroupedRelease.from_dict(made.to_dict()),
    lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301
    lambda made: GroupedRelease(made.parameters, dict(made)),
    copy.copy,
    copy.deepcopy,
]


@pytest.mark.parametrize("again", COPIES)
def test_it_comes_back_as_it_was(
    made: GroupedRelease, again: Callable[[GroupedRelease], GroupedRelease]
) -> None:
    back = again(made)
    assert back == made
    assert hash(back) == hash(made)
    assert [*back] == [*made]
    assert [*map(type, back)] == [*map(type, made)]
    assert back.to_json() == made.to_json()
    assert [*back.values()] == [*made.values()]
    assert (back.spent, back.domain, back.caveats) == (made.spent, made.domain, made.caveats)


def test_what_was_released_otherwise_is_not_equal() -> None:
    # Empty lists have no gaps, whether these were to be released or not.
    made = {name: each for name, each in MADE.items() if name != "empty and without gaps"}
    assert len({*map(GroupedRelease.to_json, made.values())}) == len(made)
    assert len({*made.values()}) == len(made)
    north, south = (select(MADE["one group"].parameters.each, [9 * FAR, 0, n]) for n in (0, 1))
    parameters = MADE["one group"].parameters
    one = GroupedRelease(parameters, {"a": north, "b": south})
    assert one != GroupedRelease(parameters, {"b": south, "a": north})
    assert one != GroupedRelease(parameters, {"a": north, "c": south})
    assert one != {"a": north, "b": south}


def test_positions_are_not_written_where_there_are_names() -> None:
    """They tell the order of the answers, which need not be public."""
    named = top_k_by_group({"a": {"x": 1, "y": FAR}}, 1, 1)
    assert named._lists.indices is not None
    assert pickle.loads(pickle.dumps(named))._lists.indices is None  # noqa: S301
    assert GroupedRelease.from_json(named.to_json())._lists.indices is None


EMPTY = {name for name, made in MADE.items() if not sum(made.sizes)}


def test_frames_have_a_row_for_each_winner(made: GroupedRelease) -> None:
    if made in (MADE["enormous gaps"], MADE["enormous values"]):
        with pytest.raises(ReleaseError, match="too many for a column"):
            made.to_pandas()
        return
    frame, other, table = made.to_pandas(), made.to_polars(), made.to_arrow()
    assert len(frame) == len(other) == table.num_rows == sum(made.sizes)
    assert [*frame.columns] == other.columns == table.column_names
    row = 0
    for group, release in made.items():
        for rank, item in enumerate(release.items, 1):
            line = frame.iloc[row]
            groups = group if isinstance(group, tuple) else (group,)
            items = item if isinstance(item, tuple) else (item,)
            assert tuple(line.iloc[: len(groups)]) == groups
            assert line["rank"] == rank
            named = tuple(line.iloc[len(groups) + 1 : len(groups) + 1 + len(items)])
            # A column has one type, in which 10^20 is text.
            assert named == items or named == tuple(map(str, items))
            if release.gaps is not None:
                assert float(line["gap"]) == pytest.approx(float(release.gaps[rank - 1]))
            if release.values is not None:
                assert float(line["value"]) == pytest.approx(float(release.values[rank - 1]))
            row += 1
    if sum(made.sizes):
        assert_frame_equal(other, pl.DataFrame(pl.from_arrow(table)))
        pd.testing.assert_frame_equal(frame, table.to_pandas(), check_dtype=False)


def test_frames_of_lists_that_are_all_empty_have_the_columns() -> None:
    for name in EMPTY:
        frame = MADE[name].to_pandas()
        assert len(frame) == 0
        assert [*frame.columns][:3] == ["group", "rank", "item"]


def test_other_names_take_the_place_of_winners_and_groups() -> None:
    made = MADE["places"]
    items = [[f"item {i}" for i in release.items] for release in made.values()]
    named = made.with_items(items, ["a", "b", "c"])
    assert [*named] == ["a", "b", "c"]
    assert [[*release.items] for release in named.values()] == items
    assert [release.gaps for release in named.values()] == [r.gaps for r in made.values()]
    for wrong_items, groups in ((items, ["a", "b", "b"]), (items[:2], ["a", "b"]),
                                ([[], *items[1:]], ["a", "b", "c"])):  # fmt: skip
        with pytest.raises(ReleaseError):
            made.with_items(wrong_items, groups)


# --- What is not a release of groups

PARAMETERS = TopKByGroup(1, 1, groups_per_person=2)
ONE = select(PARAMETERS.each, {"flu": FAR, "cold": 0})

NO_RELEASES: list[Any] = [
    (None, {"a": ONE}),
    (PARAMETERS.each, {"a": ONE}),
    (PARAMETERS, {}),
    (PARAMETERS, [ONE]),
    (PARAMETERS, {"a": None}),
    (TopKByGroup(1, 1), {"a": ONE}),
    (PARAMETERS, {"a": ONE, "b": select(PARAMETERS.each, [FAR, 0])}),
    (PARAMETERS, {"a": ONE, "b": select(PARAMETERS.each, {"flu": FAR, "cold": 0}, gaps=False)}),
    (PARAMETERS, {"a": ONE, "b": select(PARAMETERS.each, {"flu": FAR}, domain=["flu", "cold"])}),
]


@pytest.mark.parametrize(("parameters", "releases"), NO_RELEASES)
def test_what_does_not_belong_together_is_refused(parameters: Any, releases: Any) -> None:
    with pytest.raises(ReleaseError):
        GroupedRelease(parameters, releases)


def changes(written: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Documents that nobody wrote."""
    groups = written["groups"]
    parameters = written["parameters"]
    return {
        "another format": {**written, "format": "topgap.release/1"},
        "no groups": {**written, "groups": []},
        "groups that are none": {**written, "groups": 7},
        "a group twice": {**written, "groups": [*groups, groups[0]]},
        "a group without winners": {**written, "groups": [{"group": "a", "winners": []}, *groups]},
        "more of a group": {**written, "groups": [{**groups[0], "seed": 3}, *groups[1:]]},
        "more of all": {**written, "seed": 3},
        "no parameters": {k: v for k, v in written.items() if k != "parameters"},
        "another epsilon": {**written, "parameters": {**parameters, "epsilon": "9"}},
        "another part of it": {**written, "parameters": {**parameters, "group_epsilon": "9"}},
        "a spent epsilon": {**written, "spent": "1/2"},
        "a group that is a list of lists": {
            **written, "groups": [{**groups[0], "group": [[["a"]] * 3, {}]}, *groups[1:]],
        },
        "a gap that is none": {
            **written,
            "groups": [{**groups[0], "winners": [{"item": "flu", "gap": "0.05"}] * 2}, *groups[1:]],
        },
    }  # fmt: skip


@pytest.mark.parametrize("name", changes(MADE["named"].to_dict()))
def test_what_nobody_wrote_is_refused(name: str) -> None:
    changed = changes(MADE["named"].to_dict())[name]
    with pytest.raises(ReleaseError):
        GroupedRelease.from_dict(changed)
    with pytest.raises(ReleaseError):
        GroupedRelease.from_json(json.dumps(changed))


@pytest.mark.parametrize("text", ["", "{", "7", "null", "[]", "{}", b"\xff", '{"groups": [7]}'])
def test_text_that_is_no_json_of_it_is_refused(text: str | bytes) -> None:
    with pytest.raises(ReleaseError):
        GroupedRelease.from_json(text)
    one = top_k([3, 1], 1, 1)
    with pytest.raises(ReleaseError):
        GroupedRelease.from_json(one.to_json())


def test_a_cost_that_it_did_not_have_is_refused() -> None:
    written = MADE["threshold"].to_dict()
    assert GroupedRelease.from_dict(written).spent == Fraction(written["spent"])
    with pytest.raises(ReleaseError, match="cost"):
        GroupedRelease.from_dict({**written, "spent": "1/100"})


@pytest.mark.parametrize("group", [1 + 2j, frozenset("a"), 10**700, float("inf"), ()])
def test_what_json_cannot_hold_is_refused(group: Any) -> None:
    made = top_k_by_group({group: [3, 1]}, 1, 1)
    with pytest.raises(ReleaseError, match="JSON"):
        made.to_json()
    assert made[group] in made.values()
