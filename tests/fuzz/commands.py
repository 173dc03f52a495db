"""Audits of anything that can be called, and the command with anything that can be typed."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import topgap
from tests.cli.command import is_one_sentence
from tests.fuzz import hostile_parameters
from tests.fuzz.judge import Judge
from tests.fuzz.well_formed import look_at
from topgap import TopK, auditing, select
from topgap.errors import ParameterError, ParameterTypeError, ReleaseError

PARAMETERS = (ParameterError, ParameterTypeError)

# ---------------------------------------------------------------- audits


def _honest(answers: Any, parameters: TopK) -> Any:
    return select(parameters, answers)


def _first(answers: Any, parameters: TopK) -> Any:
    return [(each, answers[each]) for each in range(parameters.k)]


def _broken(answers: Any, parameters: TopK) -> Any:
    raise ValueError(f"{answers} cannot be released with {parameters}")


@st.composite
def audited(draw: st.DrawFn) -> dict[str, Any]:
    """What an audit is made of: functions that keep their promise, and others."""
    functions = [
        _honest,
        _first,
        _broken,
        lambda *_: None,
        lambda *_: [7],
        lambda *_: 7,
        len,
        7,
        "x",
    ]
    sides = st.lists(
        st.one_of(st.integers(0, 3), st.integers(0, 3), hostile_parameters.ANYTHING), max_size=3
    )
    good = auditing.Neighbours((2, 1, 0), (1, 1, 0), TopK(1, 1, resolution=1))
    odd_cases = st.one_of(
        st.just([(draw(sides), draw(sides), good.parameters)]), hostile_parameters.ANYTHING
    )
    luck = draw(st.integers(0, 11))  # at most one thing is odd
    odd_releases = st.sampled_from([0, -1, 999, None, "x", 1.5])
    odd_failures = st.sampled_from([0.5, 1, 2, 0, None, "x", "1e-500"])
    function = draw(st.sampled_from(functions)) if luck < 3 else _honest
    flags, no_flags = hostile_parameters.FLAGS, hostile_parameters.NO_FLAGS
    return {
        "function": function,
        "cases": draw(odd_cases) if luck == 3 else [good],
        "releases": draw(odd_releases) if luck == 4 else draw(st.sampled_from([1000, 2000])),
        "failure": draw(odd_failures) if luck == 5 else "1e-9",
        "gaps": draw(no_flags if luck == 6 else flags) if luck < 7 else True,
        "law": draw(no_flags if luck == 7 else flags),
        "quick": True,
        "processes": draw(st.sampled_from([0, -1, None, "x"])) if luck == 8 else 1,
    }


def fuzz_audit(given: dict[str, Any], call: Judge) -> None:
    """Audit functions of every kind."""
    if given["releases"] is None and callable(given["function"]):
        given["releases"] = 1000  # by itself it would make many
    refusals = (*PARAMETERS, auditing.AuditError, ReleaseError)
    made = call("topgap.audit", refusals, topgap.audit, **given)
    if made is not None:
        assert type(made) is topgap.Audit
        assert type(made.as_expected) is bool
        look_at(made)
        for audited_one in made.mechanisms:
            look_at(audited_one)
            audited_one.evidence()
        for form in ("to_dict", "to_json", "to_text"):
            assert call(f"topgap.Audit.{form}", (), getattr(made, form))


# ---------------------------------------------------------------- the command

_WORDS = st.one_of(
    st.sampled_from(
        [
            "release",
            "plan",
            "budget",
            "audit",
            "demo",
            "x.csv",
            "no.csv",
            "--person",
            "who",
            "--item",
            "what",
            "--domain",
            "x.txt",
            "--domain-range",
            "0:5",
            "5:0",
            "-k",
            "1",
            "2",
            "--epsilon",
            "0.1",
            "1/0",
            "--count",
            "--estimate",
            "--json",
            "--format",
            "csv",
            "-",
            "--help",
            "--zipf",
            "5",
            "--all-rows",
            "init",
            "show",
            "verify",
            "b.db",
            "--dataset",
            "d",
            "--ledger",
            "--resolution",
            "--nonsense",
            "",
        ]
    ),
    st.text(max_size=4).filter(lambda word: "\x00" not in word),
)
_RIGHT = [
    "release",
    "x.csv",
    "--person",
    "who",
    "--item",
    "what",
    "--domain",
    "x.txt",
    "-k",
    "1",
    "--epsilon",
    "1",
]


@st.composite
def commanding(draw: st.DrawFn) -> dict[str, Any]:
    """What is typed: words of the command, right or not."""
    words = draw(st.lists(_WORDS, max_size=6))
    if draw(st.integers(0, 2)):
        words = [*_RIGHT, *words[:2]]
        place = draw(st.integers(0, len(words) - 1))
        words[place : place + draw(st.integers(0, 1))] = draw(st.lists(_WORDS, max_size=1))
    rows = draw(
        st.lists(st.sampled_from(["a,flu", "b,flu", "c,cold", "x", '"', "a,b,c"]), max_size=4)
    )
    return {"words": words, "rows": rows}


def fuzz_command(given: dict[str, Any], call: Judge) -> None:
    """Run the command in this process: it ends with a code, and says why if that is not 0."""
    if "demo" in given["words"] or "audit" in given["words"]:
        return  # they take their time
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("x.csv").write_text("who,what\n" + "\n".join(given["rows"]))
        Path("x.txt").write_text("flu\ncold\ncough\n")
        code, said = call("topgap", (), _run, given["words"]) or (0, "")
    assert code in (0, 1, 2), (code, said)
    assert code == 0 or said, "it failed without a word"
    assert code != 1 or is_one_sentence(said), said


def _run(words: list[str]) -> tuple[int, str]:
    from topgap.cli.app import app

    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b""))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            app(words, prog_name="topgap")
    except SystemExit as end:
        out.flush()
        code, shown = int(end.code or 0), out.buffer.getvalue().decode()
        return code, err.getvalue() or (shown if code == 2 else "")
    finally:
        sys.stdin = before
    return 0, err.getvalue()
