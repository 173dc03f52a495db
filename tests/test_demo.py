"""The demo shows a table of winners and gaps that agrees with the data it made up."""

import pytest

from topgap import demo


@pytest.mark.statistical(false_alarm=1e-20)
def test_the_demo_shows_the_winners_and_their_gaps(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    shown = capsys.readouterr().out
    counts = demo.count_patients()
    rows = [line for line in shown.splitlines() if "|" in line][1:]
    assert len(rows) == 5
    for rank, row in enumerate(rows, start=1):
        public, secret = row.split("|")
        place, *name, gap = public.split()
        assert int(place) == rank
        assert counts[" ".join(name)] == int(secret)
        # Counts are at most 839 and noise has mean 5: 1000 more has probability below e^−200.
        assert 0 <= float(gap) < demo.PATIENTS
    assert "may be published" in shown


@pytest.mark.statistical(false_alarm=1e-20)
def test_the_made_up_data_stay_and_the_noise_changes(capsys: pytest.CaptureFixture[str]) -> None:
    # The noise has mean 5, so that a tenth has probability below 1/50 for each value of the gap,
    # whatever the others are: 20 times the same one, below 50^−19 < 1e-32.
    assert demo.count_patients() == demo.count_patients()
    for _ in range(20):
        demo.main()
    shown = capsys.readouterr().out
    assert len({line for line in shown.splitlines() if "High blood pressure" in line}) > 1
