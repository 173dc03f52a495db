"""Results of attacks, as text and as JSON."""

import json
from collections.abc import Sequence
from fractions import Fraction

from topgap.auditing.attacks.game import AttackResult
from topgap.auditing.probability.directed_rounding import format_share_down, format_share_up
from topgap.auditing.results.audit import WIDTH, wrap_notes
from topgap.display.text import format_text_table
from topgap.numbers.format import format_short

FORMAT = "topgap.attack/1"
_RANGE = "confidence range"
_HEAD = ["attack", "on", "ε", "releases", "guesses", "right", _RANGE, "allowed", "verdict"]


def to_text(results: Sequence[AttackResult], failure: Fraction, *, width: int = WIDTH) -> str:
    """Format a table with a line for each attack on each target, and notes.

    Args:
        results: What the attacks showed.
        failure: The largest probability that any of the confidence ranges is wrong.
        width: The longest line of the notes.
    """
    notes = [
        *dict.fromkeys(f"{each.name}: {each.what}" for each in results),
        "A coin picks one of two data sets that differ by one person, and an observer guesses "
        "from the release which it was, or passes.",
        "allowed: the share of right guesses that ε allows in the long run; a coin gets 50%.",
        f"{_RANGE}: of the probability that a guess is right; the probability that one of these "
        f"ranges is wrong is at most {float(failure):.2g}.",
        conclusion(results),
    ]
    table = format_text_table(_HEAD, [*map(_row, results)], left=(0, 1, 8))
    return "\n".join([table, "", *wrap_notes(notes, width)])


def conclusion(results: Sequence[AttackResult]) -> str:
    """The conclusion: whether all attacks had the expected result."""
    expected = all(each.as_expected for each in results)
    return "All results are as expected." if expected else "NOT ALL RESULTS ARE AS EXPECTED."


def to_json(results: Sequence[AttackResult], failure: Fraction) -> str:
    """Format the results as JSON, with all counts."""
    content = {
        "format": FORMAT,
        "as_expected": all(each.as_expected for each in results),
        "failure": str(failure),
        "attacks": [each.to_dict() for each in results],
    }
    return json.dumps(content, ensure_ascii=False, indent=2)


def _row(result: AttackResult) -> list[str]:
    share = result.share
    return [
        result.name,
        result.target,
        format_short(result.epsilon, 8),
        f"{result.releases:,}",
        f"{result.guesses:,}",
        "–" if share is None else f"{share:.2%}",
        f"{format_share_down(result.lower)} to {format_share_up(result.upper)}",
        f"{result.allowed:.2%}",
        _verdict(result),
    ]


def _verdict(result: AttackResult) -> str:
    said = "gives people away" if result.exceeded else "no more than allowed"
    return said if result.as_expected else f"{said}: NOT AS EXPECTED"
