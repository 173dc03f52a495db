"""Attacks on the last bits of a gap: on floats, on floats with rounded gaps, and on topgap."""

from topgap.auditing.attacks.game import FLOATS, ROUNDED, TARGETS, TOPGAP, AttackResult
from topgap.auditing.attacks.last_bits import ATTACKS
from topgap.auditing.attacks.series import attack, least_releases

__all__ = [
    "ATTACKS",
    "FLOATS",
    "ROUNDED",
    "TARGETS",
    "TOPGAP",
    "AttackResult",
    "attack",
    "least_releases",
]
