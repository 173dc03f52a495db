"""Random patterns of a small grammar, which Rust, Python and interegular read alike."""

from random import Random

ALPHABET = "ab1é"
_SINGLE: list[str] = [*ALPHABET, "[ab]", "[a-b1]", "[1é]", "[abé]"]
_TIMES = ["?", "{2}", "{1,2}", "{0,2}", "{1,3}"]
_ENDLESS = ["*", "+", "{2,}"]


def make_pattern(random: Random, *, depth: int = 3, endless: bool = False) -> str:
    """A pattern, of any length if `endless`; the empty text may match."""
    form = random.randrange(5) if depth else 0
    if form == 0:
        return random.choice(_SINGLE)
    inner = [make_pattern(random, depth=depth - 1, endless=endless) for _ in range(2)]
    if form in (1, 2):
        return "".join(inner)
    if form == 3:
        return f"(?:{inner[0]}|{inner[1]})"
    return f"(?:{inner[0]}){random.choice([*_TIMES, *(_ENDLESS if endless else [])])}"
