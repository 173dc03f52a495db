"""What the command refuses: how it says so, and that nothing is written or lost."""

from pathlib import Path

import pytest

from tests.cli.command import ASKED, is_one_sentence, release, shell, topgap

pytestmark = pytest.mark.slow

USAGE: list[list[object]] = [
    ["--nonsense"], ["-k", "many"], ["--domain-range", "1:9"], ["--domain-from-data"],
    ["--domain-column", "x", "--neighbours", "some"], ["--format", "xml"], ["--count", "n"],
    ["--sensitivity", "2"], ["--output", "same", "--report", "same"], ["--title", "x"],
    ["--output", "out.xlsx"], ["--report", "out.pdf"],
]  # fmt: skip


@pytest.mark.parametrize("wrong", USAGE, ids=lambda wrong: " ".join(map(str, wrong)))
def test_what_contradicts_itself_is_a_usage_error(folder: Path, wrong: list[object]) -> None:
    ended = release(folder, *wrong)
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert "Usage: topgap release" in ended.err


@pytest.mark.parametrize("missing", ["who", "what", "domain.txt", "2", "1"])
def test_what_is_missing_is_a_usage_error(folder: Path, missing: str) -> None:
    at = [*map(str, ASKED)].index(missing)
    ended = release(folder, asked=[*ASKED[: at - 1], *ASKED[at + 1 :]])
    assert ended.code == 2
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("arguments", [
    ["release", "baskets.dat", *ASKED], ["release", "-", "visits.csv", *ASKED], ["released"],
    ["release", "visits.csv", *ASKED[:4], "--domain-range", "1-9", *ASKED[6:]],
    ["release", "visits.csv", *ASKED[:4], "--domain-column", "x", "--domain-from-data", *ASKED[6:]],
])  # fmt: skip
def test_other_commands_that_cannot_be_understood(folder: Path, arguments: list[object]) -> None:
    ended = topgap(*arguments, folder=folder)
    assert ended.code == 2
    assert "Traceback" not in ended.err


def test_two_names_of_one_output_are_a_usage_error(folder: Path) -> None:
    (folder / "sub").mkdir()
    ended = release(folder, "-o", "sub/../x.json", "--report", "x.json")
    assert ended.code == 2


def test_files_of_baskets_and_tables_do_not_mix(folder: Path) -> None:
    (folder / "b.dat").write_text("flu\n")
    ends = ["--domain", "domain.txt", "-k", 2, "--epsilon", 1]
    assert topgap("release", "b.dat", "visits.csv", *ends, folder=folder).code == 2
    assert topgap("release", "visits.csv", "b.dat", *ends, folder=folder).code == 2
    assert topgap("release", "b.dat", *ends, "--no-header", folder=folder).code == 2
    assert topgap("release", "b.dat", *ends, "--table", "t", folder=folder).code == 2


@pytest.mark.parametrize(("asked", "said"), [
    ([*ASKED[:-1], "0"], "epsilon"),
    ([*ASKED[:-1], "nan"], "epsilon"),
    ([*ASKED[:-1], "a lot"], "epsilon"),
    ([*ASKED[:7], "0", "--epsilon", "1"], "k "),
    ([*ASKED[:7], "5", "--epsilon", "1"], "at least 6 items"),
    ([*ASKED, "--resolution", "2/3"], "resolution"),
    ([*ASKED, "--memory", "lots"], "memory"),
    ([*ASKED, "--table", "t"], "table"),
    ([*ASKED[:5], "nowhere.txt", *ASKED[6:]], "nowhere.txt"),
    ([*ASKED[:5], "visits.csv", *ASKED[6:]], "column"),
    (["--person", "whom", *ASKED[2:]], "'whom'"),
    (["--person", "what", *ASKED[2:]], "different columns"),
])  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_sentence(
    folder: Path, asked: list[object], said: str
) -> None:
    ended = release(folder, "-o", "out.csv", asked=asked)
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err), ended.err
    assert said in ended.err
    assert not (folder / "out.csv").exists()


def test_how_many_items_there_are_in_the_data_is_not_told(folder: Path) -> None:
    asked = ["--person", "who", "--item", "what", "--domain-from-data", "-k", 7, "--epsilon", 1]
    ended = release(folder, asked=asked)
    assert ended.code == 1
    assert "too few different items for k = 7" in ended.err
    assert "4" not in ended.err


def test_an_empty_sensitivity_is_not_one(folder: Path) -> None:
    (folder / "counts.csv").write_text("what,n\nflu,5\n")
    asked = ["--item", "what", "--count", "n", *ASKED[4:], "--sensitivity", ""]
    ended = topgap("release", "counts.csv", *asked, folder=folder)
    assert ended.code == 1
    assert is_one_sentence(ended.err)


def test_a_file_that_exists_is_kept_unless_told_otherwise(folder: Path) -> None:
    (folder / "out.csv").write_text("an earlier release")
    ended = release(folder, "-o", "out.csv", "--report", "r.html")
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert (folder / "out.csv").read_text() == "an earlier release"
    assert not (folder / "r.html").exists()
    assert release(folder, "-o", "out.csv", "--overwrite").code == 0
    assert (folder / "out.csv").read_text().startswith("rank,item,gap")


@pytest.mark.parametrize("target", ["visits.csv", "domain.txt", ".", "no/such/folder.csv"])
def test_what_is_read_is_never_overwritten(folder: Path, target: str) -> None:
    before = (folder / "visits.csv").read_bytes()
    ended = release(folder, "-o", target, "--overwrite")
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert (folder / "visits.csv").read_bytes() == before


def test_a_source_named_by_a_pattern_is_never_overwritten(folder: Path) -> None:
    before = (folder / "visits.csv").read_bytes()
    asked = " ".join(map(str, ASKED))
    ended = shell(f"topgap release 'vis*.csv' {asked} -o visits.csv --overwrite", folder)
    assert ended.code == 1
    assert "is what is read" in ended.err
    assert (folder / "visits.csv").read_bytes() == before


@pytest.mark.parametrize("content", ["", "who,what", "who,what\n"])
def test_an_empty_source_is_released_like_any_other(content: str, folder: Path) -> None:
    (folder / "visits.csv").write_text(content)
    ended = release(folder)
    assert (ended.code, len(ended.out.splitlines())) == (0, 5)
