"""The result of an audit, `Audit`, as text, as JSON and as a plot."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from topgap.auditing.probability.directed_rounding import format_lower_bound
from topgap.auditing.results.findings import MechanismAudit
from topgap.auditing.results.plot import plot
from topgap.auditing.results.verdicts import conclude, count_private_releases, describe_verdict
from topgap.display.html_table import format_html_note, format_html_table
from topgap.display.text import format_text_table
from topgap.numbers.format import format_short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "topgap.audit/1"
WIDTH = 100
"""The longest line of the notes, unless a terminal is narrower."""
_NARROWEST = 20
_LONGEST = 8  # characters of an ε in the table
_HEAD = ["audited", "releases", "law", "ε promised", "ε shown", "of promised", "verdict"]


@dataclass(frozen=True, repr=False)
class Audit:
    """What `topgap.audit` found.

    Attributes:
        mechanisms: What was found of each mechanism.
        failure: The largest probability of a false positive, over the whole audit.
        tails: The number of equal parts that it was divided into: one for each binomial tail, of a
            probability of the law or of a bound of ε.
    """

    mechanisms: tuple[MechanismAudit, ...]
    failure: Fraction
    tails: int

    @property
    def as_expected(self) -> bool:
        """Whether private mechanisms have no violation, and broken ones were all found."""
        return all(each.as_expected for each in self.mechanisms)

    @property
    def releases(self) -> int:
        """The total number of releases."""
        return sum(each.releases for each in self.mechanisms)

    @property
    def conclusion(self) -> str:
        """The conclusion, in a sentence or two."""
        return " ".join(conclude(self.mechanisms))

    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict: all bounds and events, exact numbers as text."""
        return {
            "format": FORMAT,
            "as_expected": self.as_expected,
            "conclusion": self.conclusion,
            "releases": self.releases,
            "releases_of_what_must_be_private": count_private_releases(self.mechanisms),
            "failure": str(self.failure),
            "tails": self.tails,
            "mechanisms": [each.to_dict() for each in self.mechanisms],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """The dict of `to_dict` as JSON.

        Args:
            indent: Spaces by which inner lines are indented; None for a single line.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the lower bounds of ε as multiples of the promised ε.

        Args:
            ax: Matplotlib axes to draw on. Default: new ones in a new figure.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        return plot(self.mechanisms, ax)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """A table with a line for each mechanism, and notes.

        Args:
            width: The longest line of the notes.
        """
        table = format_text_table(_HEAD, self._rows(), left=(0, 2, 6))
        return "\n".join([table, "", *wrap_notes(self._notes(), width)])

    def _repr_html_(self) -> str:
        return format_html_table(_HEAD, self._rows()) + format_html_note([*self._notes()])

    def _rows(self) -> list[list[str]]:
        return [_row(each) for each in self.mechanisms]

    def _notes(self) -> list[str]:
        """What the table means, the evidence against private mechanisms, and the conclusion."""
        of_gaps = (
            ", with each gap and all gaps in ranges, and the last three bits of large gaps"
            if any(each.gaps for each in self.mechanisms)
            else ""
        )
        of_values = (
            "; for Laplace noise, with each value, and all values and the last gap, in ranges, and "
            "the last three bits of values"
            if any(each.values for each in self.mechanisms)
            else ""
        )
        of_winners = (
            " With a threshold, outputs with fewer than k items promise less than ε: their stated "
            "cost."
            if any(each.threshold for each in self.mechanisms)
            else ""
        )
        law = [
            f"law: were items named as often as their exact probability says{of_gaps}{of_values}? "
            '"kept" means that no frequency was too high or too low on any data set.'
        ]
        rest = ["Where the law takes too long to compute, only impossible results were looked for."]
        against = [
            f"{each.name}: {sentence}"
            for each in self.mechanisms
            if each.should_be == "private"
            for sentence in each.evidence()
        ]
        return [
            *(law if any(each.laws for each in self.mechanisms) else []),
            *(rest if any(each.law_compared[1] for each in self.mechanisms) else []),
            "ε shown: a lower bound on the privacy loss, in the case that comes nearest to its "
            f"promise. More than 100% is a violation; less proves nothing.{of_winners}",
            f"The false-positive probability of the audit is at most {float(self.failure):.2g}: "
            f"{float(self.failure / self.tails):.2g} for each of {self.tails:,} tests.",
            *against,
            *conclude(self.mechanisms),
        ]

    def __repr__(self) -> str:
        verdict = "as expected" if self.as_expected else "not as expected"
        return f"<Audit of {self.releases:,} releases: {verdict}>"


def _row(found: MechanismAudit) -> list[str]:
    least, most = (format_short(each, _LONGEST) for each in found.promised)
    best = found.strongest_bound
    return [
        found.name,
        f"{found.releases:,}",
        found.law_status,
        least if least == most else f"{least} to {most}",
        f"≥ {format_lower_bound(best.epsilon)} of {format_short(best.promised, _LONGEST)}",
        format_share(best.share),
        describe_verdict(found),
    ]


def wrap_notes(notes: Iterable[str], width: int = WIDTH) -> list[str]:
    """Wrap the notes to this width."""
    return [line for note in notes for line in _lines(note, width)]


def _lines(note: str, width: int) -> list[str]:
    return wrap(note, max(width, _NARROWEST), subsequent_indent="  ", break_on_hyphens=False)


def format_share(share: float) -> str:
    """Format a share of the promised ε in percent, rounded down; more than 1 never looks like 100%.

    >>> [format_share(share) for share in (0.9999, 1.001, 1.019, 31.25, 1e7)]
    ['99%', '>100%', '101%', '3,125%', '>9,999%']
    """
    if share >= 100:
        return ">9,999%"
    whole = int(100 * Fraction(share))
    return f"{'>' * (share > 1 and whole == 100)}{whole:,}%"
