"""A release says which domain it was of, in every form, and what that means for its items."""

import json
import pickle
from typing import Any

import pytest

from tests.display.sample_releases import VISITS
from topgap import Release, ReleaseError, TopK
from topgap.domains import DomainDescription
from topgap.margins import count_to_stand_out

PARAMETERS = TopK(2, 1, monotonic=True)
CODES = DomainDescription("the texts that match [A-Z][0-9]{2}", 2600)
RELEASE = Release(PARAMETERS, None, [125, 3], ["A10", "B20"], domain=CODES)
UNKNOWN = Release(PARAMETERS, None, [125, 3], ["A10", "B20"])
LISTED = DomainDescription("a list", 3, is_listed=True)


def test_it_is_said_below_every_table() -> None:
    said = [
        "ε = 1, resolution 0.1, sensitivity 1, monotonic",
        "domain: the texts that match [A-Z][0-9]{2} (2,600 items)",
        "An item named here need not occur in the data; one needs a count of about 14 to stand "
        "out.",
    ]
    assert str(RELEASE).splitlines()[3:] == said
    assert RELEASE.to_text().splitlines()[3:] == said
    assert "<br>domain: the texts that match [A-Z][0-9]{2} (2,600 items)<br>" in (
        RELEASE._repr_html_()
    )
    assert "domain" not in str(UNKNOWN)


def test_a_listed_item_is_known_to_be_on_the_list_and_no_more_is_said() -> None:
    release = Release(PARAMETERS, None, [125, 3], ["A10", "B20"], domain=LISTED)
    assert str(release).splitlines()[-1] == "domain: a list (3 items)"


def test_words_cannot_disturb_what_stands_around_them() -> None:
    domain = DomainDescription("two\nlines <b>\u202e", 10**4000)
    release = Release(PARAMETERS, None, None, ["a", "b"], domain=domain)
    line = r"domain: two\nlines <b>\u202e (about 1.0·10^4000 items)"
    assert line in str(release).splitlines()
    assert "<b>" not in release._repr_html_()
    assert Release.from_json(release.to_json()).domain == domain


@pytest.mark.parametrize("domain", [None, CODES, LISTED, DomainDescription("x", 2**4096)])
def test_it_comes_back_as_it_went(domain: DomainDescription | None) -> None:
    release = Release(PARAMETERS, None, [125, 3], ["A10", "B20"], domain=domain)
    read = Release.from_json(release.to_json())
    copies = [read, pickle.loads(pickle.dumps(release)), Release.from_dict(release.to_dict())]  # noqa: S301
    for copy in [*copies, release.with_items(["A10", "B20"])]:
        assert copy == release
        assert copy.domain == domain
    assert (release == UNKNOWN) == (domain is None)
    fast = Release.from_mechanism(
        PARAMETERS, None, [125, 3], ["A10", "B20"], domain=domain
    )  # of a run: without positions
    assert fast == release
    with pytest.raises(ReleaseError, match="no positions"):
        _ = fast.indices


def test_json_has_the_words_and_the_exact_size() -> None:
    release = Release(PARAMETERS, None, None, ["a", "b"], domain=DomainDescription("x", 2**70))
    assert json.loads(release.to_json())["domain"] == {
        "description": "x",
        "size": "1180591620717411303424",
    }
    assert "domain" not in UNKNOWN.to_dict()


@pytest.mark.parametrize(
    "domain",
    [None, "x", {}, {"description": "x"}, {"description": "x", "size": 3}, {"size": "3"},
     {"description": "x", "size": "03"}, {"description": "x", "size": "-3"},
     {"description": "x", "size": "٣"}, {"description": "x", "size": "9" * 5000},
     {"description": 3, "size": "3"}, {"description": "x", "size": "3", "listed": 1},
     {"description": "x", "size": "3", "more": 1}, {"description": "x", "size": "2"}],
)  # fmt: skip
def test_what_is_no_description_is_refused(domain: Any) -> None:
    with pytest.raises(ReleaseError, match=r"^This is not a release: .*\.$"):
        Release.from_json(json.dumps({**RELEASE.to_dict(), "domain": domain}))


@pytest.mark.parametrize("domain", ["x", 5, DomainDescription("x", 2)])
def test_what_cannot_have_been_the_domain_is_refused(domain: Any) -> None:
    with pytest.raises(ReleaseError, match=r"^This is not a release: .*domain.*\.$"):
        Release(PARAMETERS, None, None, ["a", "b"], domain=domain)


def test_frames_have_a_row_that_says_it() -> None:
    line = "the texts that match [A-Z][0-9]{2} (2,600 items)"
    row = {"item": "A10", "gap": 12.5, "gap_units": 125, "domain": line}
    assert RELEASE.to_pandas().to_dict("records")[0] == row
    assert RELEASE.to_polars().to_dicts()[0] == row
    assert RELEASE.to_arrow().to_pylist()[0] == row
    listed = Release(PARAMETERS, None, [125, 3], ["A10", "B20"], domain=LISTED)
    assert [*listed.to_pandas().columns] == ["item", "gap", "gap_units"]  # as without a domain


def test_the_count_that_stands_out_is_that_of_the_design() -> None:
    parameters = TopK(10, 1, monotonic=True)
    assert round(count_to_stand_out(parameters, 10**12)) == 253
    assert round(count_to_stand_out(TopK(10, 1), 10**12)) == 507  # twice the noise
    assert round(count_to_stand_out(parameters, 10**4000)) == 92_080
    assert count_to_stand_out(parameters, 10) == 0
    assert "about 80 to stand out" in str(VISITS)
