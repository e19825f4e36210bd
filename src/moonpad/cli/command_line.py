"""The verbs of the `moonpad` command, named by import path, so that only the one that is called is imported."""

from __future__ import annotations

import os
import signal
import sys

from cyclopts import App, Parameter
from cyclopts.exceptions import CycloptsError

from moonpad import __version__
from moonpad.cli import output
from moonpad.cli.interrupts import NUMBERS
from moonpad.cli.output import Json
from moonpad.cli.usage_errors import last_resort, refuse_empty_paths, usage_error, with_standard_input
from moonpad.store.safe_streams import guard_streams
from moonpad.values.errors import Interrupted, MoonpadError, UsageError
from moonpad.values.redaction import unhidden

ARGUMENTS = 5_000
"""Reading them takes time by the square of their number."""

VERBS = (
    ("init", "moonpad.cli.init:init", "Write the spec of the best plan."),
    ("plan", "moonpad.cli.plan:plan", "Show what fits on a cluster, why, and what to type."),
    ("explain", "moonpad.cli.explain:explain", "Review an existing command line or script."),
    ("doctor", "moonpad.cli.doctor:doctor", "Look at hosts before a start, and at logs after one."),
    ("up", "moonpad.cli.up:up", "Start what a spec says, and wait until it answers with a real token."),
    ("status", "moonpad.cli.status:status", "Show which endpoints are up, and their states."),
    ("watch", "moonpad.cli.watch:watch", "Watch endpoints: load, latencies, caches, devices, and what is wrong."),
    ("logs", "moonpad.cli.logs:logs", "Show the engine's log."),
    ("chat", "moonpad.cli.chat:chat", "Talk with an endpoint in the terminal."),
    ("down", "moonpad.cli.down:down", "Stop a run and everything that it started."),
    ("verify", "moonpad.cli.verify:verify", "Prove that an endpoint answers correctly."),
    ("calibrate", "moonpad.cli.calibrate:calibrate", "Correct predictions of speed by loads that are measured."),
    ("bench", "moonpad.cli.bench:bench", "Measure an endpoint."),
    ("tune", "moonpad.cli.tune:tune", "Find the best settings of a spec for a workload, by measuring little."),
    ("eval", "moonpad.cli.eval:eval_", "Measure how accurate an endpoint's answers are."),
    ("runs", "moonpad.cli.runs:runs", "List what was measured."),
    ("compare", "moonpad.cli.compare:compare", "Compare two measured runs, with how certain each change is."),
    ("report", "moonpad.cli.report:report", "Write a measured run or a sweep as one page."),
    ("render", "moonpad.cli.render:render", "Write files that run what `up` would run."),
)

app = App(
    name="moonpad",
    help="From the hardware that you have to a verified, measured, tuned Kimi endpoint.",
    version=__version__,
    default_parameter=Parameter(negative=()),  # no --no-json next to --json
    help_format="plaintext",  # the markdown of rich costs a fifth of the time that --help takes
    result_action="return_value",
    suppress_keyboard_interrupt=False,
    exit_on_error=False,
    print_error=False,
)
for _name, _path, _help in VERBS:
    app.command(_path, name=_name, help=_help)

_engine = App(name="engine", help="Engines, each in its own environment.", help_format="plaintext")
_engine.command("moonpad.cli.engine_install:install", name="install", help="Install an engine from its recipe.")
_engine.command("moonpad.cli.engine:list_", name="list", help="Show what is installed, where, and its size.")
_engine.command("moonpad.cli.engine:remove", name="remove", help="Remove an installed engine.")
app.command(_engine)

_checkpoint = App(name="checkpoint", help="Checkpoints on this machine.", help_format="plaintext")
_checkpoint.command("moonpad.cli.checkpoint:show", name="show", help="Show what a checkpoint folder holds.")
_checkpoint.command("moonpad.cli.checkpoint_verify:verify", name="verify", help="Check that a checkpoint is whole.")
_checkpoint.command("moonpad.cli.checkpoint_get:get", name="get", help="Download a checkpoint, and verify it.")
_checkpoint.command("moonpad.cli.checkpoint_adapt:adapt_", name="adapt", help="Change it for an engine, in a copy.")
app.command(_checkpoint)

_catalog = App(name="catalog", help="What moonpad knows about models, hardware and engines.", help_format="plaintext")
for _name, _help in (
    ("models", "Checkpoints that can be planned by name."),
    ("hardware", "Devices that a cluster can be named by."),
    ("engines", "Engines that moonpad plans for."),
    ("calibrations", "Measured starts, which override the memory model."),
    ("published", "Results that others published."),
):
    _catalog.command(f"moonpad.cli.catalog:{_name}", name=_name, help=_help)
app.command(_catalog)


@_catalog.default
def _catalog_summary(*, json: Json = False) -> None:
    """Not by import path, because a default cannot be."""
    from moonpad.cli.catalog import summary

    summary(json=json)


def answer(argv: list[str]) -> int:
    """The exit code of this process's command line. The one place that turns errors into exit codes; no traceback for
    bad input."""
    guard_streams(argv)
    exit_code = run(argv)
    if unhidden():
        output.note("warning: a key is so short, or so common a word, that it is hidden only where its place shows it")
    return exit_code


def run(argv: list[str]) -> int:
    """The exit code of a command line: 0, or that of the error (values/errors.py)."""
    try:
        return _run(argv)
    except KeyboardInterrupt:  # also while an error was being printed
        for number in NUMBERS:
            signal.signal(number, signal.SIG_IGN)  # all is done: one more would only spoil the exit code
        output.note("moonpad: interrupted")
        return Interrupted.exit_code


def _run(argv: list[str]) -> int:
    try:
        if len(argv) > ARGUMENTS:
            message = f"the command line has {len(argv):,} arguments; the limit is {ARGUMENTS:,}"
            raise UsageError(message, remedy="leave out what does not matter")
        refuse_empty_paths(argv)
        app(with_standard_input(argv))
    except (CycloptsError, MoonpadError) as error:
        ours = usage_error(error) if isinstance(error, CycloptsError) else error
        output.print_error(ours)
        return ours.exit_code
    except BrokenPipeError:
        _close_stdout()  # `moonpad logs | head`: the reader has seen enough
    except Exception as error:  # noqa: BLE001 - the edge: whatever it is, a user reads a sentence
        ours = last_resort(error)
        if isinstance(error, OSError) and error.filename is None:
            _close_stdout()  # it may be what is full
        output.print_error(ours)
        return ours.exit_code
    return 0


def _close_stdout() -> None:
    """So that Python does not complain again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
