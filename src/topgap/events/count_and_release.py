"""The order in which data are read, a ledger is charged, and noise is drawn."""

from collections.abc import Callable

from topgap.events.event_table import EventTable, Result
from topgap.events.grouped_mechanism import GroupedMechanism
from topgap.events.mechanism import Mechanism
from topgap.ledger.charging import NO_CHARGE, PendingCharge
from topgap.selection.check import Check


def count_and_release(
    table: EventTable,
    mechanism: Mechanism | GroupedMechanism,
    pending: PendingCharge,
    *,
    after_counting: Callable[[], None] = lambda: None,
    before_release: Callable[[], None] = lambda: None,
) -> Result:
    """Count a table, charge, and draw.

    Whatever can go wrong with a table goes wrong before the charge. Whether a query fails as it
    runs is an answer to it, and so it is charged before it runs; whether it can be run, and whether
    the source can be read, is not.

    Args:
        table: What is counted.
        mechanism: What is drawn.
        pending: The charge.
        after_counting: A function that is called when all is counted.
        before_release: A function that is called right before the charge.

    Raises:
        TopgapError: Something cannot be used, read, charged or drawn.
    """
    if table.groups is not None:
        pending.note_groups(table.groups.size)
    if not table.has_query:
        # What was counted may be read again as it is drawn: after the charge, only a disk that
        # fails then, or too little memory, can leave it without a release.
        with table.prepare(mechanism) as counted:
            after_counting()
            before_release()
            return pending.charge_then_run(counted.draw)
    if pending is not NO_CHARGE:
        table.check_query()
    before_release()

    def count_and_draw() -> Result:
        with table.prepare(mechanism) as counted:
            after_counting()
            return counted.draw()

    return pending.charge_then_run(count_and_draw)


def count_and_check(
    table: EventTable, mechanism: Mechanism | GroupedMechanism, pending: PendingCharge
) -> Check:
    """Count a table, and describe what would be released; nothing is drawn or charged."""
    groups = {} if table.groups is None else {"groups": table.groups.size}
    with table.prepare(mechanism) as counted:
        return mechanism.describe_check(
            counted.items, counted.occurring(), pending,
            domain_from_data=table.domain_from_data, **groups,
        )  # fmt: skip
