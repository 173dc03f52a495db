"""`topgap demo` shows list, gaps and chart of baskets that stay the same, with new noise."""

import re
from pathlib import Path

import pytest

from tests.cli.command import is_one_sentence, topgap
from topgap.cli.demo.run import K
from topgap.datasets import Quest, baskets

pytestmark = pytest.mark.slow


def rows(shown: str) -> list[tuple[int, int, float]]:
    found = re.findall(r"^ *(\d+)  (\d+) +([\d.]+)  [░█▒ ?]*$", shown, re.MULTILINE)
    return [(int(rank), int(item), float(gap)) for rank, item, gap in found]


@pytest.mark.statistical(false_alarm=1e-20)
def test_the_demo_shows_winners_gaps_and_chart(tmp_path: Path) -> None:
    ended = topgap("demo", "--baskets", 20_000, folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    shown = rows(ended.out)
    assert [rank for rank, *_ in shown] == [*range(1, K + 1)]
    assert len({item for _, item, _ in shown}) == K
    # Counts are at most 20,000 and noise has mean 25: 5,000 more has probability below e^−200.
    assert all(0 <= gap < 25_000 for *_, gap in shown)
    assert "█" in ended.out
    assert "may be published" in ended.out


def test_bars_are_plain_where_blocks_cannot_be_written(tmp_path: Path) -> None:
    """As in a pipe on Windows."""
    ended = topgap(
        "demo", "--baskets", 50, folder=tmp_path, environment={"PYTHONIOENCODING": "cp1252"}
    )
    assert ended.code == 0
    assert "# its own gap  . the lead of the next  = ?" in ended.out
    assert "\\u25" not in ended.out  # a block


@pytest.mark.statistical(false_alarm=1e-20)
def test_the_baskets_stay_and_the_noise_changes(tmp_path: Path) -> None:
    # The noise has mean 25, so a tenth has probability below 1/250 for each value of a gap, and
    # there are 25 gaps, of which each but the last depends on fresh noise: 250^−24 < 1e-57.
    first = topgap("demo", "--baskets", 2_000, "--save", "a.dat", folder=tmp_path)
    second = topgap("demo", "--baskets", 2_000, "--save", "b.dat", folder=tmp_path)
    assert (tmp_path / "a.dat").read_bytes() == (tmp_path / "b.dat").read_bytes()
    assert rows(first.out) != rows(second.out)


def test_the_baskets_can_be_kept_and_released(tmp_path: Path) -> None:
    ended = topgap("demo", "--baskets", 300, "--save", "kept.dat", folder=tmp_path)
    kept = [[*map(int, line.split())] for line in (tmp_path / "kept.dat").read_text().splitlines()]
    assert kept == [*baskets(Quest(transactions=300), seed=1994)]
    command = ended.out.splitlines()[-1].split()
    assert command[:2] == ["topgap", "release"]
    assert topgap(*command[1:], folder=tmp_path).code == 0
    again = topgap("demo", "--baskets", 300, "--save", "kept.dat", folder=tmp_path)
    assert again.code == 1
    assert is_one_sentence(again.err)
