"""What was handed in, read and checked, before anything is drawn: `prepare`."""

from typing import Any, NamedTuple

import numpy as np

from topgap.domains import Counts, DomainDescription
from topgap.errors import AnswersTypeError, ParameterError
from topgap.numbers.parse import read_flag, read_threads
from topgap.parameters import TopK
from topgap.selection.answers import KernelArray, floor_answers, to_kernel_array
from topgap.selection.participants import find_participants
from topgap.selection.unlisted import Unlisted


class Prepared(NamedTuple):
    """What was handed in, taken out and checked: nothing is wrong with it from here on.

    Attributes:
        numbers: The answers.
        kernel_array: The same as the kernel takes them; None if they are too large for it, or the
            threshold too far from them.
        names: Their names, or None.
        threads: How many threads are to look at them.
        constant_work: Whether the work is to be the same whatever they are.
        domain_from_data: Whether the list of items is known to be from the data.
        domain: The domain that was given, if one was.
        unlisted: All other members of a domain given by a rule.
        cut: The threshold in steps, shifted as the kernel's array.
    """

    numbers: Any
    kernel_array: KernelArray | None
    names: Any
    threads: int
    constant_work: bool
    domain_from_data: bool
    domain: DomainDescription | None = None
    unlisted: Unlisted | None = None
    cut: int | None = None

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.numbers) if self.domain is None else self.domain.size


def prepare(
    parameters: TopK,
    answers: object,
    items: object = None,
    *,
    threads: int | None = None,
    constant_work: bool = False,
    domain: object = None,
    as_run: bool = False,
) -> Prepared:
    """Take out what was handed in, and check all of it.

    Args:
        parameters: Of the release.
        answers: As for `topgap.top_k`, and so are the others.
        items: As there.
        threads: As there.
        constant_work: As there.
        domain: As there.
        as_run: Whether a list, too, is not written out: its members without an answer are drawn as
            a run.
    """
    threads = read_threads(threads)
    constant_work = read_flag(constant_work, "constant_work")
    if domain is None and isinstance(answers, Counts):
        domain = answers.domain
    if constant_work and domain is not None:
        raise ParameterError(
            "constant_work needs the answers of all items in order, because looking names up in a "
            "domain takes longer for some data; leave one of the two out."
        )
    found = find_participants(answers, items, domain, parameters, as_run=as_run)
    numbers = found.numbers
    if constant_work:
        check_constant_work(parameters, threads, numbers)
    steps_per_unit = parameters.resolution.denominator
    kernel_array = to_kernel_array(numbers, steps_per_unit)
    shift = 0 if kernel_array is None else kernel_array.shift
    if found.unlisted is not None and not -(2**63) < shift <= 2**63:
        kernel_array = None  # the answer 0 is too far from the others for the kernel
    cut = None if kernel_array is None else find_cut(parameters, kernel_array)
    if cut is not None and not has_room(parameters, cut):
        if constant_work:  # of whose answers only the type moved the threshold
            raise ParameterError(
                "constant_work needs a threshold that the kernel's integers can hold; use one "
                "that the answers can reach."
            )
        kernel_array = cut = None
    if kernel_array is None:
        floor_answers(numbers, steps_per_unit)  # which sees whether all are finite numbers
    return Prepared(
        numbers, kernel_array, found.names, threads, constant_work, found.domain_from_data,
        found.domain, found.unlisted, cut,
    )  # fmt: skip


def check_constant_work(parameters: TopK, threads: int, numbers: object) -> None:
    """Refuse what cannot be done by the same work, by types and parameters and by no answer."""
    if threads > 1:
        raise ParameterError("constant_work runs in one thread; leave threads out.")
    if parameters.kernel is None:
        raise ParameterError(
            "constant_work needs noise that the kernel's integers can hold; use a larger epsilon "
            "or a coarser resolution, or leave constant_work out."
        )
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iu":
        raise AnswersTypeError(
            "constant_work needs an array of integers, such as np.array(answers, dtype=np.int64), "
            "because reading other types takes longer for some answers; give names as items."
        )


def shift_in_steps(parameters: TopK, array: KernelArray) -> int:
    """So many steps are to be added to what the kernel tells of the array."""
    return array.shift * (1 if array.in_steps else parameters.resolution.denominator)


def find_cut(parameters: TopK, array: KernelArray) -> int | None:
    """The threshold in steps, shifted as the array."""
    units = parameters.threshold_units
    return None if units is None else units - shift_in_steps(parameters, array)


_SENTINEL_BITS = 124
"""The kernel takes a sentinel up to 2^124 ticks from the array's zero."""


def has_room(parameters: TopK, cut: int) -> bool:
    """Whether the kernel's integers can hold the threshold; as a floor they hold any."""
    kernel = parameters.kernel
    if kernel is None or not parameters.has_sentinel:
        return True
    return abs(cut) << kernel.refinement <= 1 << _SENTINEL_BITS
