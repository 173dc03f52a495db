"""A ledger whose users are killed at random moments: nothing is lost and nothing goes uncharged."""

from pathlib import Path
from typing import Any

import pytest

from tests.checking.separate_process import run_apart
from tests.checking.soak_sizes import KILLING_SECONDS, KILLS

pytestmark = [
    pytest.mark.posix(reason="forks, and kills"),
    pytest.mark.crash,
]

MOMENTS = (
    "left no ledger",
    "came before the first call",
    "left no charge",
    "left a charge without a result",
    "left a charge with its result",
    "came after a call",
)


def killed(folder: Path, kills: int, mutant: str | None = None) -> dict[str, Any]:
    return run_apart(
        "tests.ledger.kill_scenarios",
        folder=str(folder),
        kills=kills,
        seconds=KILLING_SECONDS,
        seed=1,
        mutant=mutant,
    )


@pytest.mark.statistical(false_alarm=1e-11)
def test_a_kill_at_any_moment_leaves_every_release_charged_and_the_sum_within_the_total(
    tmp_path: Path, record_property: Any
) -> None:
    """And it falls into every part of a call.

    Of 1,000 kills about 450 leave no charge and 200 a charge without a result; of 250 batches of
    four, 100 leave a journal. If it were only one batch in ten, none of 250 would leave one with a
    probability of 0.9^250 < 10^-11.
    """
    found = killed(tmp_path, KILLS)
    assert found["wrong"] == []
    counts = found["counts"]
    assert counts["kills"] >= 1_000
    assert counts["the kill left no charge"] > 0
    assert counts["the kill left a charge without a result"] > 0
    assert counts["a journal was left"] > 0
    assert counts["releases outside"] <= counts["charges"]
    assert counts["settlements"] > 0
    moments = ", ".join(f"{counts.get(f'the kill {each}', 0):,} {each}" for each in MOMENTS)
    record_property(
        "figure",
        f"killed {counts['kills']:,} times on {counts['ledgers']:,} ledgers: {moments}; "
        f"{counts['a journal was left']:,} journals were rolled back; "
        f"{counts['releases outside']:,} releases outside, {counts['charges']:,} charges, "
        f"{counts['settlements']:,} of them settled",
    )


@pytest.mark.statistical(false_alarm=1e-12)
@pytest.mark.parametrize(
    "mutant",
    [
        "charged after the draw",
        "not recorded",
        "no charge committed",
        "nothing committed",
        "sum read before the transaction",
        "settled in a transaction of its own",
        "settled to j/k",
        "settled to the smallest cost",
    ],
)
def test_kills_find_a_ledger_that_is_broken(tmp_path: Path, mutant: str) -> None:
    """A kill in twenty finds the first one, and 0.95^600 < 10^-13; the others show in each call."""
    assert killed(tmp_path, 600, mutant)["wrong"] != []
