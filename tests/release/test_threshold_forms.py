"""A release with a threshold and exponential noise, in every form, with counts or without."""

import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import topgap
from tests.checking.mutants import Mutant, mutated
from tests.display.sample_counts import (
    COUNTED,
    FEW,
    FULL,
    LAST_PLACE,
    NAMES,
    NONE,
    ONE,
    REACHED,
    UNCOUNTED,
)
from tests.display.sample_values import DIAGNOSES
from topgap import EstimatesError, ParameterError, ParameterTypeError, Release, ReleaseError, TopK
from topgap import margins as margins_module
from topgap.display.html_table import format_html_note
from topgap.domains import DomainDescription
from topgap.release import Count, explain_bias, parsing
from topgap.release.counts import compute_intervals

NOISE = "Items and threshold got exponential noise of mean 5."
COUNT = (
    " A count is 500 plus the gaps down to it, and half a step for each; the noise of the "
    "threshold is in all of them."
)

# --- Counts


def test_a_count_is_the_threshold_and_the_gaps_down_to_it() -> None:
    found = REACHED.counts()
    assert [type(each) for each in found] == [Count] * 3
    assert [each.item for each in found] == ["flu", "cold", "<b>&"]
    assert [each.value for each in found] == [
        500 + Fraction(150) + 3 * Fraction(1, 20),
        500 + Fraction(25) + 2 * Fraction(1, 20),
        500 + Fraction("20.7") + Fraction(1, 20),
    ]
    assert [each.is_biased for each in found] == [False, True, True]  # 4.3 is a small gap
    errors = [each.standard_error for each in found]
    assert errors == pytest.approx(np.sqrt(np.diag(REACHED.count_covariance)))
    assert errors == pytest.approx([5 * 2**0.5] * 3, rel=1e-3)


def test_intervals_are_those_of_the_level() -> None:
    tail = Fraction(1, 10)
    for at_once, size in ((False, None), (True, 50)):
        found = REACHED.counts("0.8", simultaneous=at_once, size=size)
        ends = [(each.low, each.high) for each in found]
        assert ends == compute_intervals(FEW, [1250, 43, 207], tail, size)
        assert all(each.low < each.value < each.high for each in found)
    domain = DomainDescription("x", 50)
    known = Release(FEW, None, [1250, 43, 207], ["flu", "cold", "<b>&"], domain=domain)
    assert known.counts(0.8, simultaneous=True) == REACHED.counts(0.8, simultaneous=True, size=50)
    assert REACHED.counts() == REACHED.counts("0.95")


def test_laplace_noise_has_counts_too() -> None:
    counts, intervals = DIAGNOSES.counts(0.9), DIAGNOSES.intervals(0.9)
    assert tuple(each.value for each in counts) == DIAGNOSES.values
    assert tuple((each.low, each.high) for each in counts) == intervals
    assert {each.standard_error for each in counts} == {DIAGNOSES.standard_error}
    assert [each.is_biased for each in counts] == [False, True, True, True]
    at_once = DIAGNOSES.counts(simultaneous=True, size=9)
    assert tuple((each.low, each.high) for each in at_once) == DIAGNOSES.intervals(
        simultaneous=True, size=9
    )
    error = DIAGNOSES.standard_error
    assert (DIAGNOSES.count_covariance == np.diag([error * error] * 4)).all()


def test_where_there_are_none_one_sentence_says_why() -> None:
    laplace = TopK(2, 1, items_per_person=1, monotonic=True)
    refused: list[tuple[Release, str]] = [
        (FULL, "as many items as k = 5 came out above the threshold"),
        (NAMES, "A release without gaps has no counts"),
        (Release(laplace, [1, 2], None), "A release without gaps has no counts"),
        (Release(TopK(2, 1), [1, 2], [3, 4]), "they come with a threshold"),
    ]
    for release, words in refused:
        with pytest.raises(ReleaseError, match=words):
            release.counts()
        with pytest.raises(ReleaseError, match=words):
            assert release.count_covariance is None
        assert not release.has_counts
    assert NONE.counts() == NONE.counts(simultaneous=True, size=9) == ()
    assert NONE.count_covariance.shape == (0, 0)
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"level": 1}, ParameterError, "level"),
        ({"simultaneous": 1}, ParameterTypeError, "simultaneous must be"),
        ({"simultaneous": True}, ParameterError, "need size="),
        ({"simultaneous": True, "size": 2}, ParameterError, "size must be"),
    ]
    for how, error, words in wrong:
        with pytest.raises(error, match=words):
            REACHED.counts(**how)
    with pytest.raises(ReleaseError, match=r"no noisy answers; where the threshold .* counts\(\)"):
        REACHED.intervals()
    with pytest.raises(EstimatesError, match=r"its own estimates, release\.counts\(\)"):
        topgap.estimate(REACHED, [3, 2, 1], variance=8)


# --- Which counts are biased


def is_marked_right(module: Any) -> bool:
    """Whether the winners beside small gaps and near the end are marked, or all of a full list."""
    gaps = [[Fraction(each) for each in row] for row in ((90, 2, 90), (90, 9, 2), (30, 40, 50))]
    marks = [module.are_biased(each, FEW) for each in gaps]
    wanted = [(False, True, True), (False, True, True), (False, False, False)]
    last = [Fraction(90)] * 4
    others = module.are_biased(last, FEW), module.are_biased([*last, Fraction(90)], FEW)
    laplace = TopK(5, 1, items_per_person=1, threshold=500)
    return (
        marks == wanted
        and others == ((True,) * 4, (False,) * 5)
        and module.are_biased(last, laplace) == (False,) * 4
        and module.are_biased([], FEW) == ()
    )


def test_noise_that_may_have_decided_is_marked() -> None:
    assert is_marked_right(margins_module)


@pytest.mark.mutant
@pytest.mark.parametrize("mutant", [
    Mutant("the one ahead of a tie left aside", "zip(small, [", "zip([False] * len(gaps), ["),
    Mutant("the one behind a tie left aside", "[False, *small]", "small"),
    Mutant("the last place left aside", "winners == parameters.k - 1", "False"),
    Mutant("the last place without noise", "parameters.has_sentinel and winners ==", "winners =="),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_broken_marks_are_found(mutant: Mutant) -> None:
    assert not is_marked_right(mutated(margins_module, mutant))


def test_it_says_which_are_biased_and_why() -> None:
    gaps = [Fraction(each) for each in (90, 2, 90, 9)]
    order, place = explain_bias(gaps, TopK(9, 1, monotonic=True, threshold=5))
    assert order == (
        "Ranks 2 and 3: order uncertain. Noise helped to decide it, so the count ahead is biased "
        "upward and the count behind downward."
    )
    assert place == (
        "Rank 4: place on the list uncertain. Noise helped to name the item, so its count is "
        "biased upward, and its interval covers less often than 95%."
    )
    last = str(LAST_PLACE).splitlines()[-1]
    assert last == (
        "4 items are named, and with one more there would be no counts. Noise of the threshold may "
        "have helped to end the list here, so all counts may be biased downward."
    )
    assert "may be biased downward" not in str(REACHED)
    assert "biased" not in str(FULL)


# --- Text


def test_a_table_has_counts_and_says_what_was_spent() -> None:
    assert str(REACHED).splitlines() == [
        "rank  item  ahead of the next by  count    ±  95% from     to",
        "   1  flu                    125  650.1  7.1     635.1  665.2",
        "   2  cold                   4.3  525.1  7.1     510.1  540.1",
        "   3  <b>&                  20.7  520.8  7.1     505.8  535.7",
        "3 items were above 500, noise included. The last gap is the lead over 500.",
        "ε = 1, of which 0.8 was spent, resolution 0.1, sensitivity 1, monotonic",
        NOISE + COUNT,
        "Ranks 2 and 3: order uncertain. Noise helped to decide it, so the count ahead is biased "
        "upward and the count behind downward.",
    ]
    assert repr(REACHED) == (
        "<Release of 3 items above 500 with counts at ε = 1, of which 0.8 was spent: 'flu', "
        "'cold', '<b>&'>"
    )
    half = REACHED.to_text("0.5").splitlines()
    assert half[0].split()[-3:] == ["50%", "from", "to"]
    assert str(ONE).splitlines()[2].startswith("1 item was above 500, noise included. The last")
    html = REACHED._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert html.count("</th>") == 8  # the last is that of the bars
    assert "of which 0.8 was spent" in html


def test_without_counts_it_says_why() -> None:
    assert str(FULL).splitlines()[6:] == [
        "5 items were above 500, noise included, as many as are named at most. The last gap is the "
        "lead over whatever came next, an item or 500, so there are no counts.",
        "ε = 1, resolution 0.1, sensitivity 1, monotonic",
        NOISE,
    ]
    assert repr(FULL).startswith("<Release of 5 items above 500 at ε = 1: 'flu'")
    assert str(NAMES).splitlines()[3:] == [
        "2 items were above 500, noise included.",
        "ε = 1, of which 0.6 was spent, resolution 0.1, sensitivity 1, monotonic",
        NOISE,
    ]


def test_no_item_is_said_in_every_form() -> None:
    said = [
        "No item was above 500, noise included.",
        "ε = 1, of which 0.2 was spent, resolution 0.1, sensitivity 1, monotonic",
        NOISE,
    ]
    assert str(NONE).splitlines() == NONE.to_text().splitlines() == said
    assert NONE._repr_html_() == format_html_note(said)
    assert repr(NONE) == "<Release of no item above 500 at ε = 1, of which 0.2 was spent>"
    head = ["item", "gap", "gap_units", "count", "standard_error", "low", "high", "is_biased"]
    assert [*NONE.to_pandas().columns] == NONE.to_polars().columns == head
    assert [str(each) for each in NONE.to_arrow().schema.types] == [
        "string", "double", "int64", "double", "double", "double", "double", "bool",
    ]  # fmt: skip
    for other in (Release(FEW, [], None), Release(FEW, None, None, [])):
        assert other == NONE
        assert Release.from_json(other.to_json()) == other


def test_both_sides_cost_and_say_twice_as_much() -> None:
    both = Release(TopK(5, 1, threshold=500), None, [1250, 43], ["flu", "cold"])
    assert "ε = 1, of which 0.5 was spent, resolution 0.1, sensitivity 1\n" in str(both)
    assert "noise of mean 10." in str(both)


def test_a_domain_says_what_noise_lifts_above_the_threshold() -> None:
    domain = DomainDescription("the texts that match [a-z]{12}", 26**12)
    said = {
        threshold: str(Release(TopK(20, 1, monotonic=True, threshold=threshold), None, [], [],
                               domain=domain))
        for threshold in (700, 2000)
    }  # fmt: skip
    assert "noise alone lifts at most about 17 above the threshold" in said[700]
    assert "noise alone lifts less than 0.001 above the threshold" in said[2000]


# --- JSON, frames and pickles


@pytest.mark.parametrize("release", [*COUNTED.values(), *UNCOUNTED.values()],
                         ids=[*COUNTED, *UNCOUNTED])  # fmt: skip
def test_every_form_comes_back(release: Release) -> None:
    for other in (Release.from_json(release.to_json()), pickle.loads(pickle.dumps(release))):  # noqa: S301
        assert other == release
        assert str(other) == str(release)
        assert other.spent == release.spent
        if release.has_counts:
            assert other.counts("0.9") == release.counts("0.9")


def test_a_document_has_each_count() -> None:
    written = REACHED.to_dict()
    assert written["winners"] == [
        {"item": "flu", "count": "650.15", "gap": "125"},
        {"item": "cold", "count": "525.1", "gap": "4.3"},
        {"item": "<b>&", "count": "520.75", "gap": "20.7"},
    ]
    assert written["spent"] == "4/5"
    for release in (FULL, NAMES):
        assert all("count" not in winner for winner in release.to_dict()["winners"])


def damaged() -> list[dict[str, Any]]:
    """Documents whose counts, or cost, are not those of their gaps."""
    made = []
    for count in ("650.1", "650", "", "x", None, 650.15):
        document = json.loads(REACHED.to_json())
        document["winners"][0]["count"] = count
        made.append(document)
    document = json.loads(REACHED.to_json())
    for winner in document["winners"]:
        del winner["count"]
    made.append(document)
    for release in (FULL, NAMES):
        document = json.loads(release.to_json())
        for winner in document["winners"]:
            winner["count"] = "650.15"
        made.append(document)
    for spent in ("3/5", "1", None, ""):
        document = json.loads(REACHED.to_json())
        document["spent"] = spent
        made.append(document)
    return made


def are_refused(module: Any) -> bool:
    """Whether all of them are refused with a sentence, and what was written is not."""
    for document in damaged():
        try:
            module.parse_release(document)
        except ReleaseError as error:
            if not str(error).startswith("This is not a release: "):
                return False
        else:
            return False
    return all(module.parse_release(each.to_dict()) for each in (REACHED, FULL, NAMES, NONE))


def test_counts_that_do_not_follow_from_the_gaps_are_refused() -> None:
    assert are_refused(parsing)


@pytest.mark.mutant
@pytest.mark.parametrize("mutant", [
    Mutant("counts are not compared", "return [*map(parse_exact, counts)] == center_counts("
           "parameters, gap_units)", "return True"),
    Mutant("counts may be missing", "if counts is None:\n        return False",
           "if counts is None:\n        return True"),
    Mutant("counts may be there", "return counts is None", "return True"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_a_reader_that_takes_any_count_is_found(mutant: Mutant) -> None:
    assert not are_refused(mutated(parsing, mutant))


def test_frames_have_a_column_for_each_number() -> None:
    rows = REACHED.to_arrow().to_pylist()
    assert rows == REACHED.to_polars().to_dicts() == REACHED.to_pandas().to_dict("records")
    first, counted = rows[0], REACHED.counts()[0]
    assert first == {
        "item": "flu", "gap": 125.0, "gap_units": 1250, "count": 650.15,
        "standard_error": counted.standard_error, "low": first["low"], "high": first["high"],
        "is_biased": False,
    }  # fmt: skip
    assert Fraction(first["low"]) <= counted.low
    assert Fraction(first["high"]) >= counted.high
    narrow = REACHED.to_pandas("0.5")
    assert narrow["low"][0] > first["low"]
    assert [*FULL.to_pandas().columns] == ["item", "gap", "gap_units"]
    assert [*NAMES.to_pandas().columns] == ["item"]
    assert [*COUNTED["tuples"].to_pandas().columns][-2:] == ["domain", "domain_from_data"]
    with pytest.raises(ReleaseError, match="use to_dict"):
        COUNTED["gigantic"].to_arrow()


@pytest.mark.statistical(false_alarm=1e-15)
def test_what_is_released_is_shown_so() -> None:
    people = {"ash": 10**6, "oak": 10**5, "elm": 3, "fir": 2}
    release = topgap.top_k(people, 3, 1, monotonic=True, threshold=5_000)
    assert release.spent == 1
    assert "2 items were above 5000, noise included." in str(release)
    for count in release.counts():
        assert abs(count.value - people[count.item]) < 200
    none = topgap.top_k(people, 3, 1, monotonic=True, threshold=10**8)
    assert (none.items, none.spent, none.counts()) == ((), Fraction(1, 3), ())
