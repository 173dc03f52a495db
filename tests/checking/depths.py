"""How far a walk goes: moderately in `make test`, and as far as it is worth in `make verify`."""

import pytest

MODERATE, DEEP = "moderate", "deep"
DEPTHS = (MODERATE, pytest.param(DEEP, marks=pytest.mark.deep))
