"""Workbooks of Excel and LibreOffice: written by other libraries, and counted as text files are."""

import io
import sys
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import odf.opendocument
import odf.table
import odf.text
import openpyxl
import pytest
import xlwt
from msoffcrypto.format.ooxml import OOXMLFile

from tests.counting.sample_events import one
from topgap import counting
from topgap.counting import read_domain, spreadsheets
from topgap.errors import DomainError, MissingExtraError, ParameterError, SourceError

Sheets = dict[str, Any]  # of rows of cells
VISITS: list[list[Any]] = [
    ["who", "what"],
    ["Ann", 7],
    ["Ann", 7.0],
    ["Bob", "7"],
    [3, 7.5],
    [None, 7],
    [4, None],
]
COUNTS = {"7": 2, "7.5": 1}


def xlsx(path: Path, sheets: Sheets) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([*row])
    book.save(path)


def xls(path: Path, sheets: Sheets) -> None:
    book = xlwt.Workbook()
    for name, rows in sheets.items():
        sheet = book.add_sheet(name)
        for y, row in enumerate(rows):
            for x, cell in enumerate(row):
                sheet.write(y, x, cell)
    book.save(str(path))


def ods(path: Path, sheets: Sheets) -> None:
    book = odf.opendocument.OpenDocumentSpreadsheet()
    for name, rows in sheets.items():
        sheet = odf.table.Table(name=name)
        for row in rows:
            line = odf.table.TableRow()
            for cell in row:
                line.addElement(_ods_cell(cell))
            sheet.addElement(line)
        book.spreadsheet.addElement(sheet)
    book.save(str(path))


def _ods_cell(value: Any) -> Any:
    if value is None:
        return odf.table.TableCell()
    if isinstance(value, str):
        cell = odf.table.TableCell(valuetype="string")
        cell.addElement(odf.text.P(text=value))
        return cell
    return odf.table.TableCell(valuetype="float", value=str(value))


WRITE: dict[str, Callable[[Path, Sheets], None]] = {"xlsx": xlsx, "xls": xls, "ods": ods}


@pytest.mark.parametrize("form", WRITE)
def test_a_sheet_is_counted_as_a_text_file_would_be(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"v.{form}"
    WRITE[form](path, {"visits": VISITS})
    assert one(path, domain=["7", "7.5"]) == COUNTS
    assert one(path, domain=range(8))[7] == 2
    assert one(path, table="visits", domain=["7", "7.5"]) == COUNTS
    stream = io.BytesIO(path.read_bytes())
    assert one(stream, domain=["7", "7.5"]) == COUNTS  # by its first bytes
    assert one(path, person="1", item="2", header=False, domain=["what", "7"])["what"] == 1
    unnamed = path.rename(tmp_path / "v.visits")
    assert one(unnamed, domain=["7", "7.5"]) == COUNTS


@pytest.mark.parametrize("form", WRITE)
def test_one_of_several_sheets_is_named(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"v.{form}"
    WRITE[form](path, {"notes": [["Zaphod"]], "visits": VISITS, "empty": []})
    assert one(path, table="visits", domain=["7", "7.5"]) == COUNTS
    assert one(path, table="empty") == {"flu": 0}
    for table in (None, "Visits"):
        with pytest.raises(SourceError, match=r"sheet.*it has 'notes', 'visits', 'empty'") as error:
            one(path, table=table)
        assert "Zaphod" not in str(error.value)
    with pytest.raises(SourceError, match=r"no column 'who' in its first row.*--list-columns"):
        one(path, table="notes")
    with pytest.raises(ParameterError, match="a workbook has a sheet"):
        one(path, query="SELECT 1")
    with pytest.raises(ParameterError, match="Only text files"):
        one(path, table="visits", encoding="latin-1")


def test_cells_of_all_kinds_are_compared_by_the_one_rule(tmp_path: Path) -> None:
    cells = {
        date(2026, 1, 31): "2026-01-31",
        datetime(2026, 1, 31, 10, 30): "2026-01-31 10:30:00",
        time(10, 30): "10:30:00",
        True: "true",
        2**53: str(2**53),
        1e-5: "1e-05",
        0.1: "0.1",
        " caf\u0065\u0301\u00a0": "café",
        "007": "007",
    }
    path = tmp_path / "v.xlsx"
    rows: list[Any] = [
        ["who", "what"],
        *([n, cell] for n, cell in enumerate(cells)),
        [99, "#N/A"],
        [98, "  "],
    ]
    xlsx(path, {"v": rows})
    domain = [*cells.values()]
    assert one(path, domain=domain) == dict.fromkeys(domain, 1)
    assert len(one(path, domain=counting.FROM_DATA)) == len(domain)  # without #N/A and blanks
    xlsx(path, {"v": [*rows, [1, timedelta(hours=30)]]})
    with pytest.raises(SourceError, match="neither text nor a number"):
        one(path)


def test_blank_rows_and_columns_before_the_table_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "v.xlsx"
    xlsx(path, {"v": [[], [], *([None, *row] for row in VISITS), [], [None, "Eve", 7.5]]})
    assert one(path, domain=["7", "7.5"]) == {"7": 2, "7.5": 2}
    xlsx(path, {"v": [["who", "who", "what"], [1, 2, 3]]})
    with pytest.raises(SourceError, match="more than one column 'who'"):
        one(path)


def test_precomputed_counts_and_several_workbooks(tmp_path: Path) -> None:
    xlsx(tmp_path / "a.xlsx", {"v": [["item", "n"], ["flu", 7.0], ["gout", "3"]]})
    named: Any = {"item": "item", "count": "n", "domain": ["flu", "gout"]}
    assert counting.read_counts(tmp_path / "a.xlsx", **named) == {"flu": 7, "gout": 3}
    xlsx(tmp_path / "a.xlsx", {"v": [["who", "what"], [1, "flu"]]})
    ods(tmp_path / "b.ods", {"v": [["what", "who"], ["flu", 1], ["flu", 2]]})
    assert one(tmp_path / "a.xlsx") == {"flu": 1}
    xlsx(tmp_path / "b.xlsx", {"w": [["what", "who"], ["flu", 1], ["flu", 2]]})
    assert one(f"{tmp_path}/*.xlsx") == {"flu": 2}


@pytest.mark.parametrize("form", WRITE)
def test_a_domain_may_be_a_column_of_a_sheet(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"codes.{form}"
    WRITE[form](path, {"notes": [["x"]], "codes": [["code", "name"], ["A1", "a"], [7, "b"]]})
    assert read_domain(path, "code", table="codes").names == ["A1", "7"]
    with pytest.raises(DomainError, match=r"--domain-table.*'notes', 'codes'"):
        read_domain(path, "code")
    with pytest.raises(DomainError, match="is a table; say which"):
        read_domain(path)


def encrypted() -> bytes:
    plain, sealed = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(plain)
    plain.seek(0)
    OOXMLFile(plain).encrypt("Zaphod", sealed)
    return sealed.getvalue()


def document() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "Zaphod")
    return packed.getvalue()


def far_apart() -> bytes:
    book, written = openpyxl.Workbook(), io.BytesIO()
    sheet: Any = book.active
    sheet["A1"], sheet["XFD1048576"] = "who", "Zaphod"
    book.save(written)
    return written.getvalue()


BROKEN: dict[str, Callable[[], bytes]] = {
    "protected by a password": encrypted,
    "damaged or is not a workbook": document,
    "more than 100,000,000 cells": far_apart,
    "damaged or is not a workbook of": lambda: (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"Zaphod" * 500
    ),
    "is not a workbook, although its name says so; if it is delimited": lambda: b"who,what\n",
}


@pytest.mark.parametrize("said", BROKEN)
def test_what_is_no_workbook_is_refused_in_a_sentence(said: str, tmp_path: Path) -> None:
    path = tmp_path / "v.xlsx"
    path.write_bytes(BROKEN[said]())
    with pytest.raises(SourceError, match=said) as error:
        one(path)
    assert "Zaphod" not in str(error.value)
    assert error.value.__context__ is None
    with pytest.raises(DomainError, match=said):
        read_domain(path, "what")


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    xlsx(tmp_path / "v.xlsx", {"v": VISITS})
    monkeypatch.setattr(spreadsheets, "_MOST_BYTES", 1_000)
    with pytest.raises(SourceError, match="unpacks to more than 1,000 bytes; save the sheet"):
        one(tmp_path / "v.xlsx")


def test_cells_with_a_style_alone_take_no_memory(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["who", "what"])
    sheet.append([1, "flu"])
    sheet["XFD1048576"].font = openpyxl.styles.Font(bold=True)
    book.save(tmp_path / "v.xlsx")
    assert one(tmp_path / "v.xlsx") == {"flu": 1}


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    xlsx(tmp_path / "v.xlsx", {"v": VISITS})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match="pip install python-calamine"):
        one(tmp_path / "v.xlsx")


def test_loading_a_sheet_can_be_stopped(tmp_path: Path) -> None:
    xlsx(tmp_path / "v.xlsx", {"v": VISITS})

    def stop(doing: str, _: float | None) -> None:
        if doing.startswith("reading"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one(tmp_path / "v.xlsx", progress=stop)
