"""Draws what a terminal shows of a release: the command is run in one, and its output kept.

The output is that of a real run, in a terminal of `COLUMNS` columns; so the noise is new each time.
"""

import io
import os
import pty
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

COLUMNS = 58  # few enough to be read on a phone
COMMAND = "topgap release baskets.dat --domain-range 0:999 -k 5 --epsilon 1 --quiet"
SET_UP = "topgap demo --baskets 20000 --save baskets.dat"

THEME = TerminalTheme(
    (30, 33, 41), (238, 241, 244),
    [(40, 44, 52), (255, 123, 114), (126, 231, 135), (242, 204, 96),
     (121, 192, 255), (210, 168, 255), (118, 227, 234), (200, 208, 216)],
)  # fmt: skip

# Rich's own form names fonts of another host.
FORM = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}">
  <style>
    .{unique_id}-matrix {{ font: {char_height}px ui-monospace, "DejaVu Sans Mono", Menlo, \
monospace }}
    .{unique_id}-title {{ font: 18px system-ui, sans-serif; fill: #aab4bf }}
    {styles}
  </style>
  <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
    </clipPath>
    {lines}
  </defs>
  {chrome}
  <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
  </g>
</svg>
"""


def draw_terminal() -> str:
    """The picture as SVG."""
    with tempfile.TemporaryDirectory(prefix="topgap-") as folder:
        run_in_terminal(SET_UP, folder)
        output = run_in_terminal(COMMAND, folder)
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    typed = " \\\n    ".join(textwrap.wrap(COMMAND, COLUMNS - 6))
    console.print(Text.assemble(("$ ", "cyan"), (typed, "bold"), "\n"))
    console.print(Text.from_ansi(output))
    drawn = console.export_svg(
        title="", theme=THEME, code_format=FORM, unique_id="terminal", font_aspect_ratio=0.6
    )
    return "\n".join(line.rstrip() for line in drawn.splitlines() if line.strip()) + "\n"


def run_in_terminal(command: str, folder: str) -> str:
    """What a command writes to a terminal of its own.

    Raises:
        RuntimeError: It fails.
    """
    ours, theirs = pty.openpty()
    program = Path(sys.executable).parent / "topgap"
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    arguments = [str(program), *shlex.split(command)[1:]]
    with subprocess.Popen(
        arguments, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        written = bytearray()
        while chunk := _read(ours):
            written += chunk
    os.close(ours)
    text = written.decode().replace("\r\n", "\n")
    if process.returncode:
        raise RuntimeError(f"{command} failed: {text}")
    return text


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # which Linux raises at the end of a terminal
        return b""
