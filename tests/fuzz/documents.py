"""What was released, made and written by anything, read from anything, and shown in every form."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from matplotlib.figure import Figure

import topgap
from tests.fuzz import hostile_parameters, hostile_values
from tests.fuzz.judge import Judge
from tests.fuzz.well_formed import is_estimates, is_release
from topgap import Estimates, Release, TopK, report
from topgap.display.text import to_text
from topgap.domains import DomainDescription
from topgap.errors import (
    EstimatesError,
    ParameterError,
    ParameterTypeError,
    ReleaseError,
    SourceError,
)

PARAMETERS = (ParameterError, ParameterTypeError)
READING = (EstimatesError, ReleaseError)

# ---------------------------------------------------------------- made by hand

_UNITS = st.one_of(st.integers(0, 10**6), st.sampled_from([0, 2**63 - 1, 2**63, 10**400]))
_THRESHOLDS = st.sampled_from([0, 500, "-7/3", "0.05", 10**400, -(10**400)])
_PLAIN_NAMES = st.one_of(st.text(max_size=6), st.integers(), st.sampled_from([None, True, 1.5]))
_JSON_NAMES = st.one_of(_PLAIN_NAMES, st.lists(_PLAIN_NAMES, min_size=1, max_size=3).map(tuple))
_DOMAINS = st.builds(
    DomainDescription,
    st.text(min_size=1, max_size=6),
    st.one_of(st.integers(5, 100), st.sampled_from([2**64, 10**4000])),
    st.booleans(),
)


@st.composite
def releases(draw: st.DrawFn, *, gaps: bool | None = None, may_be_cut: bool = False) -> Release:
    """Releases as they could have been made: with any names, and gaps of any size.

    Those that may be cut have a threshold half of the time, and then often fewer names than k.
    """
    k = most = draw(st.integers(1, 4))
    threshold: Any = draw(st.none() | _THRESHOLDS) if may_be_cut else None
    if threshold is not None:
        k = draw(st.integers(0, most))
    epsilon: Any = draw(hostile_parameters.EPSILONS)
    resolution: Any = draw(st.sampled_from(["1/10", 1, "1/3", "1/1048576", Fraction(1, 10**300)]))
    how: Any = {"resolution": resolution, "monotonic": draw(st.booleans())}
    parameters = TopK(most, epsilon, threshold=threshold, **how)
    with_gaps = draw(st.integers(0, 5)) > 0 if gaps is None else gaps
    units = draw(st.lists(_UNITS, min_size=k, max_size=k)) if with_gaps else None
    kind = draw(st.integers(0, 5))
    if kind < 2:
        return Release(parameters, [*range(k)], units)
    names = _JSON_NAMES if kind < 5 else hostile_parameters.NAMES
    items = draw(st.lists(names, min_size=k, max_size=k))
    marks: Any = {"domain_from_data": draw(st.booleans()), "domain": draw(st.none() | _DOMAINS)}
    return Release(parameters, None, units, items, **marks)


_LISTS = st.one_of(
    st.lists(st.integers(-1, 5), min_size=2, max_size=2),
    hostile_values.answers(),
    hostile_parameters.ANYTHING,
)


@st.composite
def showing(draw: st.DrawFn) -> dict[str, Any]:
    """A release, and what it is shown with; and what is none."""
    return {
        "release": draw(releases(may_be_cut=True)),
        "level": draw(st.sampled_from(["0.5", "0.95", "0." + "9" * 50])),
        "size": draw(st.sampled_from([4, 10**6, 2**4000])),
        "arguments": [draw(st.one_of(st.none(), _LISTS)) for _ in range(3)],
        "parameters": draw(st.one_of(st.just(TopK(2, 1)), hostile_parameters.ANYTHING)),
        "texts": [draw(st.one_of(st.text(max_size=8), st.none())) for _ in range(2)],
        "title": draw(st.text(max_size=8)),
        "made": draw(st.one_of(st.none(), hostile_parameters.ANYTHING)),
        "indent": draw(st.sampled_from([None, 0, 2])),
        "plotted": draw(st.integers(0, 40)) == 0,
    }


def fuzz_showing(given: dict[str, Any], call: Judge) -> None:
    """Show a release in every form that it has."""
    made = call(
        "topgap.Release", (ReleaseError,), Release, given["parameters"], *given["arguments"]
    )
    if made is not None:
        is_release(made, gaps=made.gaps is not None)
    release: Release = given["release"]
    is_release(release, gaps=release.gaps is not None)
    name = "topgap.Release."
    call(name + "to_dict", (), release.to_dict)
    call(name + "to_json", (ReleaseError,), release.to_json, indent=given["indent"])
    for form in ("to_pandas", "to_polars", "to_arrow", "columns"):
        call(name + form, (ReleaseError,), getattr(release, form))
    for number in (0, 1, 60):
        head, rows, note = call(name + "rows", (), release.rows, number) or ([], [], "")
        assert len(rows) == min(number, len(release))
        assert all(len(row) == len(head) for row in rows)
        assert note
    assert type(call(name + "to_text", (), release.to_text)) is str
    call("topgap.TopK.cost", PARAMETERS, release.parameters.cost, given["made"])
    at_once = {"simultaneous": True, "size": given["size"]}
    bars = call(name + "bars", PARAMETERS, release.bars, given["level"])
    assert bars is None or len(bars) in (0, len(release))
    counts = call(name + "counts", (ReleaseError,), release.counts, given["level"])
    wide = call(name + "counts", (ReleaseError,), release.counts, given["level"], **at_once)
    assert (counts is not None) == (wide is not None) == release.has_counts
    for own, both in zip(counts or (), wide or (), strict=True):
        assert own.low <= own.value <= own.high
        assert both.low <= both.value <= both.high
        assert own.standard_error >= 0
    call(name + "with_items", (ReleaseError,), release.with_items, given["texts"])
    drawn = (release.parameters, np.arange(len(release)).tobytes(), None, [*release.items])
    same = call(name + "from_mechanism", (), Release.from_mechanism, *drawn)
    assert same is None or same.items == release.items
    if given["plotted"] and release.epsilon < 10**300:
        call(name + "plot", (ReleaseError,), release.plot, Figure().subplots())
    texts = {"counted": given["texts"][0], "caveat": given["texts"][1], "title": given["title"]}
    page = call(
        "topgap.report.to_html", (ReleaseError, *PARAMETERS), report.to_html, release, **texts
    )
    details = call("topgap.report.Details", PARAMETERS, lambda: report.Details(**texts))
    if details is not None:
        card = call("topgap.report.to_card", (), report.to_card, release, details)
        assert card is None or card["@type"] == "Dataset"
        for item in release.items:
            call("topgap.report.Details.label", (), details.label, item)
    ordered = call(
        "topgap.estimates.counts_in_order", (*PARAMETERS, ReleaseError),
        topgap.estimates.counts_in_order, release, given["level"],
    )  # fmt: skip
    assert all(0 <= each.low <= each.value <= each.high for each in ordered or ())
    if page is not None:
        read = call("topgap.report.read_release", READING, report.read_release, page)
        assert read == release
        assert call("topgap.report.read_estimates", READING, report.read_estimates, page) is None
    call("topgap.report.to_html", (*PARAMETERS, *READING), report.to_html, given["made"])


# ---------------------------------------------------------------- written, changed and read

_NESTED: list[object] = []
_NESTED.append(_NESTED)
_INSTEAD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    hostile_parameters.NO_PARAMETERS,
    st.sampled_from(
        [[], {}, [[]], {"item": 1}, "1e999", "1/0", "-5", "1e-5000", "٣", 10**400, _NESTED]
    ),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@st.composite
def reading(draw: st.DrawFn) -> dict[str, Any]:
    """Documents that were written, and changed at some places."""
    release = draw(releases(may_be_cut=True))
    document: Any = release.to_dict()
    can_be_measured = release.gaps is not None and not release.parameters.has_sentinel
    if draw(st.booleans()) and can_be_measured and release.parameters.epsilon < 10**6:
        measured = topgap.estimate(release, [5] * len(release), variance=8)
        document = _written(measured.to_dict, document)
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(0, 2))):
        document = _changed(draw, document)
    return {
        "document": document,
        "cut": draw(st.one_of(st.none(), st.tuples(st.integers(0, 2000), st.text(max_size=3)))),
        "text": draw(
            st.one_of(st.binary(max_size=20), st.text(max_size=20), hostile_parameters.ANYTHING)
        ),
        "bytes": draw(st.booleans()),
    }


def _written(write: Callable[[], Any], otherwise: Any) -> Any:
    try:
        return write()
    except (ReleaseError, OverflowError):
        return otherwise


def _changed(draw: st.DrawFn, document: Any) -> Any:
    """The document with one place changed, wherever in it."""
    if not isinstance(document, dict | list) or not document or draw(st.integers(0, 9)) == 0:
        return draw(_INSTEAD)
    document = copy.copy(document)  # what was drawn is drawn again
    keys = [*document] if isinstance(document, dict) else [*range(len(document))]
    key = draw(st.sampled_from(keys))
    action = draw(st.integers(0, 7))
    if action == 0:
        del document[key]
    elif action == 1 and isinstance(document, dict):
        document[draw(st.text(max_size=4))] = draw(_INSTEAD)
    elif action == 1 and isinstance(document, list):
        document.append(draw(_INSTEAD))
    else:
        document[key] = _changed(draw, document[key])
    return document


def fuzz_reading(given: dict[str, Any], call: Judge) -> None:
    """Read documents: as objects, as text, and from a page."""
    for kind in (Release, Estimates):
        name = f"topgap.{kind.__name__}."
        made = call(name + "from_dict", READING, kind.from_dict, given["document"])
        if made is not None:
            assert type(made) is kind
        for text in _texts(given):
            made = call(name + "from_json", READING, kind.from_json, text)
            if made is not None:
                assert type(made) is kind
                written = call(name + "to_json", (), made.to_json)
                assert written is None or kind.from_json(written) == made
    for text in _texts(given):
        asking = (*READING, ParameterTypeError)
        call("topgap.report.read_release", asking, report.read_release, text)
        call("topgap.report.read_estimates", asking, report.read_estimates, text)
        call("topgap.report.read_labels", (SourceError,), report.read_labels, to_text(text)[:500])
        if isinstance(text, str):
            page = f'<script type="application/json" id="topgap-release">{text}</script>'
            call("topgap.report.read_release", READING, report.read_release, page)
            call("topgap.report.read_estimates", READING, report.read_estimates, page)


def _texts(given: dict[str, Any]) -> list[Any]:
    try:
        text = json.dumps(given["document"], default=to_text)
    except (ValueError, RecursionError):
        text = "["
    if given["cut"] is not None:
        place, instead = given["cut"]
        place %= len(text) + 1
        text = text[:place] + instead + text[place + len(instead) :]
    return [text.encode(errors="surrogatepass") if given["bytes"] else text, given["text"]]


# ---------------------------------------------------------------- estimated

_VARIANCES = st.sampled_from([1, 8, "0.5", Fraction(1, 3), 10**6, 1e-3, "1e-12", "1e12"])


@st.composite
def estimating(draw: st.DrawFn) -> dict[str, Any]:
    """Measurements of the winners, of every kind."""
    release = draw(releases())
    k = len(release)
    numbers = st.one_of(st.integers(-5, 10**6), hostile_values.NUMBERS)
    measured: Any = draw(st.lists(numbers, min_size=k, max_size=k))
    luck = draw(st.integers(0, 11))
    if luck == 0:
        measured = draw(hostile_values.answers())
    elif luck == 1:
        measured = dict(zip(map(to_text, release.items), measured, strict=True))
    variance: Any = draw(_VARIANCES)
    if luck in (2, 3):
        variance = draw(st.lists(_VARIANCES, min_size=k, max_size=k))
    elif luck == 4:
        variance = draw(hostile_parameters.NO_PARAMETERS)
    return {
        "release": draw(hostile_parameters.ANYTHING) if luck == 5 else release,
        "measured": measured,
        "variance": variance,
        "noise": draw(
            st.sampled_from([None, None, "laplace", "normal", "laplace", "x", 7, [1]][: 5 + luck])
        ),
        "step": draw(st.sampled_from([None, None, 1, "1/10", 0.5]))
        if luck != 6
        else draw(hostile_parameters.NO_PARAMETERS),
        "level": draw(hostile_parameters.LEVELS),
        "simultaneous": draw(
            hostile_parameters.NO_FLAGS if luck == 7 else hostile_parameters.FLAGS
        ),
        "plotted": draw(st.integers(0, 40)) == 0,
    }


def fuzz_estimating(given: dict[str, Any], call: Judge) -> None:
    """Estimate, and ask estimates for all that they tell."""
    made = call(
        "topgap.estimate",
        (*PARAMETERS, *READING),
        topgap.estimate,
        given["release"],
        given["measured"],
        variance=given["variance"],
        noise=given["noise"],
        step=given["step"],
    )
    if made is None:
        return
    k = len(given["release"])
    if call("topgap.Estimates.estimates", (), lambda: made.estimates) is None:
        return
    is_estimates(made, k)
    level, name = given["level"], "topgap.Estimates."
    found = call(
        name + "intervals", PARAMETERS, made.intervals, level, simultaneous=given["simultaneous"]
    )
    if found is not None:
        assert len(found) == k
        assert all(low <= high for low, high in found)
    scale = call(name + "chart_scale", PARAMETERS, made.chart_scale, level)
    assert scale is None or len(scale.spans) == k
    ordered = call(name + "in_order", PARAMETERS, made.in_order, level)
    assert all(0 <= each.low <= each.value <= each.high for each in ordered or ())
    bars = call(name + "bars", PARAMETERS, made.bars, level)
    assert bars is None or len(bars) == k
    doubts = call(name + "in_doubt", PARAMETERS, made.in_doubt, level)
    assert doubts is None or len(doubts) == k
    asking = (*PARAMETERS, ReleaseError)
    for form in ("to_dict", "to_json", "to_pandas", "to_polars", "to_arrow", "to_text"):
        call(name + form, asking, getattr(made, form), level)
    call(name + "rows", asking, made.rows, level, 60)
    if given["plotted"]:
        call(name + "plot", asking, made.plot, Figure().subplots(), level)
    page = call("topgap.report.to_html", asking, report.to_html, made, level=level)
    if page is not None:
        read = call("topgap.report.read_estimates", READING, report.read_estimates, page)
        assert read == made
