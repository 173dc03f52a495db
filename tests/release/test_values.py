"""A release with values says them, their intervals, and which are biased; without, nothing new."""

import pickle
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import pytest

import topgap
from tests.display.sample_values import AT_MOST_TWO, CUT, DIAGNOSES, EMPTY, FULL, ONE, REACHED
from tests.display.sample_values import VALUED as SHOWN
from topgap import ParameterError, Release, ReleaseError, TopK
from topgap.display.html_table import format_html_note
from topgap.domains import DomainDescription
from topgap.release import explain_bias

NOISE = (
    "Laplace noise of scale 2 on every answer, for at most 2 items per person; a value is an "
    "answer with its noise."
)


def test_a_table_has_values_and_says_which_are_biased() -> None:
    assert str(DIAGNOSES).splitlines() == [
        "rank  item  ahead of the next by  value    ±  95% from   to",
        "   1  flu                     40     97  2.8        91  103",
        "   2  cold                     3     57  2.8        51   63",
        "   3  gout                     9     54  2.8        48   60",
        "   4  <b>&                     5     45  2.8        39   51",
        "ε = 1, resolution 1, sensitivity 1, monotonic",
        NOISE,
        "Ranks 2 and 3: order uncertain. Noise helped to decide it, so the value ahead is biased "
        "upward and the value behind downward.",
        "Rank 4: place on the list uncertain. Noise helped to name the item, so its value is "
        "biased upward, and its interval covers less often than 95%.",
    ]
    assert repr(DIAGNOSES) == (
        "<Release of the top 4 with values at ε = 1: 'flu', 'cold', 'gout', '<b>&'>"
    )
    half = DIAGNOSES.to_text("0.5").splitlines()
    assert half[0].endswith("±  50% from  to")
    assert half[1].split()[-3:] == ["2.8", "96", "98"]
    assert half[-1].endswith("less often than 50%.")


def test_a_cut_list_says_at_what_and_how_many_reached_it() -> None:
    lines = str(REACHED).splitlines()
    assert lines[4:] == [
        "Cut at 50: 3 items reached it. The last gap is the lead over 50.",
        "ε = 1, resolution 1, sensitivity 1, monotonic",
        NOISE,
        "Ranks 2 and 3: places on the list uncertain. Noise helped to name the items, so their "
        "values are biased upward on average, and their intervals cover less often than 95%.",
    ]
    assert repr(REACHED).startswith("<Release of 3 items that reached 50 with values at ε = 1: ")
    assert "Cut at 50: 1 item reached it. The last gap is the lead over 50." in str(ONE)
    assert repr(ONE) == "<Release of 1 item that reached 50 with values at ε = 1: 'flu'>"
    assert "uncertain" not in str(ONE)
    assert (
        "Cut at 50: 2 items reached it, as many as are named at most. The last gap is the lead "
        "over the next item, or over 50 if that is larger."
    ) in str(FULL)


def test_an_empty_list_says_so_in_every_form() -> None:
    said = [
        "Cut at 50: no item reached it.",
        "ε = 1, resolution 1, sensitivity 1, monotonic",
        NOISE.partition(";")[0] + ".",
    ]
    assert str(EMPTY).splitlines() == EMPTY.to_text().splitlines() == said
    assert EMPTY._repr_html_() == format_html_note(said)
    assert repr(EMPTY) == "<Release of no item that reached 50 at ε = 1>"
    assert (len(EMPTY), [*EMPTY], EMPTY.items, EMPTY.gaps, EMPTY.values) == (0, [], (), (), ())
    assert EMPTY.intervals() == EMPTY.intervals(simultaneous=True, size=9) == ()
    assert EMPTY.near_the_end == ()
    with pytest.raises(ParameterError, match="size must be at least 1"):
        EMPTY.intervals(simultaneous=True, size=0)
    head = ["item", "gap", "gap_units", "value", "value_units", "standard_error", "low", "high"]
    assert [*EMPTY.to_pandas().columns] == EMPTY.to_polars().columns == head
    assert EMPTY.to_arrow().column_names == head
    assert [str(each) for each in EMPTY.to_arrow().schema.types] == [
        "string", "double", "int64", "double", "int64", "double", "double", "double",
    ]  # fmt: skip
    assert len(EMPTY.to_pandas()) == EMPTY.to_arrow().num_rows == 0


def test_all_empty_lists_of_the_same_parameters_are_equal() -> None:
    others = [
        Release(CUT, [], [], value_units=[]), Release(CUT, [], None), Release(CUT, None, None, []),
        Release.from_json(EMPTY.to_json()), pickle.loads(pickle.dumps(EMPTY)),  # noqa: S301
    ]  # fmt: skip
    for other in others:
        assert other == EMPTY
        assert hash(other) == hash(EMPTY)
        assert Release.from_json(other.to_json()) == other
    assert Release(AT_MOST_TWO, [], None) != EMPTY
    assert "value is" not in str(others[1])
    exponential = TopK(2, 1)
    assert Release(exponential, [3, 4], None) != Release(exponential, [3, 4], [0, 0])


@pytest.mark.parametrize("release", SHOWN.values(), ids=SHOWN)
def test_every_form_comes_back(release: Release) -> None:
    for other in (Release.from_json(release.to_json()), pickle.loads(pickle.dumps(release))):  # noqa: S301
        assert other == release
        assert str(other) == str(release)
        assert other.intervals("0.9") == release.intervals("0.9")


def test_frames_have_the_columns_of_estimates() -> None:
    rows = REACHED.to_arrow().to_pylist()
    assert rows == REACHED.to_polars().to_dicts() == REACHED.to_pandas().to_dict("records")
    assert {name: rows[0][name] for name in rows[0] if name != "standard_error"} == {
        "item": "flu", "gap": 40.0, "gap_units": 40, "value": 97.0, "value_units": 97,
        "low": 91.0, "high": 103.0,
    }  # fmt: skip
    assert rows[0]["standard_error"] == REACHED.standard_error
    assert REACHED.to_pandas("0.5")["low"].to_list() == [96, 56, 53]
    tuples = SHOWN["tuples, cut"].to_pandas()
    assert [*tuples.columns][:3] == ["item_1", "item_2", "gap"]
    assert [*tuples.columns][-2:] == ["domain", "domain_from_data"]
    with pytest.raises(ReleaseError, match="use to_dict"):
        SHOWN["gigantic"].to_arrow()


def test_numbers_of_any_length_are_written() -> None:
    assert f"{4 * 10**400}" in str(SHOWN["gigantic"])
    noisy = str(SHOWN["gigantic noise"])
    assert "scale about 2.000 × 10⁴⁰⁰ on every answer" in noisy
    assert "Cut at about −1.000 × 10⁴⁰⁰: 1 item" in str(SHOWN["a gigantic threshold"])
    assert "37/3" in str(SHOWN["positions"])


def test_many_biased_values_are_told_in_one_sentence() -> None:
    few = TopK(60, 1, items_per_person=2, monotonic=True)
    gaps = [Fraction(0 if rank % 3 else 100) for rank in range(60)]
    order, place = explain_bias(gaps, few)
    shown = ", ".join(f"{rank}–{rank + 2}" for rank in range(2, 26, 3))
    assert order == (
        f"Ranks {shown} and others: order uncertain. Noise helped to decide it, so the values "
        f"ahead are biased upward and the values behind downward."
    )
    assert place.startswith("Ranks 59 and 60: places on the list")
    (order,) = explain_bias([Fraction(each) for each in (0, 90, 0, 90)], few)
    assert order.startswith("Ranks 1–2 and 3–4: order")
    (order,) = explain_bias([Fraction(each) for each in (0, 0, 90)], few)
    assert order.startswith("Ranks 1 to 3: order")
    assert explain_bias([], CUT) == []
    assert explain_bias([Fraction(100)] * 60, few) == []


def test_a_domain_says_what_noise_lifts_to_the_threshold() -> None:
    domain = DomainDescription("the texts that match [a-z]{12}", 26**12)
    at = {threshold: TopK(None, 1, items_per_person=1, monotonic=True, threshold=threshold)
          for threshold in (20, 100)}  # fmt: skip
    said = {threshold: str(Release(parameters, None, [], [], value_units=[], domain=domain))
            for threshold, parameters in at.items()}  # fmt: skip
    assert "of the items that do not, noise alone lifts about 10,000,000 to the thr" in said[20]
    assert "noise alone lifts less than 0.001 to the threshold" in said[100]
    plain = TopK(1, 1, items_per_person=1, noise="laplace", monotonic=True)
    shown = str(Release(plain, None, [3], ["abc"], value_units=[9], domain=domain))
    assert "one needs a count of about 39 to stand out" in shown


class Cells(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_notebooks_show_values_and_items_as_text() -> None:
    cells = Cells(DIAGNOSES._repr_html_())
    assert cells.tags.count("th") == 8  # the last is that of the bars
    assert cells.tags.count("tr") == 5
    assert "b" not in cells.tags
    assert {"<b>&", "value", "97", "±", "2.8", "95% from", "103", NOISE} <= {*cells.texts}
    attacked = Cells(SHOWN["an attack"]._repr_html_())
    assert {"script", "img"}.isdisjoint(attacked.tags)


def test_a_release_without_values_is_shown_as_before() -> None:
    release = Release(TopK(2, "1/2", monotonic=True), [4, 0], [125, 3], ["flu", "<b>"])
    assert str(release) == (
        "rank  item  ahead of the next by\n"
        "   1  flu                   12.5\n"
        "   2  <b>                    0.3\n"
        "ε = 0.5, resolution 0.1, sensitivity 1, monotonic"
    )
    cells = Cells(release._repr_html_())
    assert [each for each in cells.texts if each != "?"][:9] == [
        "rank", "item", "ahead of the next by", "1", "flu", "12.5", "2", "<b>", "0.3",
    ]  # fmt: skip
    assert repr(release) == "<Release of the top 2 at ε = 0.5: 'flu', '<b>'>"
    assert release.to_json() == (
        '{"format": "topgap.release/1", "parameters": {"k": 2, "epsilon": "1/2", "resolution": '
        '"1/10", "sensitivity": "1", "monotonic": true}, "winners": [{"item": "flu", "gap": '
        '"12.5"}, {"item": "<b>", "gap": "0.3"}]}'
    )
    assert [*release.columns()] == ["item", "gap", "gap_units"]
    bounded = TopK(2, 1, items_per_person=9)  # more than k: the noise is exponential
    assert "person" not in str(Release(bounded, [4, 0], [125, 3]))


def test_what_is_released_is_shown_so() -> None:
    release = topgap.top_k(
        {"ash": 10**6, "oak": 10**5, "elm": 3}, None, 1, monotonic=True, items_per_person=1,
        threshold=5_000,
    )  # fmt: skip
    assert "Cut at 5000: 2 items reached it. The last gap is the lead over 5000." in str(release)
    assert "uncertain" not in str(release)
    assert "Cut at 50: 1 item reached it.\nε" in str(Release(CUT, None, None, ["flu"]))
    names = topgap.top_k([10**6, 5, 0], 2, 1, monotonic=True, items_per_person=1, gaps=False)
    assert str(names).endswith("answer, for at most 1 item per person.")
    assert names.to_arrow().column_names == ["item"]
