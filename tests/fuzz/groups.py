"""Lists for each of several groups, of anything: released, written, changed and read."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

import topgap
from tests.fuzz import hostile_domains, hostile_parameters, hostile_values
from tests.fuzz.hostile_parameters import ANYTHING, NAMES, ODD_NAMES
from tests.fuzz.judge import Judge
from tests.fuzz.releases import PARAMETERS, RELEASING
from tests.fuzz.well_formed import is_estimates, is_release, look_at
from topgap import GroupedEstimates, GroupedRelease, ReleaseError, TopKByGroup, report
from topgap.domains import GroupedCounts
from topgap.errors import EstimatesError, TopgapError

READING = (ReleaseError, EstimatesError)
_HOLDERS = [pd.DataFrame, pl.DataFrame, pa.table, pd.DataFrame]


@st.composite
def _frames(draw: st.DrawFn) -> Any:
    """A data frame in long form, with what cells may hold."""
    rows = draw(st.integers(0, 6))
    items = st.integers(0, 9).map(lambda number: f"item {number}") | NAMES
    columns = {
        name: draw(st.lists(cells, min_size=rows, max_size=rows))
        for name, cells in (("g", NAMES), ("i", items), ("n", hostile_values.NUMBERS))
    }
    try:
        return draw(st.sampled_from(_HOLDERS))(columns)
    except Exception:  # what the library refuses
        return pd.DataFrame({name: pd.Series(each, dtype=object) for name, each in columns.items()})


@st.composite
def _arrays(draw: st.DrawFn) -> Any:
    """An array with a row for each group, or of another shape."""
    shape = draw(st.sampled_from([(2, 3), (2, 3), (1, 4), (3, 2), (0, 3), (2, 0), (3,), (1, 2, 2)]))
    numbers = draw(st.lists(hostile_values.WHOLE, min_size=12, max_size=12))
    kind = draw(st.sampled_from(["i8", "i8", "u8", "f8", "f4", "i1", "O", "?", "U5", "M8[s]"]))
    count = int(np.prod(shape))
    with np.errstate(all="ignore"):
        small = numbers if kind == "O" else [number % 100 for number in numbers]
        made = np.array(small[:count], dtype="i8" if kind == "M8[s]" else kind).reshape(shape)
    made = made.astype(kind)
    luck = draw(st.integers(0, 9))
    if luck == 0:
        return np.ma.array(made, mask=np.arange(count).reshape(shape) % 2 == 0)
    return made.T if luck == 1 else made


@st.composite
def _counts(draw: st.DrawFn) -> Any:
    """Counts as topgap makes them."""
    groups = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(0, 3), min_size=groups, max_size=groups))
    return GroupedCounts(
        [f"group {g}" for g in range(groups)],
        topgap.Domain.range(0, draw(st.sampled_from([3, 4, 10**30]))),
        [2, 0, 1],
        ends=np.cumsum(sizes),
        places=np.array([place for size in sizes for place in range(size)], dtype=np.int64),
        counts=np.arange(sum(sizes), dtype=np.int64),
        groups_per_person=draw(st.sampled_from([None, 1, 2])),
        items_per_person=draw(st.sampled_from([None, 1])),
        domain_from_data=False,
    )


_MAPPINGS = st.dictionaries(
    NAMES, st.one_of(hostile_values.usable_answers(), hostile_values.answers()), max_size=3
)


@st.composite
def grouping(draw: st.DrawFn) -> dict[str, Any]:
    """What a release of groups is given."""
    luck = draw(st.integers(0, 19))
    answers = draw(
        st.one_of(_MAPPINGS, _MAPPINGS, _frames(), _arrays(), _counts())
        if luck < 18
        else st.one_of(hostile_values.answers(), ANYTHING)
    )
    is_frame = hasattr(answers, "columns") and not isinstance(answers, type)
    columns: dict[str, Any] = dict(zip(("by", "item", "count"), "gin", strict=True))
    if luck == 3:
        odd = st.one_of(ANYTHING, st.sampled_from([[], ["g", "i"], ["i"], ("g",), "x"]))
        columns[draw(st.sampled_from([*columns]))] = draw(odd)
    return {
        "answers": answers,
        "parameters": draw(hostile_parameters.parameters()),
        "more": draw(
            st.sampled_from(
                [{}, {}, {"threshold": 50}, {"items_per_person": 1}, {"threshold": -(10**30)},
                 {"items_per_person": 1, "threshold": 10**40}]
            )
        ),
        "most": draw(hostile_parameters.NO_KS if luck == 4 else st.sampled_from([1, 1, 2, 10**6])),
        "groups": draw(
            st.one_of(
                st.none(), st.none(), st.lists(ODD_NAMES, max_size=4), hostile_domains.domains()
            )
            if not is_frame
            else st.one_of(st.just(["", "flu", 1]), hostile_domains.domains())
        ),
        "columns": columns if is_frame != (luck == 5) else {},
        "items": draw(hostile_parameters.names()),
        "domain": draw(hostile_domains.domains()),
        "threads": draw(hostile_parameters.THREADS),
        "constant_work": luck == 6,
        "gaps": draw(hostile_parameters.FLAGS),
        "share": draw(st.sampled_from(["1/2", 0.9, "1e-9", 2, None])),
        "odd": draw(ANYTHING),
        "sizes": draw(st.lists(st.integers(-1, 9), max_size=4)),
    }  # fmt: skip


def fuzz_groups(given: dict[str, Any], call: Judge) -> None:
    """Release for groups, in every way."""
    chosen, answers = given["parameters"], given["answers"]
    every = {**chosen, "groups_per_person": given["most"]}
    how = {
        **given["columns"], "groups": given["groups"], "items": given["items"],
        "domain": given["domain"], "threads": given["threads"],
        "constant_work": given["constant_work"],
    }  # fmt: skip
    if hasattr(how["groups"], "__next__") or hasattr(how["domain"], "__next__"):
        return  # which the first call would use up
    if isinstance(answers, GroupedCounts):
        for place, group in enumerate(answers):
            find = "topgap.counting.GroupedCounts.find"
            found = call(find, (), answers.find, place, [0, 1, 2, 7, "x"])
            assert found == [name for name in (0, 1, 2) if name in answers[group]]
    parameters = call("topgap.TopKByGroup", PARAMETERS, TopKByGroup, **{**every, **given["more"]})
    if parameters is not None:
        look_at(parameters)
        assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301 - it is ours
        written = call("topgap.TopKByGroup.to_dict", (), parameters.to_dict)
        same = call("topgap.TopKByGroup.from_dict", (), TopKByGroup.from_dict, written)
        assert same == parameters
        cost = call("topgap.TopKByGroup.cost", PARAMETERS, parameters.cost, given["sizes"])
        assert cost is None or 0 <= cost <= parameters.epsilon
    name = "topgap.top_k_by_group"
    most = {**every, **given["more"], **how, "gaps": given["gaps"]}
    checked = call(name, RELEASING, topgap.top_k_by_group, answers, **most, check=True)
    made = call(name, RELEASING, topgap.top_k_by_group, answers, **most)
    assert (checked is None) == (made is None), "a check refuses what the release does"
    assert checked is None or str(checked)
    if made is not None:
        assert type(made) is GroupedRelease
        assert made.parameters == parameters
        _is_by_group(made, call, given)
    measured = call(
        "topgap.top_k_by_group_with_estimates", RELEASING, topgap.top_k_by_group_with_estimates,
        answers, **every, **how, selection_share=given["share"],
    )  # fmt: skip
    if measured is not None:
        assert type(measured) is GroupedEstimates
        for each in measured.values():
            is_estimates(each, measured.parameters.each.k)
        _is_by_group(measured, call, given)


def _is_by_group(made: Any, call: Judge, given: dict[str, Any]) -> None:
    """Check what both kinds of results have."""
    kind = type(made)
    name = f"topgap.{kind.__name__}."
    assert name in ("topgap.GroupedRelease.", "topgap.GroupedEstimates.")
    assert [len(each) for each in made.values()] == [*made.sizes]
    look_at(made)
    if kind is GroupedRelease:
        for each in made.values():
            is_release(each, gaps=bool(given["gaps"]))
        call("topgap.GroupedRelease", READING, GroupedRelease, made.parameters, dict(made))
        call(name + "from_mechanism", (), GroupedRelease.from_mechanism, made.parameters,
             made.groups, made._lists)  # fmt: skip
        call(name + "list_gap_units", (), made.list_gap_units)
        call(name + "find_slice", (KeyError, TypeError), made.find_slice, made.groups[0])
    else:
        call("topgap.GroupedEstimates", READING, GroupedEstimates, made.parameters, dict(made))
        call(name + "from_mechanism", (), GroupedEstimates.from_mechanism, *made._parts)
    call(name + "cautions", (), made.cautions)
    texts = [["x"] * size for size in made.sizes]
    call(name + "with_items", READING, made.with_items, texts, made.groups)
    call(name + "with_items", READING, made.with_items, texts[1:], made.groups)
    document: Any = call(name + "to_dict", (), made.to_dict)
    written = call(name + "to_json", READING, made.to_json)
    if written is not None:
        assert call(name + "from_json", (), kind.from_json, written) == made
        assert call(name + "from_dict", (), kind.from_dict, document) == made
        changed = copy.deepcopy(document)
        place = [*changed][len(str(given["sizes"])) % len(changed)]
        changed[place] = given["odd"]
        call(name + "from_dict", READING, kind.from_dict, changed)
    for form in ("columns", "to_pandas", "to_polars", "to_arrow"):
        call(name + form, (TopgapError,), getattr(made, form))
    page = call("topgap.report.to_html", (TopgapError,), report.to_html, made)
    if page is not None:
        assert call("topgap.report.read_grouped", READING, report.read_grouped, page) == made
    call(name + "from_json", READING, kind.from_json, given["odd"])
