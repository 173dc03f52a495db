"""Releases to show: an everyday one, and those that are hardest to show."""

from topgap import Release, TopK
from topgap.domains import DomainDescription

EVERYDAY = Release(
    TopK(10, "1/2", monotonic=True),
    None,
    [1658, 1394, 759, 11, 1307, 842, 93, 688, 1120, 415],
    ["High blood pressure", "High cholesterol", "Back pain", "Type 2 diabetes", "Anxiety",
     "Asthma", "Depression", "Migraine", "Arthritis", "Hypothyroidism"],
)  # fmt: skip
"""Noise of mean 20: gaps below 59.9 are uncertain, that is the fourth, the seventh and the last."""
UNCERTAIN = [3, 6, 9]

ATTACK = "</script><script>document.title = 'attacked'</script><img src=x onerror=alert(1)>"
HOSTILE = Release(
    TopK(8, 1),
    None,
    [500, 3, 0, 400, 70, 2, 600, 40],
    [ATTACK, "x" * 300, "שלום עולם", "🦠 two\nlines", "日本", "${rows} $title $", "<!--<script>",
     "&lt;b&gt;\u2028\u202e\ud800\x00"],
)  # fmt: skip

VISITS = Release(
    TopK(3, 1, monotonic=True),
    None,
    [2400, 310, 80],
    [("Germany", "/start"), ("France", "/search?a, b"), ("Côte d’Ivoire", '/"')],
    domain=DomainDescription("a list; with the texts that match /[ -~]{1,20}", 10**12),
)
"""Of a domain that is drawn as a run: a count of 80 stands out."""
_ATTACKED = DomainDescription(f"the texts that match {ATTACK}{'x' * 300}\u202e$rows", 2**4096)

SHOWN = {
    "everyday": EVERYDAY,
    "hostile": HOSTILE,
    "tuples": VISITS,
    "a hostile domain": Release(TopK(1, 1), None, [500], [(ATTACK, (1, ATTACK))], domain=_ATTACKED),
    "a single one": Release(TopK(1, "1/3"), None, [300], ["flu"]),
    "positions": Release(TopK(2, 1, resolution="1/3"), [4, 0], [37, 100]),
    "without gaps": Release(TopK(3, 1), None, None, ["flu", "cold", None]),
    "all gaps zero": Release(TopK(3, "1/7"), [3, 9, 1], [0, 0, 0]),
    "gigantic": Release(TopK(3, 10**30), [3, 9, 1], [10**400, 10**399, 2**70]),
    "a thousand": Release(TopK(1000, 1, monotonic=True), range(1000), [*range(0, 70_000, 70)]),
}
