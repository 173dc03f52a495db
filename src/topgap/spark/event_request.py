"""What a caller of `topgap.spark.top_k_events` says of the events: `EventRequest`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from topgap.domains import FromData
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import NO_CHARGE, LedgerLike, resolve_neighbours
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import Neighbours, TopK
from topgap.selection.check import Check
from topgap.spark.counted import Counted, plan_events
from topgap.spark.groups import check_columns
from topgap.spark.list_files import describe_path, read_groups, read_items
from topgap.spark.release_parameters import ReleaseParameters, Result


class EventRequest(NamedTuple):
    """What a caller says of the events, as given; see `topgap.spark.top_k_events`."""

    source: Any
    person: str
    item: str | Sequence[str]
    domain: Any
    by: str | Sequence[str] | None
    groups: Any
    groups_per_person: int
    together: int | None

    def describe(self) -> dict[str, Any]:
        """What the ledger notes of them: names of columns, and paths without passwords."""
        noted = {
            "person": self.person,
            "item": self.item,
            "domain": describe_path(self.domain),
            "domain_from_data": isinstance(self.domain, FromData) or None,
            "by": self.by,
            "groups": describe_path(self.groups),
            "together": self.together,
        }
        return {name: value for name, value in noted.items() if value is not None}

    def release(
        self,
        name: str,
        k: int | None,
        epsilon: "Number",
        neighbours: Neighbours | None,
        selection_share: "Number | None",
        ledger: "LedgerLike | None",
        dataset: str | None,
        *,
        check: bool,
        gaps: bool = True,
        **more: Any,
    ) -> Result | Check:
        """Release, or describe what would be released.

        Raises:
            TopgapError: As of `topgap.spark.top_k_events`.
        """
        check = read_flag(check, "check")
        columns = check_columns(self.by, self.groups, self.groups_per_person)
        relation = resolve_neighbours(neighbours, ledger, dataset)
        parameters = ReleaseParameters.of(
            k, epsilon, columns, self.groups_per_person, selection_share, gaps=gaps,
            monotonic=relation == "add-remove", **more,
        )  # fmt: skip
        domain = read_items(self.domain, self.source, self.item)
        groups = read_groups(self.groups, self.source, self.by)
        if columns is not None:
            columns = columns._replace(groups=groups)
        pending = parameters.prepare_charge(
            ledger, dataset, name, neighbours=relation, **self.describe()
        )

        # What a threshold leaves does not say how many items there are.
        count_domain = not check and (
            pending is not NO_CHARGE or parameters.each.threshold is not None
        )

        def plan(selection: TopK | TopKByGroup) -> Counted:
            return plan_events(
                self.source, columns, selection, person=self.person, item=self.item, domain=domain,
                together=self.together, count_domain=count_domain,
            )  # fmt: skip

        return parameters.check(plan, pending) if check else parameters.release(plan, pending)
