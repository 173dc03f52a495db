"""Rows of which one person moves few: noisy counts, a threshold, and which noise there is."""

import io
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.streams.sample_streams import (
    COUNTS,
    NEVER,
    TABLE,
    a_pipe,
    in_batches,
    opened,
    stream_of,
    top_2,
)
from topgap import Ledger, ParameterError, ParameterTypeError, TopK

# Noise of scale 2/100, or 1/100: it is 10 or more of any of four counts with probability below
# 1e-200.
FEW: dict[str, Any] = {"items_per_person": 1}
SOURCES: dict[str, Callable[[], Any]] = {
    "whole": lambda: TABLE,
    "batches": lambda: in_batches(1),
    "an open file": lambda: io.BytesIO(stream_of(in_batches(3))),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_bound_gives_noisy_counts(source: str) -> None:
    made = top_2(SOURCES[source](), **FEW)
    assert made.parameters == TopK(2, 100, items_per_person=1)
    assert made.items == ("flu", "cold")
    assert made.values is not None
    assert all(abs(a - b) < 10 for a, b in zip(made.values, (100, 60), strict=True))
    assert [each.denominator for each in made.values] == [1, 1]


@pytest.mark.parametrize(("k", "threshold", "named"), [
    (2, 80, ["flu"]), (None, 40, ["flu", "cold"]), (None, 10, ["flu", "cold", "cough"]),
    (2, 10, ["flu", "cold"]), (None, -20, ["flu", "cold", "cough", "gout"]), (None, 200, []),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_threshold_ends_the_list(k: int | None, threshold: int, named: list[str]) -> None:
    for kind in SOURCES.values():
        made = top_2(kind(), k=k, threshold=threshold, **FEW)
        assert [*made.items] == named
        assert len(made.values or ()) == len(made.gaps or ()) == len(named)
        assert len(made) == len(named)


@pytest.mark.statistical(false_alarm=NEVER)
def test_members_without_a_row_can_be_cut_off_too() -> None:
    domain = [*COUNTS, "mumps", "measles"]
    made = top_2(TABLE, k=None, threshold=40, domain=domain, **FEW)
    assert made.items == ("flu", "cold")
    assert made.domain is not None
    assert made.domain.size == 6
    assert top_2(TABLE, k=None, threshold=200, domain=domain, **FEW).items == ()


@pytest.mark.statistical(false_alarm=NEVER)
def test_the_noise_can_be_asked_for() -> None:
    assert top_2(TABLE, items_per_person=2).values is None
    assert top_2(TABLE, items_per_person=2, noise="laplace").values is not None
    assert top_2(TABLE, noise="exponential", **FEW).values is None
    assert top_2(TABLE).parameters.resolution == Fraction(1, 10)
    assert top_2(TABLE, resolution="1/4", **FEW).parameters.resolution == Fraction(1, 4)


@pytest.mark.parametrize("wrong", [
    {"items_per_person": 0}, {"k": None, "threshold": 5}, {"noise": "laplace"}, {"k": None},
    {"k": None, "threshold": 5, "noise": "exponential", **FEW}, {"items_per_person": "1"},
    {"noise": 7}, {"threshold": "many", **FEW},
])  # fmt: skip
def test_parameters_are_refused_before_anything_is_read(wrong: dict[str, Any]) -> None:
    reader = pa.RecordBatchReader.from_stream(TABLE)
    with pytest.raises((ParameterError, ParameterTypeError)):
        top_2(reader, **wrong)
    assert reader.read_all().num_rows == len(COUNTS)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_ledger_is_charged_for_a_list_of_any_length(piped: bool, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.add_dataset("visits", 300)
    given: dict[str, Any] = {"k": None, "ledger": ledger, "dataset": "visits", **FEW}
    for threshold, count in ((40, 2), (200, 0)):
        with opened(a_pipe(stream_of(TABLE)) if piped else TABLE) as source:
            assert len(top_2(source, threshold=threshold, **given)) == count
    assert ledger.budget("visits").spent == 200
    assert all(charge.result is not None for charge in ledger.history("visits"))
