"""What an engine's own start compares and refuses: data/start_refusals.toml, of kernels against devices and weights
data/kernel_refusals.toml, and what whole readings of two engines' sources added data/sglang_refusals.toml and
data/start_refusals_vllm.toml."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.kept_rows import table
from moonpad.catalog.toml_rows import Provenance, Text, rows, unique

FILES: Final = ("start_refusals.toml", "start_refusals_vllm.toml", "kernel_refusals.toml", "sglang_refusals.toml")


class StartRefusal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`engines` from release `since` on and before release `until` refuse the start where all that is named holds.

    A term is an option (`--nnodes`), a key of an option's JSON (`--kv-transfer-config.kv_role`), a variable
    (`$ASCEND_LAUNCH_BLOCKING`), a size of the layout (`tp`, `pp`, `dp`, `dcp`), the tokens of a sequence (`context`:
    those of a known model where none are asked for), the layers of a known model (`layers`), the devices of a usual
    machine of this kind (`machine`) or a number. `--option|1` is 1 where the option is not given. In `given`, `--one
    or --other` is one of both.
    """

    engines: tuple[str, ...]
    since: str = ""
    until: str = ""
    forks: Mapping[str, str] = field(default_factory=dict)
    """Engines of the same source with numbers of their own → the first of their releases that was read and has it."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Terms that are there → what their values are, as a regular expression of the whole; "" for a switch or any."""
    written: tuple[str, ...] = ()
    """Options that stand there by this very name: what a former name sets beside it may be enough."""
    lacks: tuple[str, ...] = ()
    """Terms that are not there."""
    unless: Mapping[str, str] = field(default_factory=dict)
    """Terms whose value, where they are there, is another one: `none` is as good as no exchange of tokens."""
    when: tuple[str, ...] = ()
    """Comparisons of two terms: `tp < --expert-slices`; `%` is: does not divide. A side may be several terms, joined
    from left to right by `*`, `+` and `/`, which is rounded down: `--chunk/--ranks|1 > $MOST|4096`; `max(--sizes)` is
    the largest of several numbers, `sum($PARTS)` what they are together and `count($PARTS)` how many they are."""
    unlike: tuple[str, ...] = ()
    """Two terms whose texts are both known and differ: `$HIP_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES`."""
    platforms: tuple[str, ...] = ()
    """Where the devices have to be known, and be of one of these."""
    not_on: tuple[str, ...] = ()
    """Platforms that it is not true of."""
    not_of: tuple[str, ...] = ()
    """Programs of the engine that it is not true of, where it has several: a chat beside a server."""
    devices: tuple[str, ...] = ()
    """Where the devices have to be known, and be of one of these: `sm9` for the capabilities 9.x."""
    weights: tuple[str, ...] = ()
    """Where the weights have to be known, and have one of these as `quant_method`: `bf16` for none."""
    models: str = ""
    """Part of the model's name, as a regular expression."""
    where: str = ""
    """The term that it stands at; else the first that is given or compared."""
    code: str = "conflict"
    add: tuple[str, ...] = ()
    """Words that mend it."""
    drop: bool = False
    """Whether it is mended by leaving out the option that it stands at."""
    also_unnamed: bool = False
    """What is given is of the releases of the row alone, so that it is told, as a note, where no release is named."""
    warns: bool = False
    """Not refused, but never what was meant."""
    idle: bool = False
    """The option that it stands at is never asked for its value there: faults of what it asks for cannot be met."""
    message: Text
    """`{left}` and `{right}` are what the first comparison compares."""
    remedy: Text
    provenance: Provenance


@cache
def start_refusals() -> Mapping[str, StartRefusal]:
    """By their keys. Raises ValueError where a key comes twice."""
    return table(FILES, dict[str, StartRefusal], _built)


def _built() -> Mapping[str, StartRefusal]:
    named = [(key, row.build(StartRefusal)) for file in FILES for key, row in rows(file, "refusals")]
    unique(FILES[0], (key for key, _ in named))
    return dict(named)
