"""Writes the reports as HTML, and the page that lists them."""

from pathlib import Path

from tools.gallery.reports import REPORTS, Report, Result
from topgap.numbers.format import format_exact
from topgap.report import to_html

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDER = DOCS / "gallery"

INTRODUCTION = """\
# Finished reports

Each of these reports is one HTML file, as `topgap release … --report` writes it. It holds the
release, says what it protects, and loads nothing from the network. Open one to see what its
readers see. `python -m tools.gallery` made them; the noise is new at each run.

<div class="gallery" markdown>
"""

END = """\

</div>

The data are public or made up, so nobody's privacy depends on these pages. They treat the data as
if it did: a report about real patients or customers has the same form.
[Public data sets](datasets.md) has the addresses of Kosarak and BMS-POS; Retail is in the FIMI
repository beside them.
"""


def write_gallery(data: Path) -> list[Path]:
    """Release all of it, then write; nothing is written if one of the files is not there."""
    results = [(report, report.release(data)) for report in REPORTS]
    FOLDER.mkdir(exist_ok=True)
    written = []
    for report, result in results:
        page = to_html(result, report.details)
        path = FOLDER / f"{report.name}.html"
        path.write_text(page, encoding="utf-8")
        written.append(path)
    index = DOCS / "gallery.md"
    index.write_text(
        INTRODUCTION + "".join(_entry(*each) for each in results) + END, encoding="utf-8"
    )
    return [*written, index]


def _entry(report: Report, result: Result) -> str:
    link = f"gallery/{report.name}.html"
    return f"""
- [![The report: {str(report.details.title).lower()}](gallery/{report.name}-light.png)]({link})

    **[{report.details.title}]({link})**

    {report.question} ε = {describe_epsilon(result)}. {report.source}
"""


def describe_epsilon(result: Result) -> str:
    """The privacy loss as promised, and what was spent of it if that is less."""
    assert result.epsilon is not None  # noqa: S101 - all measurements are topgap's own
    promised = format_exact(result.epsilon)
    spent = getattr(result, "spent", result.epsilon)
    return (
        promised
        if spent == result.epsilon
        else f"{promised}, of which {format_exact(spent)} was spent"
    )
