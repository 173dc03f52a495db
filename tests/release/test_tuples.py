"""Items of products and pairs are tuples: shown on a line, written as lists, and read back."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topgap import Release, ReleaseError, TopK
from topgap.display.items import format_item

PARAMETERS = TopK(2, 1)
PAIRS = Release(PARAMETERS, None, [125, 3], [("Germany", 7), ("France", 2**70)])
NESTED = Release(PARAMETERS, None, None, [("a", ("b", "c")), ("d", ("e", "f"))])
UNEVEN = Release(PARAMETERS, None, None, [("a",), ("a", "b")])


def test_tables_show_their_members() -> None:
    items = [("Germany", "/start"), ("Paris, France", "two\nlines")]
    assert str(Release(PARAMETERS, None, None, items)).splitlines()[1:3] == [
        "   1  Germany, /start",
        r'   2  "Paris, France", two\nlines',
    ]


def test_members_that_could_be_mistaken_are_quoted() -> None:
    assert format_item(("", " a", "(b)", 'c"', "d (e)")) == '"", " a", "(b)", "c""", d (e)'
    assert format_item(("a", ("b (c)",))) == 'a, ("b (c)")'


MEMBERS = st.text('ab ,"()', max_size=4)


@pytest.mark.slow
@given(*[st.tuples(MEMBERS, st.tuples(MEMBERS, MEMBERS)) | st.tuples(MEMBERS, MEMBERS)] * 2)
def test_different_tuples_look_different(one: Any, other: Any) -> None:
    assert (format_item(one) == format_item(other)) == (one == other)


@pytest.mark.parametrize("release", [PAIRS, NESTED, UNEVEN])
def test_they_come_back_as_tuples(release: Release) -> None:
    for read in (
        Release.from_json(release.to_json()),
        Release.from_dict(json.loads(release.to_json())),
        Release.from_dict(release.to_dict()),
        pickle.loads(pickle.dumps(release)),  # noqa: S301
    ):
        assert read == release
        assert {*map(type, read.items)} == {tuple}
    assert hash(Release.from_json(release.to_json()).items) == hash(release.items)


def test_json_has_lists() -> None:
    assert json.loads(PAIRS.to_json())["winners"][0] == {"item": ["Germany", 7], "gap": "12.5"}


@pytest.mark.parametrize("item", [[], [[]], ["a", {}], json.loads("[" * 20 + "1" + "]" * 20)])
def test_lists_that_no_item_has_are_refused(item: Any) -> None:
    text = json.dumps({**NESTED.to_dict(), "winners": [{"item": item}, {"item": "b"}]})
    with pytest.raises(ReleaseError, match="its items must be strings or numbers"):
        Release.from_json(text)


def test_tuples_without_end_are_refused() -> None:
    item: Any = "a"
    for _ in range(5000):
        item = (item,)
    release = Release(TopK(1, 1), None, None, [item])
    with pytest.raises(ReleaseError, match="name the items by strings"):
        release.to_json()
    assert str(release)
    with pytest.raises(ReleaseError, match="name the items by strings"):
        release.to_polars()


def test_frames_have_a_column_for_each_member() -> None:
    row = {"item_1": "Germany", "item_2": "7", "gap": 12.5, "gap_units": 125}
    assert PAIRS.to_pandas().to_dict("records")[0] == row  # 2**70 fits no column of numbers
    assert PAIRS.to_polars().to_dicts()[0] == row
    assert PAIRS.to_arrow().to_pylist()[0] == row
    assert NESTED.to_arrow().to_pylist()[0] == {"item_1": "a", "item_2": "b", "item_3": "c"}
    numbers = Release(PARAMETERS, None, None, [("a", 1), ("b", 2)]).to_arrow()
    assert numbers.schema.field("item_2").type == "int64"
    assert UNEVEN.to_pandas()["item"].tolist() == [("a",), ("a", "b")]
