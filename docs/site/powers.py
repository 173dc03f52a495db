"""A hook of MkDocs: powers are typeset, and stay readable in the tree.

What a page writes as e^ε, e^(−ρx) or 10^12, outside of code, becomes a superscript. Docstrings and
notebooks pass through the same Markdown, so it holds for the whole site.
"""

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

_NESTED = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))+"
_SIZE = r"\|[^|\s]+\||⌈[^⌉]+⌉|⌊[^⌋]+⌋"
_PLAIN = rf"[-−+]?(?:\d+(?:[.,]\d+)*|[^\W\d_]\w*(?:\([^()\s]+\)|{_SIZE})?|{_SIZE})"
POWER = re.compile(rf"(?<=[^\W_]|[)\]′])\^(?:\((?P<inner>{_NESTED})\)|(?P<plain>{_PLAIN}))")
"""A caret after a letter, digit or closing bracket, and its exponent: in brackets, or one word,
which may have an argument, as in e^−ρ(g+1)."""

AFTER_EMPHASIS = 55  # so that code, links and emphasis are found first, and their text is typeset


class _Powers(InlineProcessor):
    def handleMatch(  # type: ignore[override]  # noqa: N802, for Markdown calls it so
        self,
        m: re.Match[str],
        data: str,  # noqa: ARG002
    ) -> tuple[ElementTree.Element, int, int]:
        return _superscript(m), m.start(0), m.end(0)


def _superscript(power: re.Match[str]) -> ElementTree.Element:
    """The exponent as an element, with the powers in it."""
    text = re.sub(r"(?<!\w)-", "−", power["inner"] or power["plain"])
    inner = [*POWER.finditer(text)]
    starts, ends = [each.start() for each in inner], [each.end() for each in inner]
    first, *tails = (
        text[end:start] for end, start in zip([0, *ends], [*starts, None], strict=True)
    )
    element = ElementTree.Element("sup")
    element.text = first
    for each, tail in zip(inner, tails, strict=True):
        element.append(_superscript(each))
        element[-1].tail = tail
    return element


class Powers(Extension):
    """Markdown with powers.

    >>> convert = Markdown(extensions=[Powers()]).convert
    >>> convert("e^−ρ(g+1)·M^t(Y − X)")
    '<p>e<sup>−ρ(g+1)</sup>·M<sup>t</sup>(Y − X)</p>'
    >>> convert("As *e^−3*: e^(−(2 + 1)), 10^1,000 and 2^(−2^b), but not `2^3`.")
    '<p>As <em>e<sup>−3</sup></em>: e<sup>−(2 + 1)</sup>, 10<sup>1,000</sup> and \
2<sup>−2<sup>b</sup></sup>, but not <code>2^3</code>.</p>'
    """

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802, for Markdown calls it so
        """Add the pattern."""
        md.inlinePatterns.register(_Powers(POWER.pattern, md), "power", AFTER_EMPHASIS)


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """Let every page, and every docstring, have powers."""
    config.markdown_extensions.append(Powers())  # type: ignore[arg-type]  # which Markdown takes
    return config
