"""How much of the ledger's crashes is tried: a little in `make test`, much more in `make soak`."""

import os

IS_SOAK = os.environ.get("TOPGAP_SOAK") == "1"

KILLS = 20_000 if IS_SOAK else 1_000
WRITERS_CHARGES = 40 if IS_SOAK else 3
HISTORIES = (2, 40, 300) if IS_SOAK else (2,)
POWER_CHARGES = 40 if IS_SOAK else 4
POWER_DRAWN = 200 if IS_SOAK else 10
POWER_RECOVERIES = 200 if IS_SOAK else 25
