"""Walk every random tape of a program and add up the exact mass of each outcome.

A program reads fair bits and ends with an outcome. A tape of b bits on which it ends has mass 2^−b.
The masses of the tapes walked are a lower bound of each outcome's probability, and what has not
been walked, the *rest*, is all that can still be added. So the truth must lie between mass and
mass + rest, without any chance of a false alarm.

`walk_tapes` does this bit by bit. Its work doubles with each bit of depth, which is enough for the
samplers and for the smallest runs of an algorithm.

`DrawWalker` adds up the same masses in another order, and so reaches rests that no walk bit by bit
could. It runs the very same code and uses two facts. Bits are independent and each draw begins to
read where the one before stopped: so the mass of all tapes on which the draws have certain results
is the product of the masses of these results, each walked for itself. And tapes that bring a
sampler to the same place with the same variables have the same future: so their masses are added
and followed as one, which makes a loop of rejections linear instead of exponential. Only methods
whose source shows that they keep nothing elsewhere are merged (`plain_methods`).
"""

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import FrameType
from typing import Any, Generic, TypeVar

from tests.checking.plain_methods import (
    code_that_runs,
    overwritten_variables,
    state_is_in_variables,
)
from topgap.law import Bounds
from topgap.reference.insecure_tape import TapeExhaustedError
from topgap.sampling.sampler import Sampler

Outcome = TypeVar("Outcome", bound=Hashable)

SCALE = 128
MOST_SCRIPTS = 2_000_000


@dataclass(frozen=True)
class Walk(Generic[Outcome]):
    """The mass found for each outcome, and the mass of the tapes that were not finished."""

    masses: dict[Outcome, Fraction]
    rest: Fraction

    def violations(self, law: Callable[[Outcome], Bounds]) -> list[str]:
        """Say where the masses contradict the law; nothing where they agree."""
        found = []
        unseen = Fraction(1)
        for outcome, mass in self.masses.items():
            low, high = law(outcome)
            unseen -= high
            if mass > high:
                found.append(f"{outcome} has mass {float(mass)}, above {float(high)}")
            if mass + self.rest < low:
                found.append(f"{outcome} has mass {float(mass)} and cannot reach {float(low)}")
        if unseen > self.rest:
            found.append(f"outcomes of probability {float(unseen)} were never reached")
        return found


def walk_tapes(
    program: Callable[[Sampler], Outcome], depth: int, sampler: type[Sampler] = Sampler
) -> Walk[Outcome]:
    """Run `program` on every tape of at most `depth` bits."""
    masses: defaultdict[Outcome, int] = defaultdict(int)  # in units of 2^−depth
    tape = _Tapes(depth)
    while not tape.is_last:
        tape.go_on()
        try:
            outcome = program(sampler(tape))
        except TapeExhaustedError:
            continue
        masses[outcome] += 2 ** (depth - tape.read)
    return _walk({outcome: Fraction(mass, 2**depth) for outcome, mass in masses.items()})


class _Tapes:
    """All tapes in the order of their bits, one for each run, and as long as the run reads it.

    A run reads the bits that it is given and then zeros. The next one is given what this one has
    read, as a number that is one higher: so no two runs read the same, and nothing is left out.
    """

    def __init__(self, depth: int) -> None:
        self.read = 0
        self._depth = depth
        self._bits, self._length = -1, 0  # before the first, which is given no bits

    @property
    def is_last(self) -> bool:
        """Whether all bits that were read are ones."""
        return self._read_bits() + 1 == 1 << self.read

    def go_on(self) -> None:
        """From the tape that was read to the next."""
        self._bits, self._length, self.read = self._read_bits() + 1, self.read, 0

    def take(self, count: int) -> int:
        """The next `count` bits, the first of them as the highest."""
        end = self.read + count
        if end > self._depth:
            raise TapeExhaustedError(end - self._depth)
        if end > self._length:
            self._bits <<= end - self._length
            self._length = end
        self.read = end
        return self._bits >> (self._length - end) & ((1 << count) - 1)

    def _read_bits(self) -> int:
        return self._bits >> (self._length - self.read)


class DrawWalker:
    """Runs a program on every sequence of results that its draws can have.

    Masses are integers in units of 2^−SCALE; products are rounded down, and the rest has the loss.

    Args:
        sampler: Whose draws they are.
        like: One that has walked much. Of draws that run the same code here as there, what it has
            found is taken over.
    """

    def __init__(self, sampler: type[Sampler] = Sampler, like: "DrawWalker | None" = None) -> None:
        self._sampler = sampler
        self._methods = {name: vars(sampler)[name] for name in vars(sampler) if name[0] != "_"}
        self._overwritten = {
            method.__code__: overwritten_variables(method)
            for method in self._methods.values()
            if state_is_in_variables(method)
        }
        self._scripted = _scripted(sampler, [*self._methods])
        self._draws: dict[tuple[Any, ...], dict[Any, int]] = {}
        if like is not None:
            same = self.same_draws(like)
            self._draws |= {key: found for key, found in like._draws.items() if key[0] in same}

    @property
    def merged(self) -> set[str]:
        """The draws whose states are merged; loops of rejections in others are too long to walk."""
        return {n for n, method in self._methods.items() if method.__code__ in self._overwritten}

    def same_draws(self, other: "DrawWalker") -> set[str]:
        """The draws that run the same code in both; only such as are merged are compared."""
        ours, theirs = (code_that_runs(each._sampler, each.merged) for each in (self, other))
        return {name for name, code in ours.items() if theirs.get(name) == code}

    def walk(self, program: Callable[[Sampler], Outcome], smallest: Fraction) -> Walk[Outcome]:
        """Follow every sequence of draws until its mass falls below `smallest`."""
        masses = self._masses(program, math.ceil(smallest * 2**SCALE))
        return _walk({outcome: Fraction(mass, 2**SCALE) for outcome, mass in masses.items()})

    def _masses(self, program: Callable[[Sampler], Outcome], smallest: int) -> dict[Outcome, int]:
        masses: defaultdict[Outcome, int] = defaultdict(int)
        begun: list[tuple[tuple[Any, ...], int]] = [((), 2**SCALE)]  # scripts and their masses
        while begun:
            waiting: dict[Hashable, _Waiting] = {}
            while begun:
                if len(begun) + len(waiting) > MOST_SCRIPTS:
                    raise MemoryError(f"More than {MOST_SCRIPTS} tapes have to be followed.")
                run = _Run(*begun.pop(), partial(self._go_on, begun, smallest))
                try:
                    masses[program(self._scripted(run))] += run.mass
                except _MayMergeError as end:
                    state = _Waiting(run.script, end.draw)
                    waiting.setdefault(end.place, state).mass += run.mass
                except _NeglectedError:
                    continue
            begun += (
                ((*state.script, result), state.mass * probability >> SCALE)
                for state in waiting.values()
                if state.mass >= smallest
                for result, probability in self._results(state.draw, state.mass // smallest).items()
            )
        return masses

    def _go_on(
        self,
        begun: list[tuple[tuple[Any, ...], int]],
        smallest: int,
        run: "_Run",
        draw: tuple[str, tuple[Any, ...]],
        frame: FrameType,
    ) -> Any:
        """Beyond the script: wait for others that may come to this place, or go on with a result.

        The scripts with all other results, if they are heavy enough, are begun.
        """
        place = self._place(frame)
        if place is not None:
            raise _MayMergeError(draw, place)
        if run.mass < smallest:
            raise _NeglectedError
        results = self._results(draw, run.mass // smallest).items()
        masses = [(result, run.mass * probability >> SCALE) for result, probability in results]
        heavy = [((*run.script, result), mass) for result, mass in masses if mass >= smallest]
        if not heavy:
            raise _NeglectedError
        run.script, run.mass = heavy.pop()
        begun += heavy
        return run.script[-1]

    def _results(self, draw: tuple[str, tuple[Any, ...]], precision: int) -> dict[Any, int]:
        """The mass of each result of one draw: its own draws are walked in turn, down to bits.

        A state that is `precision` times as heavy as what its walk neglects deserves no more.
        """
        name, arguments = draw
        depth = min(precision.bit_length() // 4 * 4 + 6, SCALE)
        key = (name, tuple((type(argument), argument) for argument in arguments), depth)
        if key not in self._draws:
            if name == "take":
                each = 2 ** (SCALE - arguments[0])
                self._draws[key] = {int(word, 2): each for word in _words(*arguments)}
            else:
                draw_it = partial(_run_draw, self._methods[name], arguments)
                self._draws[key] = self._masses(draw_it, 2 ** (SCALE - depth))
        return self._draws[key]

    def _place(self, frame: FrameType) -> Hashable:
        """Where a sampler's method stands and what its variables are; None for any other code."""
        started_by = frame.f_back.f_code if frame.f_back else None
        if frame.f_code not in self._overwritten or started_by is not _run_draw.__code__:
            return None
        forgotten = {"self", self._overwritten[frame.f_code].get(frame.f_lineno)}
        variables = {name: value for name, value in frame.f_locals.items() if name not in forgotten}
        if not all(type(value) in (int, bool, Fraction) for value in variables.values()):
            return None
        state = frozenset((name, type(value), value) for name, value in variables.items())
        return frame.f_code, frame.f_lasti, state


@dataclass
class _Run:
    """The results that draws have had or will have, their mass, and what to do beyond them."""

    script: tuple[Any, ...]
    mass: int
    go_on: Callable[..., Any]


@dataclass
class _Waiting:
    """A state in which the program waits for a draw, one script that leads to it, and its mass."""

    script: tuple[Any, ...]
    draw: tuple[str, tuple[Any, ...]]
    mass: int = 0


class _MayMergeError(BaseException):
    """A draw for which the script has no result, at a place where other tapes may come too."""

    def __init__(self, draw: tuple[str, tuple[Any, ...]], place: Hashable) -> None:
        self.draw = draw
        self.place = place


class _NeglectedError(BaseException):
    """No result of the draw is heavy enough to be followed."""


def _scripted(sampler: type[Sampler], methods: list[str]) -> Callable[[_Run], Sampler]:
    """A sampler whose draws, and whose bits, are one after the other what a script says."""

    def draw(name: str) -> Callable[..., Any]:
        def next_of_script(self: Any, *arguments: Any) -> Any:
            for result in self.script:
                return result
            return self.run.go_on(self.run, (name, arguments), sys._getframe(1))

        return next_of_script

    def start(self: Any, run: _Run) -> None:
        self.run = run
        self.script = iter(run.script)
        self.bits = self
        self.calls = defaultdict(int)

    members = {name: draw(name) for name in [*methods, "take"]}
    return type("Scripted", (sampler,), {**members, "__init__": start})


def _words(width: int) -> list[str]:
    return [f"{word:0{width}b}" if width else "0" for word in range(2**width)]


def _run_draw(method: Callable[..., Any], arguments: tuple[Any, ...], sampler: Sampler) -> Any:
    return frozen(method(sampler, *arguments))


def frozen(result: Any) -> Any:
    """A list as a tuple, so that it can stand for an outcome."""
    return tuple(result) if isinstance(result, list) else result


def _walk(masses: dict[Outcome, Fraction]) -> Walk[Outcome]:
    return Walk(dict(masses), 1 - sum(masses.values(), Fraction(0)))
