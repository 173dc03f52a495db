"""`topgap plan`: what goes in, what comes out, and that no persons go in."""

import csv
import gzip
import io
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.command import TOPGAP, Ended, is_one_sentence, surroundings, topgap
from topgap import counting
from topgap.counting import FROM_DATA

pytestmark = pytest.mark.slow

# So far apart that noise of mean at most 40 changes the order with probability below 1e-20.
COUNTS = {"flu": 30_000, "cold": 20_000, "cough": 10_000, "gout": 3}
COLUMNS = ("--item", "what", "--count", "n")
SMALL = ("-k", 2, "--epsilon", 1, "--epsilon", "0.1", "--releases", 20)
NEVER = 1e-15


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A folder with public counts."""
    rows = "".join(f"{item},{count}\n" for item, count in COUNTS.items())
    (tmp_path / "counts.csv").write_text(f"what,n\n{rows}")
    (tmp_path / "names.txt").write_text("cold\ncough\ngout\n")
    return tmp_path


def plan(folder: Path, *arguments: object, **how: bytes) -> Ended:
    """Run `topgap plan` on them."""
    given = how.get("given", b"")
    return topgap("plan", "counts.csv", *COLUMNS, *SMALL, *arguments, folder=folder, given=given)


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_table_goes_to_standard_output_with_its_caution(public: Path) -> None:
    ended = plan(public)
    assert ended.code == 0
    head, *lines = ended.out.splitlines()
    assert head.split()[:4] == ["ε", "released", "list", "right"]
    assert [line.split()[0] for line in lines[:4:2]] == ["0.1", "1"]
    assert lines[2].split() == ["1", "names,", "gaps", "100%", "100%", "2.00"]
    assert lines[4] == "The 2 largest of 4 items: resolution 0.1, sensitivity 1, monotonic"
    caution = "Not private: a plan reveals its counts, which must be public or made up."
    assert lines[-1] == caution
    assert ended.err == ""
    for more, said in (([], [caution]), (["--quiet"], [])):
        assert plan(public, "--format", "csv", *more).err.splitlines() == said
    assert plan(public, "--quiet").out.splitlines()[-1] == caution


@pytest.mark.statistical(false_alarm=NEVER)
def test_csv_and_json_hold_the_figures(public: Path) -> None:
    rows = [*csv.DictReader(io.StringIO(plan(public, "--format", "csv", "-q").out))]
    assert [row["epsilon"] for row in rows] == ["0.1", "1.0"]
    assert {row["names_right"] for row in rows} == {"1.0"}
    assert "combined_error_se" in rows[0]
    read = json.loads(plan(public, "--format", "json", "-q").out)
    assert read["rows"][1]["estimates_overlap"] == [2.0, 0.0]
    assert (read["items"], read["releases"], read["monotonic"]) == (4, 20, True)


def test_options_reach_the_plan(public: Path) -> None:
    more = ["--neighbours", "replace", "--sensitivity", 2, "--selection-share", "3/4"]
    read = json.loads(plan(public, *more, "--resolution", "1/4", "--format", "json").out)
    told = [read[each] for each in ("monotonic", "sensitivity", "selection_share", "resolution")]
    assert told == [False, "2", "3/4", "1/4"]


def test_files_are_written_whole_and_kept(public: Path) -> None:
    ended = plan(public, "-o", "plan.json", "--plot", "plan.svg")
    assert (ended.code, ended.out) == (0, "")
    assert "Written: plan.json\nWritten: plan.svg\n" in ended.err
    assert json.loads((public / "plan.json").read_text())["k"] == 2
    drawn = (public / "plan.svg").read_text()
    assert drawn.startswith("<?xml")
    ended = plan(public, "-o", "other.csv", "--plot", "plan.svg")
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert (public / "plan.svg").read_text() == drawn
    assert not (public / "other.csv").exists()
    assert plan(public, "-o", "plan.csv", "--plot", "plan.svg", "--overwrite").code == 0
    assert (public / "plan.csv").read_text().startswith("epsilon,names_right,")


@pytest.mark.parametrize("name", ["plan.png", "plan.PDF"])
def test_a_plot_may_go_with_a_table(public: Path, name: str) -> None:
    ended = plan(public, "--plot", name)
    assert ended.code == 0
    assert ended.out.startswith(" ")
    assert (public / name).read_bytes()[:4] in (b"\x89PNG", b"%PDF")


def test_counts_come_from_wherever_release_reads_them(public: Path) -> None:
    text = (public / "counts.csv").read_bytes()
    (public / "counts.csv.gz").write_bytes(gzip.compress(text))
    (public / "counts.jsonl").write_text(
        "".join(f'{{"what": "{item}", "n": {count}}}\n' for item, count in COUNTS.items())
    )
    with duckdb.connect(str(public / "counts.duckdb")) as database:
        database.execute("CREATE TABLE counts AS FROM read_csv(?)", [str(public / "counts.csv")])
        database.execute(f"COPY counts TO '{public / 'counts.parquet'}'")
    asked = [*COLUMNS, *SMALL, "--format", "json"]
    for source in ("counts.csv.gz", "counts.jsonl", "counts.parquet"):
        assert json.loads(topgap("plan", source, *asked, folder=public).out)["items"] == 4
    ended = topgap("plan", "counts.duckdb", "--table", "counts", *asked, folder=public)
    assert json.loads(ended.out)["items"] == 4
    assert json.loads(topgap("plan", "-", *asked, folder=public, given=text).out)["items"] == 4
    headless = ["--item", 1, "--count", 2, "--no-header", "--source-format", "tsv"]
    ended = topgap(
        "plan", "-", *headless, *SMALL, "--format", "json", folder=public, given=b"a\t5\nb\t4\nc\t3"
    )
    assert json.loads(ended.out)["items"] == 3


def test_made_up_counts_need_no_file_and_all_has_defaults(tmp_path: Path) -> None:
    asked = ["plan", "--zipf", 30, "-k", 3, "--releases", 5, "--format", "json"]
    ended = topgap(*asked, folder=tmp_path)
    read = json.loads(ended.out)
    assert (read["items"], len(read["rows"])) == (30, 10)
    assert topgap(*asked, "--largest", 7, folder=tmp_path).code == 0


def test_a_domain_alone_tells_what_an_item_needs(tmp_path: Path) -> None:
    epsilons = ["--epsilon", 1, "--epsilon", "0.1"]
    asked = ["plan", "--domain-size", "10^12", "-k", 25, "-k", 10, *epsilons]
    ended = topgap(*asked, folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert [line.split() for line in ended.out.splitlines()[1:5]] == [
        ["0.1", "10", "100", "2,990", "2,717"], ["25", "250", "7,475", "6,792"],
        ["1", "10", "10", "299", "272"], ["25", "25", "748", "680"],
    ]  # fmt: skip
    rows = [*csv.DictReader(io.StringIO(topgap(*asked, "--format", "csv", folder=tmp_path).out))]
    assert [(row["epsilon"], row["k"], row["people"]) for row in rows][2] == ("1.0", "10", "299")
    more = ["--neighbours", "replace", "--sensitivity", 2, "-o", "plan.json"]
    assert topgap(*asked, *more, folder=tmp_path).err == "Written: plan.json\n"
    read = json.loads((tmp_path / "plan.json").read_text())
    assert (read["domain_size"], read["rows"][2]["people"]) == (str(10**12), 1196)


@pytest.mark.parametrize(("options", "size"), [
    (["--domain-range", "1:1000"], 1000), (["--domain-range", "1:1000", "--together", 2], 499_500),
    (["--domain-pattern", "[A-Z][0-9]{2}"], 2600), (["--domain", "names.txt"], 4),
    (["--domain-strings", "a-z", "--max-length", 2], 26 + 26**2),
    (["--item", "a", "--item", "b", "--domain-range", "a=1:9", "--domain-pattern", "b=[xy]"], 18),
    (["--zipf", 3, "--releases", 2, "--domain-range", "1:1000"], 1000),
])  # fmt: skip
def test_a_domain_is_told_as_it_is_to_release(
    tmp_path: Path, options: list[object], size: int
) -> None:
    (tmp_path / "names.txt").write_text("flu\ncold\ncough\ngout\n")
    asked = ["plan", "-k", 2, "--epsilon", 1, "--format", "json"]
    ended = topgap(*asked, *options, folder=tmp_path)
    assert json.loads(ended.out)["domain_size"] == str(size)


@pytest.mark.statistical(false_alarm=NEVER)
def test_members_of_the_domain_alone_take_part(public: Path) -> None:
    for options, size in (
        (["--domain", "names.txt"], 3),
        (["--domain-pattern", "[a-z]{4,5}"], None),
    ):
        read = json.loads(plan(public, *options, "--format", "json").out)
        assert (read["items"], read["domain_size"]) == (3, str(size or 26**4 + 26**5))
        assert read["rows"][1]["names_right"][0] == 1


@pytest.mark.statistical(false_alarm=NEVER)
def test_all_but_the_counts_of_a_domain_are_items_that_nobody_has(public: Path) -> None:
    # 3 persons have gout, and with 10^30 items it is named with a probability below 10^−29.
    ended = plan(public, "--domain-size", "10**30", "-k", 4, "--format", "json")
    two, four = json.loads(ended.out)
    assert (two["k"], two["items"], two["domain_size"]) == (2, 4, str(10**30))
    assert [row["names_empty"] for row in two["rows"]] == [[0.0, 0.0]] * 2
    assert [row["names_empty"] for row in four["rows"]] == [[1.0, 0.0]] * 2
    assert two["rows"][1]["names_people_needed"] == 143
    table = plan(public, "--domain-size", 4, "-k", 3, "-q").out
    assert table.splitlines()[0].split()[-6:-4] == ["empty", "needed"]
    assert table.count("Not private: ") == 2
    rows = [*csv.DictReader(io.StringIO(plan(public, "-k", 3, "--format", "csv", "-q").out))]
    assert [(row["k"], row["epsilon"]) for row in rows] == [
        ("2", "0.1"), ("2", "1.0"), ("3", "0.1"), ("3", "1.0"),
    ]  # fmt: skip


def write_public_events(folder: Path) -> None:
    """100 people with a and b, of whom 60 have c, too; as a table and as baskets."""
    people = [["a", "b", "c"] if n < 60 else ["b", "a"] for n in range(100)]
    rows = (f"p{n},{item}\n" for n, items in enumerate(people) for item in items)
    (folder / "events.csv").write_text("who,what\n" + "".join(rows))
    (folder / "baskets.dat").write_text("".join(" ".join(items) + "\n" for items in people))


BOUNDS = ("-k", 2, "--epsilon", 1000, "--releases", 5, "--items-per-person", "1,3,2")


@pytest.mark.parametrize("source", [
    ["events.csv", "--public-person", "who", "--item", "what"], ["baskets.dat", "--public-baskets"],
])  # fmt: skip
def test_what_a_bound_leaves_out_of_public_events_is_counted(
    public: Path, source: list[str]
) -> None:
    # At this ε noise is not 0 with a probability below 10^−200.
    write_public_events(public)
    read = json.loads(topgap("plan", *source, *BOUNDS, "--format", "json", folder=public).out)
    assert (read["items"], read["items_per_person"], read["is_truncated"]) == (3, [1, 2, 3], True)
    (row,) = read["rows"]
    how: Any = {"domain": FROM_DATA, "items_per_person": 1}
    if "--public-baskets" in source:
        kept = counting.count_transactions(public / "baskets.dat", **how)
    else:
        kept = counting.count_events(public / "events.csv", person="who", item="what", **how)
    assert sum(kept.values()) == 100
    off = {count - {"a": 100, "b": 100, "c": 60}[item] for item, count in kept.items()}
    assert min(off) <= row["bound_1_bias"][0] <= max(off)
    assert row["bound_1_bias"][0] < 0
    assert row["bound_1_scale"] == 0.001
    assert "bound_2_bias" not in row
    assert row["bound_3_overlap"] == row["names_overlap"] == [2.0, 0.0]
    more = ["--domain-pattern", "[b-d]", "-k", 1, "--format", "csv"]
    if "--item" not in source:
        more = ["--domain-size", 10, "-k", 1, "--epsilon", 5, "--format", "csv"]
    ended = topgap("plan", *source, *BOUNDS[2:], *more, folder=public)
    assert ended.code == 0, ended.err


def test_bounds_of_counts_have_noise_alone(public: Path) -> None:
    ended = plan(public, "--items-per-person", "1")
    assert (ended.code, ended.err) == (0, "")
    assert "Counts do not show what a bound leaves out" in ended.out
    assert "resolution 0.1" in ended.out
    assert "\nWith Laplace noise the resolution is 1.\n" in ended.out
    assert "\nWith at most 1 item per person, if that leaves out little, Laplace" in ended.out
    rows = [*csv.DictReader(io.StringIO(plan(
        public, "-k", 3, "-k", 1, "--items-per-person", "2", "--format", "csv", "-q"
    ).out))]  # fmt: skip
    medians = [(row["k"], row["bound_2_median"] != "") for row in rows]
    assert medians == [("1", False)] * 2 + [("2", False)] * 2 + [("3", True)] * 2
    assert {row["bound_2_overlap"] != "" for row in rows} == {True}
    made_up = topgap(
        "plan", "--zipf", 9, "-k", 2, "--releases", 5, "--items-per-person", 1, "--plot", "x.svg",
        folder=public,
    )  # fmt: skip
    assert made_up.code == 0
    assert (public / "x.svg").read_text().startswith("<?xml")


def test_bounds_of_a_domain_need_no_counts(public: Path) -> None:
    ended = topgap(
        "plan", "--domain-size", "10^12", "-k", 100, "--epsilon", 1, "--items-per-person", "5,1",
        folder=public,
    )  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    assert [line.split()[-4:] for line in ended.out.splitlines()[1:4]] == [
        ["any", "100", "2,990", "2,717"], ["1", "1", "31", "28"], ["5", "5", "155", "137"],
    ]  # fmt: skip
    lines = topgap(
        "plan", "--domain-size", 99, "-k", 9, "--epsilon", 1, "--items-per-person", 1, "--format",
        "csv", folder=public,
    ).out.splitlines()  # fmt: skip
    assert [line.split(",")[:3] for line in lines[1:]] == [["1.0", "9", ""], ["1.0", "9", "1"]]


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_threshold_says_what_is_named_and_what_it_costs(public: Path) -> None:
    thresholds = ["--threshold", "15_000", "--threshold", "5000.05", "-k", 4]
    ended = topgap(
        "plan", "counts.csv", *COLUMNS, *SMALL[2:], *thresholds, "--plot", "t.svg", folder=public
    )
    assert (ended.code, ended.err) == (0, "Written: t.svg\n")
    lines = [line.split() for line in ended.out.splitlines()]
    assert lines[0][:6] == ["ε", "threshold", "noise", "above", "named", "right"]
    assert [line[-9:-4] for line in lines[1:5]] == [
        ["3", "3.00", "3.00", "0.1", "100%"], ["2", "2.00", "2.00", "0.075", "100%"],
        ["3", "3.00", "3.00", "1", "100%"], ["2", "2.00", "2.00", "0.75", "100%"],
    ]  # fmt: skip
    assert lines[1][:2] == ["0.1", "5,000"]
    assert "Not private: a plan reveals" in ended.out
    assert (public / "t.svg").read_text().startswith("<?xml")
    more = ["-k", 2, "--items-per-person", 1, "--domain-size", 1_000, "--releases", 5]
    read = json.loads(plan(public, *thresholds, *more, "--format", "json").out)
    assert [(each["k"], each["domain_size"]) for each in read] == [(2, "1000"), (4, "1000")]
    noise = [(row["items_per_person"], row["noise"]) for row in read[1]["rows"]]
    assert noise == [(None, "exponential"), (1, "laplace")] * 4
    rows = [*csv.DictReader(io.StringIO(plan(public, *thresholds, "--format", "csv", "-q").out))]
    assert [row["threshold"] for row in rows] == ["5000.0", "15000.0"] * 4
    assert [row["error"] != "" for row in rows][:4] == [False, False] * 2  # k = 2 is full
    write_public_events(public)
    told = topgap(
        "plan", "baskets.dat", "--public-baskets", *BOUNDS, "--threshold", 50, folder=public
    )
    assert "What a bound leaves out is in the figures." in told.out


@pytest.mark.parametrize("arguments", [
    ["baskets.dat"], ["baskets.dat", "--items-per-person", 1], ["baskets.dat", "--public-baskets"],
    ["-", "--public-baskets", "--items-per-person", 1],
    ["baskets.dat", "--public-baskets", "--items-per-person", 1, "--count", "n"],
    ["baskets.dat", "--public-baskets", "--items-per-person", 1, "--item", "what"],
    ["baskets.dat", "--public-baskets", "--items-per-person", 1, "--no-header"],
    ["baskets.dat", "--public-baskets", "--items-per-person", 1, "--public-person", "who"],
    ["events.csv", "--public-person", "who", "--item", "what"],
    ["events.csv", "--public-person", "who", "--items-per-person", 1],
    ["events.csv", "--person", "who", "--item", "what", "--items-per-person", 1],
    ["--zipf", 9, "--public-baskets"], ["--zipf", 9, "--public-person", "who"],
    ["--zipf", 9, "--items-per-person", "0"], ["--zipf", 9, "--items-per-person", "1,,2"],
    ["--zipf", 9, "--items-per-person", "two"], ["--domain-size", 99, "--items-per-person", "0"],
], ids=lambda arguments: " ".join(map(str, arguments)))  # fmt: skip
def test_bounds_that_contradict_themselves_are_usage_errors(
    public: Path, arguments: list[object]
) -> None:
    write_public_events(public)
    ended = topgap("plan", *arguments, "-k", 2, folder=public)
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("more", [[], ["--item", "what"], ["-k", 2], ["--zipf", 5]])
def test_persons_are_refused_whatever_else_is_asked(public: Path, more: list[object]) -> None:
    ended = topgap("plan", "counts.csv", "--person", "who", *more, folder=public)
    assert (ended.code, ended.out) == (2, "")
    said = " ".join(ended.err.replace("│", " ").split())
    assert "a plan is not private, so it takes public or made-up counts and no data" in said
    assert "--person" not in topgap("plan", "--help", folder=public).out


@pytest.mark.parametrize("wrong", [
    ["--nonsense"], ["-k", "many"], ["--zipf", 5], ["--largest", 5], ["--format", "parquet"],
    ["--neighbours", "some"], ["-o", "plan.xlsx"], ["-o", "plan.parquet"], ["--plot", "plan.gif"],
    ["--plot", "plan"], ["-o", "x.svg", "--format", "csv", "--plot", "./x.svg"],
    ["--source-format", "fimi"], ["-"], ["--domain-size", "many"], ["--domain-size", "10^9999"],
    ["--domain-size", "-5"], ["--domain-size", "1.5"], ["-k", 3, "--plot", "plan.png"],
    ["--domain-size", 9, "--domain-range", "1:9"], ["--domain-range", "1:9", "--together", 2],
    ["--domain-range", "9:1"], ["--domain-strings", "a-z"], ["--max-length", 9], ["--item", "what"],
], ids=lambda wrong: " ".join(map(str, wrong)))  # fmt: skip
def test_what_contradicts_itself_is_a_usage_error(public: Path, wrong: list[object]) -> None:
    ended = plan(public, *wrong)
    assert (ended.code, ended.out) == (2, "")
    assert "Usage: topgap plan" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("arguments", [
    ["-k", 2], ["counts.csv", "-k", 2], ["counts.csv", "--item", "what", "-k", 2],
    ["counts.csv", *COLUMNS], ["baskets.dat", *COLUMNS, "-k", 2],
    ["--zipf", 5, "-k", 2, "--item", "x"], ["--zipf", 5, "-k", 2, "--no-header"],
    ["--domain-size", 9], ["--domain-size", 9, "-k", 2, "--releases", 5],
    ["--domain-size", 9, "-k", 2, "--plot", "x.png"], ["--domain-size", 9, "-k", 2, "--item", "x"],
    ["--domain-size", 9, "-k", 2, "--largest", 5], ["--item", "x", "-k", 2],
    ["--domain-size", 9, "-k", 2, "--threshold", 5], ["--zipf", 5, "--threshold", 5],
    ["--zipf", 5, "-k", 2, "--threshold", 5, "--selection-share", "1/2"],
    ["--domain-pattern", "x*", "--domain-range", "1:9", "-k", 2],
])  # fmt: skip
def test_what_is_missing_is_a_usage_error(public: Path, arguments: list[object]) -> None:
    ended = topgap("plan", *arguments, folder=public)
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(("more", "said"), [
    (["--epsilon", 0], "epsilon"), (["--epsilon", "much"], "epsilon"), (["-k", 4], "at least 5"),
    (["--domain-size", 3], "fewer items"), (["--domain-size", 2], "at least 3 items"),
    (["--domain-pattern", "x+"], "length"), (["--domain-pattern", "("], "pattern"),
    (["--domain-size", 0], "at least 1"), (["--domain-size", 9, "-k", 9], "at least 10 items"),
    (["--threshold", "many"], "threshold"),
    (["-k", 0], "k "), (["--releases", 1], "releases"), (["--selection-share", 1], "below 1"),
    (["--resolution", "2/3"], "resolution"), (["--count", "m"], "'m'"), (["--table", "t"], "table"),
    (["-o", "counts.csv", "--overwrite"], "is what is read"),
    (["-o", "names.txt", "--overwrite", "--domain", "names.txt"], "is what is read"),
    (["-o", "no/plan.csv"], "directory"),
])  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_sentence(
    public: Path, more: list[object], said: str
) -> None:
    before = (public / "counts.csv").read_bytes()
    ended = plan(public, *more)
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err), ended.err
    assert said in ended.err
    assert (public / "counts.csv").read_bytes() == before


def test_a_missing_matplotlib_is_told_before_the_work(public: Path) -> None:
    (public / "sitecustomize.py").write_text("import sys\nsys.modules['matplotlib'] = None\n")
    ended = topgap(
        "plan", "--zipf", 9, "-k", 2, "--releases", 10**9, "--plot", "x.png", folder=public,
        environment={"PYTHONPATH": str(public)},
    )  # fmt: skip
    assert ended.code == 1
    assert ended.err == "topgap: plot needs matplotlib: pip install matplotlib.\n"


@pytest.mark.deep
@pytest.mark.posix
def test_an_interruption_ends_it_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    asked = ["plan", "--zipf", "1000", "-k", "9", "--releases", "1000000000", "-o", "out.csv"]
    run = subprocess.Popen(
        [*TOPGAP, *asked], cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=surroundings()
    )
    time.sleep(3)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (130, "topgap: Interrupted.\n")
    assert [*tmp_path.iterdir()] == []


def test_help_teaches_by_example(tmp_path: Path) -> None:
    told = topgap("plan", "--help", folder=tmp_path)
    assert told.code == 0
    for said in (
        "topgap plan published.csv --item diagnosis",
        "--zipf",
        "not private",
        "--public-baskets",
    ):
        assert said in told.out
    assert "plan" in topgap("--help", folder=tmp_path).out
