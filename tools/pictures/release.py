"""The picture of the front page: what is secret, and below it what is published of it.

One narrow SVG, so that it is whole on a phone. It has a ground of its own and colours for light
and dark; a browser chooses by the scheme of the page that shows it.
"""

from xml.sax.saxutils import escape

from tools.pictures.example import PAGES, THREE, ranked
from topgap.margins import least_certain_gap

WIDTH, ROW, LEFT = 380, 26, 92
PER_PERSON = 3.4  # of the width, in the upper half
PER_LEAD = 4.6  # in the lower half, whose numbers are smaller

STYLE = """
  svg { --ground: #ffffff; --card: #f3f5f7; --ink: #1d2730; --dim: #566573; --bar: #8d9cab;
        --lead: #d9c3b8; --gap: #a83f10 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #1e2129; --card: #292d38; --ink: #eef1f4; --dim: #aab4bf; --bar: #7a8898;
          --lead: #6a4a3b; --gap: #ff9d6b }
  }
  text { font: 14px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink);
         dominant-baseline: central }
  .kind { font-weight: 700; letter-spacing: .06em }
  .dim { fill: var(--dim); font-size: 13px } .name { text-anchor: end }
  .more { fill: var(--gap); font-weight: 600 } .ground { fill: var(--ground) }
  .card { fill: var(--card) } .bar { fill: var(--bar) } .lead { fill: var(--lead) }
  .gap { fill: var(--gap) } .open { fill: url(#hatch); stroke: var(--gap); stroke-width: 1.5 }
  .line { stroke: var(--gap); stroke-width: 3 }
  .arrow { fill: none; stroke: var(--dim); stroke-width: 2; stroke-linecap: round;
           stroke-linejoin: round }
""".strip("\n")


def draw_release() -> str:
    """The picture as SVG."""
    middle = 54 + ROW * len(PAGES)
    secret, published = 12, middle + 48
    end = published + 54 + ROW * THREE.k + 2 * 22 + 4
    parts = [
        _card(secret, middle - secret, "SECRET", "people per page (made up)"),
        *(line for row, page in enumerate(PAGES)
          for line in _secret_row(secret + 50 + ROW * row, page.name, page.people)),
        f'<path class="arrow" d="M{LEFT} {middle + 9}v28m-7-8l7 8l7-8"/>',
        _text(LEFT + 20, middle + 24, "exact noise, ε = 1", "dim"),
        _card(published, end - published, "PUBLISHED", "three names, three gaps"),
        *_published_rows(published + 50),
        *_legend(published + 50 + ROW * THREE.k),
    ]  # fmt: skip
    body = "\n".join(f"  {part}" for part in parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{end + 12}" \
viewBox="0 0 {WIDTH} {end + 12}">
  <style>
{STYLE}
  </style>
  <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" \
patternTransform="rotate(45)"><path class="line" d="M0 0V6"/></pattern></defs>
  <rect class="ground" width="{WIDTH}" height="{end + 12}" rx="8"/>
{body}
</svg>
"""


def _card(top: float, height: float, kind: str, what: str) -> str:
    return (
        f'<rect class="card" x="8" y="{top}" width="{WIDTH - 16}" height="{height}" rx="10"/>\n  '
        + _text(22, top + 22, kind, "kind")
        + _text(WIDTH - 22, top + 22, what, "dim name")
    )


def _secret_row(y: float, name: str, people: int) -> list[str]:
    end = LEFT + people * PER_PERSON
    return [
        _text(LEFT - 10, y, name, "name"),
        _bar(LEFT, end, y, "bar"),
        _text(end + 8, y, str(people)),
    ]


def _published_rows(y: float) -> list[str]:
    leads = [sum(float(gap) for *_, gap in ranked()[rank:]) for rank in range(THREE.k)]
    parts = []
    for row, ((page, _, gap), lead) in enumerate(zip(ranked(), leads, strict=True)):
        at = y + ROW * row
        certain = gap >= least_certain_gap(THREE)
        end = LEFT + lead * PER_LEAD
        start = end - float(gap) * PER_LEAD
        parts += [
            _text(LEFT - 10, at, f"{row + 1}. {page.name}", "name"),
            _bar(LEFT, start, at, "lead"),
            _bar(start, end, at, "gap" if certain else "open"),
            _text(end + 8, at, f"+{float(gap)}", "more"),
        ]
        if not certain:
            parts.append(_text(end + 48, at, "order uncertain", "dim"))
    return parts


def _legend(y: float) -> list[str]:
    return [
        _bar(LEFT, LEFT + 22, y + 4, "gap", 8),
        _text(LEFT + 30, y + 4, "gap: lead over the next page", "dim"),
        _bar(LEFT, LEFT + 11, y + 26, "lead", 8),
        _bar(LEFT + 11, LEFT + 22, y + 26, "gap", 8),
        _text(LEFT + 30, y + 26, "lead over the pages not named", "dim"),
    ]


def _bar(start: float, end: float, y: float, kind: str, height: int = 16) -> str:
    return (
        f'<rect class="{kind}" x="{start:.1f}" y="{y - height / 2:.1f}" '
        f'width="{end - start:.1f}" height="{height}"/>'
    )


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}>{escape(text)}</text>'
