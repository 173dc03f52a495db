"""What the command writes of tuples and of a domain, in every format."""

import io

import pyarrow.parquet as pq
from rich.console import Console

from tests.display.sample_estimates import measured
from tests.display.sample_releases import VISITS
from topgap import Estimates, Release, TopK
from topgap.cli.release.publication import Publication
from topgap.cli.release.terminal import TerminalTable

LINE = "a list; with the texts that match /[ -~]{1,20} (1,000,000,000,000 items)"
STANDS_OUT = "one needs a count of about 80 to stand out."
ESTIMATES = measured(VISITS, "1/3", [400, 160, 130])


def test_csv_has_a_column_for_each_member_and_the_domain() -> None:
    lines = Publication(VISITS).to_format("csv").decode().splitlines()
    assert lines == [
        "rank,item_1,item_2,gap,domain",
        f'1,Germany,/start,240,"{LINE}"',
        f'2,France,"/search?a, b",31,"{LINE}"',
        f'3,Côte d’Ivoire,"/""",8,"{LINE}"',
    ]
    head, *_ = Publication(ESTIMATES).cells()
    assert head[:5] == ["rank", "item_1", "item_2", "gap", "measurement"]
    assert head[-1] == "domain"


def test_a_member_of_a_tuple_is_no_formula() -> None:
    release = Release(TopK(1, 1), None, None, [("=A1", 7)], domain_from_data=True)
    text = Publication(release).to_format("csv").decode()
    assert text == "rank,item_1,item_2,domain_from_data\n1,'=A1,7,true\n"


def test_json_and_parquet_come_back() -> None:
    assert Release.from_json(Publication(VISITS).to_format("json")) == VISITS
    assert Estimates.from_json(Publication(ESTIMATES).to_format("json")) == ESTIMATES
    table = pq.read_table(io.BytesIO(Publication(VISITS).to_format("parquet")))
    assert table.column_names == ["item_1", "item_2", "gap", "gap_units", "domain"]
    assert table["item_2"].to_pylist()[1] == "/search?a, b"
    assert table["domain"].to_pylist() == [LINE] * 3
    assert Release.from_json(table.schema.metadata[b"topgap.release"]) == VISITS


def test_text_and_terminal_say_the_same_below_the_table() -> None:
    for publication in (Publication(VISITS), Publication(ESTIMATES)):
        text = publication.to_format("table").decode()
        console = Console(width=200, file=io.StringIO(), color_system=None)
        console.print(TerminalTable(publication))
        assert isinstance(console.file, io.StringIO)
        for shown in (text, console.file.getvalue()):
            assert 'France, "/search?a, b"' in shown
            assert shown.count(f"domain: {LINE}\n") == 1
            assert shown.count(STANDS_OUT) == 1
