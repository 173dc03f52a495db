"""The gallery holds what its reports say, is small, and says where the data come from."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.gallery import pages
from tools.gallery.made_up import DIAGNOSES, PATIENTS, REGIONS, count_patients
from tools.gallery.reports import REPORTS, Report, Result
from topgap import Estimates, GroupedRelease, Release
from topgap.errors import DatasetError
from topgap.report import read_estimates, read_grouped, read_release, to_html

READERS: dict[type, Callable[[str], Result]] = {
    Release: read_release,
    Estimates: read_estimates,
    GroupedRelease: read_grouped,
}
KINDS: dict[str, type[Release | Estimates | GroupedRelease]] = {
    "diagnoses": Estimates, "pages": Release, "products": Estimates, "pairs": Release,
    "regions": GroupedRelease, "threshold": Release,
}  # fmt: skip
INDEX = (pages.DOCS / "gallery.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("report", REPORTS, ids=lambda each: each.name)
def test_a_page_holds_its_release(report: Report) -> None:
    text = (pages.FOLDER / f"{report.name}.html").read_text(encoding="utf-8")
    result = READERS[KINDS[report.name]](text)
    assert type(result) is KINDS[report.name]
    assert f"ε = {pages.describe_epsilon(result)}." in INDEX
    again = to_html(result, report.details)
    assert READERS[KINDS[report.name]](again) == result
    titles = (str(report.details.title), f"gallery/{report.name}.html")
    for words in (*titles, report.source, report.question):
        assert words in INDEX


def test_reports_are_those_of_the_folder_and_small() -> None:
    files = {path.name: path.stat().st_size for path in pages.FOLDER.iterdir()}
    ends = (".html", "-light.png", "-dark.png")
    assert {*files} == {f"{report.name}{end}" for report in REPORTS for end in ends}
    assert sum(files.values()) < 1_000_000


def test_made_up_patients_are_the_same_at_each_run_and_no_more_than_there_are() -> None:
    random.seed(1)
    once, again = count_patients(), count_patients()
    assert once == again
    assert {*once} == {*REGIONS}
    assert all({*counts} <= {*DIAGNOSES} for counts in once.values())
    assert max(sum(counts.values()) for counts in once.values()) <= 4 * PATIENTS
    assert all(max(counts.values()) <= PATIENTS for counts in once.values())


def test_nothing_is_written_where_a_file_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(pages, "FOLDER", tmp_path / "gallery")
    with pytest.raises(DatasetError, match=r"kosarak\.counts\.csv"):
        pages.write_gallery(tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_a_gallery_is_written_from_what_the_reports_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(pages, "FOLDER", tmp_path / "gallery")
    made_up = [report for report in REPORTS if report.name in {"diagnoses", "regions"}]
    monkeypatch.setattr(pages, "REPORTS", made_up)
    written = pages.write_gallery(tmp_path)
    assert [path.name for path in written] == ["diagnoses.html", "regions.html", "gallery.md"]
    assert read_estimates(written[0].read_text(encoding="utf-8")).items[0] == "I10"
    assert [*read_grouped(written[1].read_text(encoding="utf-8"))] == [*REGIONS]
