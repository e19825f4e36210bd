"""`moonpad verify`: proof that an endpoint answers correctly."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.output import Json
from moonpad.cli.verify_options import (
    LoopOptions,
    NumericsOptions,
    ProbeOptions,
    RecordingOptions,
    VendorOptions,
)
from moonpad.values.errors import UsageError

PROBES = "the probes"


def verify(
    spec: Path | None = None,
    *,
    at: EndpointOptions = EndpointOptions(),
    probes: ProbeOptions = ProbeOptions(),
    loop: LoopOptions = LoopOptions(),
    vendor: VendorOptions = VendorOptions(),
    numerics: NumericsOptions = NumericsOptions(),
    recordings: RecordingOptions = RecordingOptions(),
    gate: bool = False,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """Prove that an endpoint answers correctly, whatever serves it. Exit 5 if a probe fails, 6 if nothing answers.

    Parameters
    ----------
    spec
        The spec whose endpoint to verify; without it and --url, the only endpoint that is up.
    gate
        Judge by the thresholds in the spec's [gate]. With --url the spec is read for these only.
    out
        The folder for the verdict; with --vendor the file for the results. Without it, the run's folder.
    """
    mode = _mode(loop, vendor, numerics)
    for owner, options in ((PROBES, probes), ("--loop", loop), ("--vendor", vendor), ("--numerics", numerics)):
        given = (field.name for field in fields(options) if getattr(options, field.name) != field.default)
        if owner != mode and (name := next(given, None)):
            option = "--" + name.replace("_", "-")
            raise UsageError(_does_not_belong(option, owner, mode), remedy=f"leave {option} out")
    if mode not in (PROBES, "--numerics") and (recordings.record or recordings.against):
        option = "--record" if recordings.record else "--against"
        message = f"{option} does not go with {mode}: it is an option of {PROBES} and of --numerics"
        raise UsageError(message, remedy=f"leave {option} out")
    if recordings.record and recordings.against:
        raise UsageError("--record does not go with --against", remedy="record the trusted endpoint, then compare")
    if mode == "--numerics" and (gate or out):
        raise UsageError(
            f"{'--gate' if gate else '--out'} does not go with --numerics", remedy="--record FILE keeps the numbers"
        )
    from moonpad.cli.verify_target import Target

    target = Target(spec, at, gate, json)
    if loop.loop is not None:
        from moonpad.cli.verify_loop import verify_loop

        verify_loop(target, loop.loop, loop.seed, out)
    elif vendor.vendor is not None:
        from moonpad.cli.verify_vendor import verify_vendor

        verify_vendor(target, vendor.vendor, vendor, out)
    elif numerics.numerics:
        from moonpad.cli.verify_numerics import verify_numerics

        verify_numerics(target, recordings)
    else:
        from moonpad.cli.verify_probes import verify_probes

        verify_probes(target, probes, recordings, out)


def _mode(loop: LoopOptions, vendor: VendorOptions, numerics: NumericsOptions) -> str:
    """What runs: the option that asks for it, or the probes.

    Raises:
        UsageError: several are asked for.
    """
    modes = {"--loop": loop.loop is not None, "--vendor": vendor.vendor is not None, "--numerics": numerics.numerics}
    chosen = [name for name, wanted in modes.items() if wanted]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} are separate runs", remedy=f"moonpad verify {chosen[0]} first")
    return chosen[0] if chosen else PROBES


def _does_not_belong(option: str, owner: str, mode: str) -> str:
    if mode == PROBES:
        return f"{option} is an option of {owner}, which was not given"
    return f"{option} does not go with {mode}: it is an option of {owner}"
