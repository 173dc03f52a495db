"""One call from a table of anything to a release."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import topgap
from tests.fuzz import hostile_parameters
from tests.fuzz.judge import Judge
from tests.fuzz.sources import COUNTING, open_drawn, sources
from tests.fuzz.well_formed import is_estimates, is_release
from topgap import Check, Estimates, Release
from topgap.errors import AnswersError, ParameterTypeError

RELEASING = (*COUNTING, AnswersError, ParameterTypeError)


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """A source, and what is asked of it."""
    given = draw(sources())
    columns = draw(st.sampled_from([given["columns"]] * 5 + [(None, None), (None, "what")]))
    more = {
        "neighbours": st.sampled_from(["add-remove", "replace", None, "both", 1]),
        "items_per_person": st.sampled_from([1, 2, None, 0, "1"]),
        "threshold": st.sampled_from([None, 0, 5, "x"]),
        "by": st.sampled_from(["who", "what", "x", None, []]),
        "groups": st.sampled_from([["flu", "7"], range(3), None, [], 7]),
        "groups_per_person": st.sampled_from([1, 2, 0, None]),
        "check": hostile_parameters.FLAGS,
    }
    parameters = {name: given["parameters"].get(name) for name in ("k", "epsilon")}
    chosen = draw(st.fixed_dictionaries({}, optional=more))
    return {**given, "columns": columns, "parameters": parameters, "more": chosen}


def fuzz_events(given: dict[str, Any], call: Judge) -> None:
    """Count and release, with estimates and without."""
    person, item = given["columns"]
    asked = {**given["parameters"], **given["how"], **given["more"], "together": given["together"]}
    with tempfile.TemporaryDirectory() as folder:
        domain = Path(folder, "x.txt") if given["domain"] == "x.txt" else given["domain"]
        asked |= {"person": person, "item": item, "domain": domain}
        made = call(
            "topgap.top_k_events", RELEASING, topgap.top_k_events, open_drawn(given, folder),
            **asked, gaps=given["gaps"],
        )  # fmt: skip
        if isinstance(made, Release):
            is_release(made, gaps=bool(given["gaps"]))
        measured = call(
            "topgap.top_k_events_with_estimates", RELEASING, topgap.top_k_events_with_estimates,
            open_drawn(given, folder),
            **{name: value for name, value in asked.items() if name != "threshold"},
            selection_share=given["share"],
        )  # fmt: skip
        if isinstance(measured, Estimates):
            is_estimates(measured, given["parameters"]["k"])
        are_checks = [isinstance(each, Check) for each in (made, measured)]
        assert not any(are_checks) or given["more"]["check"]
