"""What walks selectors and monitors, and keeps for a module what it found of their draws."""

import pytest

from tests.checking.walks import DrawWalker


@pytest.fixture(scope="module")
def walker() -> DrawWalker:
    return DrawWalker()
