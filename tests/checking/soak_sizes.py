"""How much of crashes and signals is tried: a little in `make verify`, much more in `make soak`."""

import os

IS_SOAK = os.environ.get("TOPGAP_SOAK") == "1"

KILLS = 20_000 if IS_SOAK else 1_000
KILLING_SECONDS = 600
"""When so many have passed, no more is killed beyond the first 1,000."""
INTERRUPTS = 300_000 if IS_SOAK else 3_000
WRITERS_CHARGES = 20 if IS_SOAK else 3
HISTORIES = (2, 40, 150) if IS_SOAK else (2,)
PARTS_OF_A_RELEASE = ("charge", "record") if IS_SOAK else ()  # `top_k` does both
POWER_CHARGES = 15 if IS_SOAK else 4
POWER_DRAWN = 40 if IS_SOAK else 10
POWER_RECOVERIES = 30 if IS_SOAK else 25
SIGNALLED = 500 if IS_SOAK else 8
