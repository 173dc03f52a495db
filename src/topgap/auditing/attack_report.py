"""What attacks showed, as text and as JSON."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topgap.auditing.value import short
from topgap.grid import as_text

if TYPE_CHECKING:
    from topgap.auditing.attacks import AttackResult

FORMAT = "topgap.attack/1"
_HEAD = ["attack", "on", "ε", "guesses right", "allowed", "verdict"]


def to_text(results: "Sequence[AttackResult]", failure: Fraction) -> str:
    """A table with a line for each attack on each target, and what it means."""
    rows = [
        [
            each.name,
            each.target,
            short(Fraction(each.epsilon)),
            f"{100 * each.guesses_right:.2f}%",
            f"{100 * each.allowed:.2f}%",
            _verdict(each),
        ]
        for each in results
    ]
    expected = all(each.as_expected for each in results)
    return "\n".join(
        [
            as_text(_HEAD, rows, left=(0, 1, 5)),
            "",
            *dict.fromkeys(f"{each.name}: {each.what}" for each in results),
            "allowed: ε promises that nobody guesses right more often than that, in the long run; "
            "tossing a coin makes 50%.",
            f"A verdict is wrong with probability at most {float(failure):.2g} in all.",
            "All is as it should be." if expected else "NOT ALL IS AS IT SHOULD BE.",
        ]
    )


def to_json(results: "Sequence[AttackResult]", failure: Fraction) -> str:
    """The same as JSON."""
    return json.dumps(to_dict(results, failure), ensure_ascii=False, indent=2)


def to_dict(results: "Sequence[AttackResult]", failure: Fraction) -> dict[str, Any]:
    """The same in a dict."""
    return {
        "format": FORMAT,
        "as_expected": all(each.as_expected for each in results),
        "failure": str(failure),
        "attacks": [
            {
                "name": each.name,
                "what": each.what,
                "target": each.target,
                "epsilon": str(each.epsilon),
                "guesses_right": float(each.guesses_right),
                "allowed": float(each.allowed),
                "as_expected": each.as_expected,
            }
            for each in results
        ],
    }


def _verdict(result: "AttackResult") -> str:
    more = result.guesses_right > result.allowed
    said = "gives people away" if more else "keeps its promise"
    return said if result.as_expected else f"{said}: NOT AS EXPECTED"
