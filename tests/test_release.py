"""A release is frozen, exact in every form, and holds nothing but what was released."""

import copy
import json
import pickle
import sys
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topgap
from tests.checking.secrets_held import secrets_held
from topgap import MissingExtraError, Release, ReleaseError, TopK

PARAMETERS = TopK(3, "1/2", monotonic=True)
NAMED = Release(PARAMETERS, [4, 0, 7], [125, 0, 30], ["flu", "cold", "<b>&"])
PLAIN = Release(PARAMETERS, [4, 0, 7], [125, 0, 30])
WITHOUT_GAPS = Release(PARAMETERS, [4, 0, 7], None, ["flu", "cold", "pox"])
ENORMOUS = Release(TopK(1, 1), [0], [10**40])
ALL = [NAMED, PLAIN, WITHOUT_GAPS, ENORMOUS]


def test_it_says_what_was_released() -> None:
    assert NAMED.indices.tolist() == [4, 0, 7]
    assert NAMED.indices.dtype == np.int64
    assert NAMED.items == ("flu", "cold", "<b>&")
    assert NAMED.gaps == (Fraction(25, 2), Fraction(0), Fraction(3))
    assert NAMED.gap_units is not None
    assert NAMED.gap_units.dtype == np.int64
    assert NAMED.parameters is PARAMETERS
    assert NAMED.epsilon == Fraction(1, 2)
    assert PLAIN.items == (4, 0, 7)
    assert WITHOUT_GAPS.gaps is None
    assert WITHOUT_GAPS.gap_units is None
    assert ENORMOUS.gaps == (Fraction(10**39),)


def test_it_is_frozen() -> None:
    with pytest.raises(AttributeError, match="frozen"):
        NAMED.items = ()  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del NAMED._indices
    with pytest.raises(AttributeError):
        NAMED.answers = [1]
    for array in (NAMED.indices, NAMED.gap_units):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1  # type: ignore[index]
    released = topgap.noisy_max([10**9, 0], 1)
    with pytest.raises(ValueError, match="read-only"):
        released.indices[0] = 1


ANSWERS = {"ash": 10**9 + 12345, "elm": 7, "runner-up": 10**6}


SECRETS = {"elm", "runner-up", *ANSWERS.values(), 2}  # 2 is the runner-up's position


def test_it_holds_nothing_that_was_not_released() -> None:
    release = topgap.noisy_max(ANSWERS, epsilon=3)
    assert release.items == ("ash",)
    assert secrets_held(release, SECRETS) == set()
    for written in (release.to_json(), str(release), repr(release), release._repr_html_()):
        assert "runner-up" not in written
        assert "elm" not in written
    assert pickle.dumps(release).count(b"runner-up") == 0


def test_a_release_that_held_more_would_be_seen() -> None:
    parameters, ash = TopK(1, 3), np.array([0]).tobytes()
    gap = np.array([5]).tobytes()
    more = {
        "elm": Release.from_mechanism(parameters, ash, gap, ["ash", "elm"]),
        10**9 + 12345: Release.from_mechanism(
            parameters, np.array([*ANSWERS.values()]).tobytes(), gap, None
        ),
        10**6: Release.from_mechanism(parameters, ash, [10**6, 2**70], None),
        2: Release.from_mechanism(parameters, np.array([0, 2]).tobytes(), gap, None),
    }
    for secret, release in more.items():
        assert secret in secrets_held(release, SECRETS)


@pytest.mark.parametrize("release", ALL)
def test_copies_and_pickles_are_equal(release: Release) -> None:
    for other in (copy.copy(release), copy.deepcopy(release), pickle.loads(pickle.dumps(release))):  # noqa: S301
        assert other == release
        assert hash(other) == hash(release)
        assert other is release or release.items == other.items
    assert Release.from_json(release.to_json()) == release
    assert Release.from_json(release.to_json(indent=2).encode()) == release


def test_what_differs_is_not_equal() -> None:
    assert Release(PARAMETERS, None, [125, 0, 30], NAMED.items) == NAMED  # by its names
    others = [
        Release(TopK(3, 1), [4, 0, 7], [125, 0, 30], ["flu", "cold", "<b>&"]),
        Release(PARAMETERS, [4, 0, 7], [125, 0, 30], ["cold", "flu", "<b>&"]),
        Release(PARAMETERS, [4, 0, 7], [125, 1, 30], ["flu", "cold", "<b>&"]),
        Release(PARAMETERS, [4, 0, 7], [125, 0, 30], ["flu", "pox", "<b>&"]),
        PLAIN,
        Release(PARAMETERS, [4, 0, 7], None, ["flu", "cold", "<b>&"]),
    ]
    assert all(other != NAMED for other in others)
    assert NAMED != "flu"


def test_json_is_plain_and_exact() -> None:
    assert json.loads(NAMED.to_json()) == {
        "format": "topgap.release/1",
        "parameters": {
            "k": 3,
            "epsilon": "1/2",
            "resolution": "1/10",
            "sensitivity": "1",
            "monotonic": True,
        },
        "winners": [
            {"item": "flu", "gap": "12.5"},
            {"item": "cold", "gap": "0"},
            {"item": "<b>&", "gap": "3"},
        ],
    }
    assert PLAIN.to_dict()["winners"][0] == {"index": 4, "gap": "12.5"}
    thirds = Release(TopK(1, 1, resolution="1/3"), [0], [37])
    assert thirds.to_dict()["winners"] == [{"index": 0, "gap": "37/3"}]


ITEMS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)


@pytest.mark.slow
@given(
    st.integers(1, 6).flatmap(
        lambda k: st.tuples(
            st.lists(st.integers(0, 2**63 - 1), min_size=k, max_size=k, unique=True),
            st.none() | st.lists(st.integers(0, 2**80), min_size=k, max_size=k),
            st.none() | st.lists(ITEMS, min_size=k, max_size=k),
        )
    ),
    st.sampled_from(["1", "1/10", "1/8", "1/3", "1/1000000000"]),
)
def test_json_comes_back_as_it_went(given: Any, resolution: str) -> None:
    indices, units, items = given
    parameters = TopK(len(indices), 1, resolution=resolution)
    release = Release(parameters, indices, units, items)
    infinite = any(isinstance(item, float) and item - item != 0 for item in items or ())
    if infinite:
        with pytest.raises(ReleaseError, match="finite numbers"):
            release.to_json()
    else:
        assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("item", [b"a", {1}, object(), (), ("a", b"b"), ("a", (float("nan"),))])
def test_items_without_a_json_form_are_refused(item: Any) -> None:
    release = Release(TopK(1, 1), [0], [1], [item])
    with pytest.raises(ReleaseError, match="name the items by strings"):
        release.to_json()


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(NAMED.to_json()), **changes})


WINNERS = json.loads(NAMED.to_json())["winners"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "[" * 10**5,
        b"\xff",
        changed(format="topgap.release/2"),
        changed(parameters=None),
        changed(parameters={"k": 3}),
        changed(parameters={"k": 3, "epsilon": "0"}),
        changed(parameters={"k": 3, "epsilon": "1", "other": 1}),
        changed(parameters={"k": 2, "epsilon": "1"}),
        changed(winners=None),
        changed(winners=[]),
        changed(winners=WINNERS[:2]),
        changed(winners=[1, 2, 3]),
        changed(winners=[{"index": 1}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": 12.5}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": "12.55"}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": "-1"}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": "1/0"}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": "nan"}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": "1e1000000000"}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": "1" * 200_000}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "gap": "٣"}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "item": {"flu": 1}}, *WINNERS[1:]]),
        changed(winners=[{**WINNERS[0], "answer": 3}, *WINNERS[1:]]),
        changed(winners=[{**winner, "index": 1} for winner in WINNERS]),
        changed(winners=[{"index": i, "gap": "0"} for i in (0, 1, -1)]),
        changed(winners=[{"index": i, "gap": "0"} for i in (0, 1, "2")]),
        changed(winners=[{"index": i, "gap": "0"} for i in (0, 1, True)]),
        changed(winners=[{"index": i, "gap": "0"} for i in (0, 1, 1)]),
        changed(winners=[{"index": i, "gap": "0"} for i in (0, 1, 2**63)]),
        changed(parameters={"k": 3, "epsilon": "1/2"}),
        changed(other=1),
    ],
    ids=range(36),
)
def test_what_is_no_release_is_refused(text: Any) -> None:
    with pytest.raises(ReleaseError, match=r"^This is not a release: .*\.$"):
        Release.from_json(text)


@pytest.mark.parametrize(
    "arguments",
    [(None, [0]), (TopK(1, 1),), (TopK(1, 1), 5), (TopK(1, 1), [0], 5), (TopK(1, 1), [0], [-1]),
     (TopK(1, 1), [0], [1], 5), (TopK(1, 1), [0], [1], "a"), (TopK(2, 1), [0, 0])],
)  # fmt: skip
def test_what_cannot_have_been_released_is_refused(arguments: Any) -> None:
    with pytest.raises(ReleaseError, match=r"^This is not a release: .*\.$"):
        Release(*arguments)


def test_frames_have_a_row_per_winner() -> None:
    rows = [
        {"item": "flu", "gap": 12.5, "gap_units": 125},
        {"item": "cold", "gap": 0.0, "gap_units": 0},
        {"item": "<b>&", "gap": 3.0, "gap_units": 30},
    ]
    assert NAMED.to_pandas().to_dict("records") == rows
    assert NAMED.to_polars().to_dicts() == rows
    assert NAMED.to_arrow().to_pylist() == rows
    assert str(NAMED.to_pandas()["gap_units"].dtype) == "int64"
    assert WITHOUT_GAPS.to_arrow().column_names == ["item"]
    assert PLAIN.to_polars()["item"].to_list() == [4, 0, 7]


def test_a_gap_too_large_for_a_column_says_so() -> None:
    for convert in (ENORMOUS.to_pandas, ENORMOUS.to_polars, ENORMOUS.to_arrow):
        with pytest.raises(ReleaseError, match="use to_dict"):
            convert()


@pytest.mark.parametrize(
    ("module", "method"),
    [("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")],
)
def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, method: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install {module}"):
        getattr(NAMED, method)()


def test_it_is_readable() -> None:
    assert str(NAMED).splitlines() == [
        "rank  item  ahead of the next by",
        "   1  flu                   12.5",
        "   2  cold                     0",
        "   3  <b>&                     3",
        "ε = 0.5, resolution 0.1, sensitivity 1, monotonic",
    ]
    assert str(WITHOUT_GAPS).splitlines()[:2] == ["rank  item", "   1  flu"]
    assert repr(NAMED) == "<Release of the top 3 at ε = 0.5: 'flu', 'cold', '<b>&'>"
    long = Release(TopK(100, 1), range(100), [0] * 100)
    assert repr(long) == "<Release of the top 100 at ε = 1: 0, 1, 2, 3, 4, …>"
    assert "… and 40 more" in str(long)
    assert len(str(long).splitlines()) == 63


def test_items_cannot_disturb_the_table_they_stand_in() -> None:
    items = ["two\nlines", "\x1b[31mred", "\u202ereversed", "日本"]
    shown = str(Release(TopK(4, 1), [0, 1, 2, 3], [1, 2, 3, 4], items))
    assert shown.splitlines()[1:5] == [
        "   1  two\\nlines                       0.1",
        "   2  \\x1b[31mred                      0.2",
        "   3  \\u202ereversed                   0.3",
        "   4  日本                             0.4",
    ]


def test_it_can_be_iterated() -> None:
    assert len(NAMED) == 3
    assert [*NAMED] == [("flu", Fraction(25, 2)), ("cold", Fraction(0)), ("<b>&", Fraction(3))]
    assert [*WITHOUT_GAPS] == [("flu", None), ("cold", None), ("pox", None)]


def test_positions_of_named_items_are_never_written() -> None:
    """A Series of value_counts is sorted by the true counts: there, a position is a true rank."""
    counts = pd.Series({"c": 30, "a": 29, "f": 28, "b": 27, "d": 26})
    release = topgap.top_k(counts, 3, epsilon="1/100")
    assert release.items == tuple(counts.index[release.indices])
    for written in (release.to_json(), str(release), repr(release), release._repr_html_()):
        assert "index" not in written
    for frame in (release.to_pandas(), release.to_polars()):
        assert [*frame.columns] == ["item", "gap", "gap_units"]
    read = Release.from_json(release.to_json())
    assert read == release
    assert read.items == release.items
    with pytest.raises(ReleaseError, match="no positions"):
        _ = read.indices
    pickled = pickle.loads(pickle.dumps(release))  # noqa: S301
    assert pickled == release
    with pytest.raises(ReleaseError, match="no positions"):
        _ = pickled.indices
    assert copy.deepcopy(release).indices.tolist() == release.indices.tolist()


def test_gaps_of_any_length_are_written_and_read() -> None:
    release = topgap.noisy_max([10**6000, 0], 1)
    assert len(str(release)) > 6000
    assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize(
    "items",
    [["a", 1, 2.5], [("a", 1), ("b", 2), ("c", 3)], ["a", float("nan"), "b"], [10**400, 1, 2]],
)
def test_items_of_mixed_types_make_a_frame_or_one_sentence(items: list[Any]) -> None:
    release = Release(PARAMETERS, [0, 1, 2], [1, 2, 3], items)
    for convert in (release.to_pandas, release.to_polars, release.to_arrow):
        try:
            frame = convert()
        except ReleaseError as error:
            assert str(error).endswith("name the items by strings.")  # noqa: PT017
        else:
            assert len(frame) == 3


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_notebooks_show_a_table_in_which_items_are_text() -> None:
    cells = Cells()
    cells.feed(NAMED._repr_html_())
    assert cells.tags.count("tr") == 4
    assert "b" not in cells.tags
    assert "<b>&" in cells.texts
    assert {"flu", "12.5", "rank"} <= {*cells.texts}
