"""`make_top_k` and `then_top_k`: an OpenDP Measurement that names the k largest answers."""

from collections.abc import Iterator, Sized
from functools import partial
from typing import Any

from opendp.measurements import make_user_measurement
from opendp.measures import max_divergence
from opendp.mod import (
    Domain,
    Measure,
    Measurement,
    Metric,
    OpenDPException,
    _PartialConstructor,
    assert_features,
)

from topgap.domains import FromData
from topgap.errors import DomainError, ItemsError, ParameterError, ParameterTypeError
from topgap.numbers.parse import Number, read_flag, read_parameter, read_whole
from topgap.opendp.domains import DomainInfo, read_domain
from topgap.opendp.privacy_map import MetricInfo, PrivacyMap, read_metric
from topgap.parameters import NoiseKind, TopK
from topgap.release import Release
from topgap.selection.answers import check_enough
from topgap.selection.item_names import check_names, to_list
from topgap.selection.mechanism import select
from topgap.selection.participants import find_participants


def make_top_k(
    input_domain: Domain,
    input_metric: Metric,
    output_measure: Measure,
    k: int | None,
    scale: "Number",
    *,
    noise: NoiseKind = "exponential",
    threshold: "Number | None" = None,
    resolution: "Number | None" = None,
    gaps: bool = True,
    items: object = None,
    domain: object = None,
) -> Measurement:
    """Make an OpenDP Measurement: the k largest answers, and the gap from each to the next.

    The arguments are those of OpenDP's own `make_noisy_top_k`. The output is a `Release`, whose
    `epsilon` covers inputs at a distance of 1, or (1, 1, 1); what a chain or a composition costs,
    its own `map` says. What is wrong with the answers, as when there are too few, comes out as an
    OpenDPException with topgap's sentence in it.

    Args:
        input_domain: `vector_domain` or `map_domain` of integers, or of floats without NaN; or a
            `user_domain` of dicts, for keys that no `map_domain` has, such as tuples.
        input_metric: `linf_distance`, with `monotonic=True` if no answer rises while another falls;
            `l1_distance`; or `l01inf_distance` of `absolute_distance`. Vectors of different lengths
            are infinitely far apart, so how many answers there are is no secret.
        output_measure: `max_divergence()`.
        k: How many winners are named; less than the number of answers. With a threshold the most,
            and with Laplace noise None for all that reach it.
        scale: The mean β of exponential noise. At a distance of d the loss is k·d/β, d being
            rounded up to a multiple of the resolution, and twice that by `linf_distance` unless it
            is monotonic; by the other metrics a step of the resolution comes on top for floats and
            for a `user_domain`. Or the scale β of Laplace noise, with which the loss is d/β for the
            l1 distance d, whatever k is. This, the threshold and the resolution may be an int,
            Fraction, Decimal, string such as `"1/3"`, or a float, which means its shortest decimal.
        noise: "exponential"; or "laplace", discrete Laplace noise on every answer, with which the
            noisy answers of the winners are released, too. It needs a metric that bounds how far
            all answers move together: `l1_distance` of integers, or `l01inf_distance`.
        threshold: Only items above this public number are named; see `topgap.TopK`. With Laplace
            noise these are the items whose noisy answers reach it. The map stays as it is. With
            exponential noise the `spent` of a release is what this one output cost at a distance of
            1.
        resolution: Gaps are multiples of this; one divided by an integer. A tenth unless given, and
            1 with Laplace noise on integers.
        gaps: Whether the gaps, and with Laplace noise the noisy answers, are released; they cost no
            privacy.
        items: The names of a vector's positions, distinct and known to everyone. With a map, the
            same as a list by `domain`.
        domain: The public items of a map, more than k, or with a threshold one or more: a
            `topgap.Domain` of any kind, or a list. Exactly its members take part, those that have
            no key with 0; other keys are left out.

    Raises:
        ParameterError, ParameterTypeError: An argument cannot be used, or OpenDP's features are not
            enabled; the sentence says what to do.
        ItemsError: The items cannot be used, or no key can equal them, or a map comes without any.
        DomainError: The domain is not a list or rule of enough items, or comes with a vector.
        AnswersError: There are too few answers.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)
    >>> measurement = make_top_k(*space, dp.max_divergence(), k=2, scale=4)
    >>> measurement([10**9, 0, 10**6]).items
    (0, 2)
    >>> measurement.map(1)
    0.5
    >>> space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    >>> noisy = make_top_k(*space, dp.max_divergence(), k=2, scale=4, noise="laplace")
    >>> noisy.map(1)   # whatever k is
    0.25
    """
    _require_features()
    holding = read_domain(input_domain)
    closeness = read_metric(input_metric)
    if not isinstance(output_measure, Measure):
        raise ParameterTypeError(
            f"output_measure must be a measure of OpenDP: max_divergence(), "
            f"not {type(output_measure).__name__}."
        )
    if output_measure != max_divergence():
        raise ParameterError(
            "output_measure must be max_divergence(); "
            "OpenDP's combinators convert the measurement to others."
        )
    parameters = _read_parameters(k, scale, noise, threshold, resolution, holding, closeness)
    gaps = read_flag(gaps, "gaps")
    release: Any
    if holding.keys is None:
        if domain is not None:
            raise DomainError(
                "A vector names no items, so no domain can be given with it; give a map_domain, or "
                "name the positions by items=."
            )
        release = partial(
            _release_vector, parameters, _read_items(items, holding, parameters), gaps=gaps
        )
    else:
        members = _read_members(items, domain, holding, parameters)
        release = partial(_release_map, parameters, members, gaps=gaps)
    return make_user_measurement(
        input_domain,
        input_metric,
        output_measure,
        release,
        PrivacyMap(parameters, closeness, holding.whole),
    )


def then_top_k(
    output_measure: Measure,
    k: int | None,
    scale: "Number",
    *,
    noise: NoiseKind = "exponential",
    threshold: "Number | None" = None,
    resolution: "Number | None" = None,
    gaps: bool = True,
    items: object = None,
    domain: object = None,
) -> Any:
    """What `make_top_k` makes, for the domain and the metric of what stands before it.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> count = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
    >>> measurement = count >> then_top_k(dp.max_divergence(), 1, 2, domain=["ash", "elm", "oak"])
    >>> measurement(["oak"] * 10**3).items, measurement.map(1)
    (('oak',), 0.5)
    """
    if isinstance(items, Iterator):  # which can be read once, and this may be used often
        items = [*items]
    if isinstance(domain, Iterator):
        domain = [*domain]
    return _PartialConstructor(  # type: ignore[no-untyped-call]
        lambda input_domain, input_metric: make_top_k(
            input_domain,
            input_metric,
            output_measure,
            k,
            scale,
            noise=noise,
            threshold=threshold,
            resolution=resolution,
            gaps=gaps,
            items=items,
            domain=domain,
        )
    )


def _release_vector(
    parameters: TopK, names: tuple[Any, ...] | None, answers: Any, *, gaps: bool
) -> Release:
    return select(parameters, answers, names, gaps=gaps)


def _release_map(parameters: TopK, members: object, answers: Any, *, gaps: bool) -> Release:
    return select(parameters, answers, domain=members, gaps=gaps)


def _read_parameters(
    k: int | None,
    scale: "Number",
    noise: Any,
    threshold: "Number | None",
    resolution: "Number | None",
    holding: DomainInfo,
    closeness: MetricInfo,
) -> TopK:
    """The parameters with this scale, whose ε covers inputs at a distance of 1, or (1, 1, 1).

    Raises:
        ParameterError, ParameterTypeError: One cannot be used, or Laplace noise by this metric.
    """
    beta = read_parameter(scale, "scale")
    if type(noise) is not str:
        raise ParameterTypeError(
            f"noise must be 'exponential' or 'laplace', not {type(noise).__name__}."
        )
    is_laplace = noise == "laplace"
    if k is not None or threshold is None:
        k = read_whole(k, "k", least=1)  # type: ignore[arg-type]  # which it refuses
    elif not is_laplace:
        raise ParameterError("A list of any length needs Laplace noise; give k or noise='laplace'.")
    one_sided = is_laplace or closeness.monotonic or (closeness.additive and holding.whole)
    sides = 1 if one_sided else 2
    moving = 1 if is_laplace or k is None else k
    if resolution is None and is_laplace and not holding.whole:
        resolution = "1/10"
    parameters = TopK(
        k,
        sides * moving / beta,
        resolution=resolution,
        monotonic=one_sided,
        items_per_person=1 if is_laplace else None,
        threshold=threshold,
        noise=noise,  # type: ignore[arg-type]  # which it checks
    )
    if not is_laplace:
        return parameters
    if not closeness.additive:
        raise ParameterError(
            "Laplace noise needs a metric that bounds how far all answers move together: "
            "l1_distance, or l01inf_distance of absolute_distance."
        )
    if not (holding.whole or closeness.counts_moves):
        raise ParameterError(
            "Laplace noise by l1_distance needs integers, because a small distance can change how "
            "any number of floats is rounded; give l01inf_distance of absolute_distance."
        )
    return parameters


def _read_items(items: object, holding: DomainInfo, parameters: TopK) -> tuple[Any, ...] | None:
    """The names, if there are any, and if there are enough of what they name."""
    k = parameters.fewest_winners
    if items is None:
        if holding.size is not None:
            check_enough(holding.size, k)
        return None
    if isinstance(items, Iterator):
        items = [*items]
    count = holding.size
    if count is None:
        count = len(items) if isinstance(items, Sized) else 0
    names = tuple(to_list(check_names(items, count)))
    check_enough(count, k)
    return names


def _read_members(items: object, domain: object, holding: DomainInfo, parameters: TopK) -> object:
    """The public items of which a map holds those that occur, as `select` takes them."""
    if domain is None:
        if items is None:
            raise ItemsError(
                "The keys that a map has are a secret of the data; give domain=, the public items."
            )
        domain = _read_items(items, holding, parameters)
    elif items is not None:
        raise ItemsError("items and domain both name the public items; give only domain=.")
    if isinstance(domain, FromData):
        raise DomainError(
            "The privacy map holds only for public items, so FROM_DATA cannot be the domain; "
            "give a list or a topgap.Domain."
        )
    # What is wrong with the domain comes out before there are any answers.
    found = find_participants({}, None, domain, parameters)
    if found.unlisted is None:
        holding.check_keys(found.names)
        return found.names  # read once, whatever becomes of the list
    holding.check_keys([found.unlisted.domain.unrank(0)])  # by a rule, all are of one type
    return domain


def _require_features() -> None:
    try:
        assert_features("contrib", "honest-but-curious")
    except OpenDPException:
        raise ParameterError(
            "OpenDP takes measurements from other libraries only with features switched on; call "
            "opendp.prelude.enable_features('contrib', 'honest-but-curious')."
        ) from None
