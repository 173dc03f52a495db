"""From a table of events to a release in one call: count, charge, draw. Internal.

    top_k_events                   the items that most persons have, and the gaps between them
    top_k_events_with_estimates    the same, and how many persons have each

`EventTable` counts, a `Mechanism` or `GroupedMechanism` draws, and `count_and_release` keeps the
order in which data are read, a ledger is charged, and noise is drawn. The command `topgap release`
goes the same way.
"""
