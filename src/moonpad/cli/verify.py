"""`moonpad verify`: proof that an endpoint answers correctly."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moonpad.cli.endpoint import ANY_ENDPOINT, EndpointOptions
from moonpad.cli.verify_options import (
    NO_LOOP,
    NO_NUMERICS,
    NO_VENDOR,
    QUICK_SET,
    LoopOptions,
    NumericsOptions,
    ProbeOptions,
    VendorOptions,
)
from moonpad.values.errors import UsageError


def verify(
    spec: Path | None = None,
    *,
    at: EndpointOptions = ANY_ENDPOINT,
    probes: ProbeOptions = QUICK_SET,
    loop: LoopOptions = NO_LOOP,
    vendor: VendorOptions = NO_VENDOR,
    numerics: NumericsOptions = NO_NUMERICS,
    gate: Annotated[bool, Parameter(negative=())] = False,
    out: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Prove that an endpoint answers correctly, whoever serves it. Exit 5 where a probe fails, 6 where nothing answers.

    Parameters
    ----------
    spec
        The spec whose endpoint is meant; without it and --url, the only endpoint that is up.
    gate
        Judge by the thresholds in the spec's [gate]. With --url the spec gives these alone.
    out
        Where the verdict is kept, a folder; with --vendor the file of its results. Without it, the folder of the run.
    json
        Print one JSON document on stdout.
    """
    modes = {"--loop": loop.loop is not None, "--vendor": vendor.vendor is not None, "--numerics": numerics.numerics}
    chosen = [name for name, meant in modes.items() if meant]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} are runs of their own", remedy=f"moonpad verify {chosen[0]} first")
    if chosen and probes != QUICK_SET:
        raise UsageError(
            f"--only, --raw, --repeat, --fail-fast and --junit are of probes, and {chosen[0]} has none",
            remedy="leave them out",
        )
    if loop.loop is not None:
        from moonpad.cli.agent_loop import verify_loop

        verify_loop(spec, at, loop.loop, loop.seed, gate=gate, out_folder=out, json=json)
    elif vendor.vendor is not None:
        from moonpad.cli.vendor import verify_vendor

        verify_vendor(spec, at, vendor.vendor, vendor, gate=gate, out_file=out, json=json)
    elif numerics.numerics or numerics.record or numerics.against:
        from moonpad.cli.numerics import verify_numerics

        if gate or out:
            raise UsageError("--numerics has neither --gate nor --out", remedy="--record FILE keeps its numbers")
        verify_numerics(spec, at, numerics, json=json)
    else:
        from moonpad.cli.probes import verify_probes

        verify_probes(spec, at, probes, gate=gate, out_folder=out, json=json)
