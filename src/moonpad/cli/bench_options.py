"""The options of `moonpad bench` as texts: read into values, and written again for the next command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cyclopts import Parameter

from moonpad.bench.config import BenchConfig, Slo
from moonpad.load.arrivals import Arrivals
from moonpad.load.lengths import Lengths, parse_lengths
from moonpad.load.workloads.recorded import digest_of
from moonpad.load.workloads.workload import RANDOM, TURNS, Workload, parse_dataset
from moonpad.spec.input_file import read_regular
from moonpad.spec.safe_text import parse_duration
from moonpad.values.errors import UsageError
from moonpad.values.records import replace

OUTPUT_TOKENS = "64"
LENGTHS_BYTES = 4_000_000
WORKLOAD_FIELDS = ("tool_tokens", "prefix_tokens", "prefixes", "speed")
SLO_EXAMPLE = "--slo ttft=500ms,tpot=50ms,e2el=20s"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadOptions:
    """The requests that are sent. The texts are what --help shows."""

    dataset: str = "random"
    """random: fresh random words. turns: chats, each question after the answers so far. agent: the same with tools and
    their results. sharegpt:FILE: recorded chats. trace:FILE: a Mooncake trace, with its arrival times and shared
    blocks."""
    turns: int | None = None
    """With turns, agent and sharegpt: requests per conversation, each with the history so far; 4, 8 and 1."""
    tool_tokens: int = 256
    """With agent: tokens per tool result."""
    prefix_tokens: int = 0
    """Tokens of a prefix that requests share."""
    prefixes: int = 1
    """With --prefix-tokens: the number of different prefixes."""
    speed: float = 1.0
    """With trace: 2 replays it in half the time."""
    api: Literal["chat", "completions"] = "chat"
    """completions: plain text instead of messages, without a chat template."""

    def read(self) -> Workload:
        """
        Raises:
            UsageError: no such dataset, its file cannot be read, or an option does not fit it.
        """
        kind, file = parse_dataset(self.dataset)
        path = Path(file).absolute() if file else None
        return Workload(
            kind=kind,
            file=str(path or ""),
            digest=digest_of(path) if path else "",
            turns=TURNS.get(kind, 1) if self.turns is None else self.turns,
            **{name: getattr(self, name) for name in WORKLOAD_FIELDS},
        )


def read_arrivals(
    rate: float | None, kind: Literal["poisson", "constant", "gamma"], burstiness: float
) -> Arrivals | None:
    if rate is None:
        if kind != "poisson" or burstiness != 1.0:
            raise UsageError("--arrivals and --burstiness need --rate", remedy="add --rate 4 (requests a second)")
        return None
    return Arrivals(rate, kind, burstiness)


def read_lengths(flag: str, text: str) -> int | Lengths:
    lines: list[str] = []
    if text.startswith("@"):
        try:
            lines = read_regular(Path(text[1:]), LENGTHS_BYTES).decode("ascii").splitlines()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not a list of numbers"
            raise UsageError(f"{flag} {text}: the file cannot be read: {reason}", remedy="one number a line") from None
    lengths = parse_lengths(text, lines)
    return lengths if lengths.fixed is None else lengths.fixed


def read_output_lengths(text: str | None, workload: Workload) -> int | Lengths | None:
    """None: the workload's file has them."""
    if text is None and workload.file:
        return None
    return read_lengths("--output-tokens", OUTPUT_TOKENS if text is None else text)


def read_slo(text: str) -> Slo:
    limits = {}
    for part in text.split(",") if text else ():
        name, _, value = part.partition("=")
        if name.strip() not in ("ttft", "tpot", "e2el"):
            raise UsageError(f"--slo has no limit named {name.strip()!r}", remedy=SLO_EXAMPLE)
        try:
            limits[f"{name.strip()}_s"] = parse_duration(value.strip())
        except ValueError as error:
            raise UsageError(f"--slo {part}: {error}", remedy=SLO_EXAMPLE) from error
    return Slo(**limits)


def doubled(config: BenchConfig) -> BenchConfig:
    """The same measurement at twice the load."""
    if config.workload.kind == "trace":
        return replace(config, workload=replace(config.workload, speed=2 * config.workload.speed))
    twice = replace(config, requests=2 * config.requests)
    if config.arrivals is None:
        return replace(twice, concurrency=2 * (config.concurrency or 1))
    return replace(twice, arrivals=replace(config.arrivals, rate=2 * config.arrivals.rate))


def option_words(config: BenchConfig) -> list[str]:
    """The options that give this configuration again; those that have their default are left out."""
    workload, arrivals, default = config.workload, config.arrivals, BenchConfig()
    limits = ",".join(f"{name.removesuffix('_s')}={1000 * s:.9g}ms" for name, s in config.slo.as_json().items())
    output = None if config.output_tokens is None else config.output_lengths.text
    dataset = f"{workload.kind}:{workload.file}" if workload.file else workload.kind
    rows: tuple[tuple[str, float | str | None, float | str | None], ...] = (
        ("--dataset", dataset, RANDOM.kind),
        ("--turns", workload.turns, TURNS.get(workload.kind, 1)),
        *((f"--{name.replace('_', '-')}", getattr(workload, name), getattr(RANDOM, name)) for name in WORKLOAD_FIELDS),
        ("--api", config.api, default.api),
        ("--input-tokens", config.input_lengths.text, str(default.input_tokens)),
        ("--output-tokens", output, OUTPUT_TOKENS),
        ("--temperature", config.temperature, None),
        ("--rate", arrivals.rate if arrivals else None, None),
        ("--arrivals", arrivals.kind if arrivals else None, "poisson"),
        ("--burstiness", arrivals.burstiness if arrivals else None, 1.0),
        ("--concurrency", config.concurrency, None if config.paced else default.concurrency),
        ("--requests", config.requests, None),
        ("--slo", limits, ""),
        *((f"--{name}", getattr(config, name), getattr(default, name)) for name in ("warmup", "seed", "workers")),
    )
    words = []
    for flag, value, usual in rows:
        if value is not None and value != usual:
            words += [flag, f"{value:.9g}" if isinstance(value, float) else str(value)]
    words += ["--ignore-eos"] if config.ignore_eos else []
    return words + ([] if config.measure_client else ["--no-calibrate"])
