"""The demo shows a table of winners and gaps that agrees with the data it made up."""

import pytest

from topgap import demo


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
        assert 0 <= float(gap) < demo.PATIENTS
    assert "may be published" in shown


def test_the_made_up_data_stay_and_the_noise_changes(capsys: pytest.CaptureFixture[str]) -> None:
    # Five gaps in tenths, each spread over more than 100 values: alike 20 times never happens by
    # chance, since each repetition alone has probability below 1e-4 and 20 of them below 1e-80.
    assert demo.count_patients() == demo.count_patients()
    for _ in range(20):
        demo.main()
    shown = capsys.readouterr().out
    assert len({line for line in shown.splitlines() if "High blood pressure" in line}) > 1
