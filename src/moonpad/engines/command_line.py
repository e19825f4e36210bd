"""How scripts and documents name an engine, start it and talk to it: facts as data, for `explain`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moonpad.values.platform import Platform

ProgramKind = Literal["server", "client", "router"]
_NEGATION: Final = "--no-"

DYNAMO: Final = (
    *("--is-prefill-worker", "--is-decode-worker", "--disaggregation-mode", "--connector", "--migration-limit"),
    *("--multimodal-", "--publish-events-and-metrics", "--namespace", "--dyn-", "--store-kv", "--request-plane"),
    *("--event-plane", "--endpoint", "--extra-engine-args", "--custom-jinja-template", "--use-vllm-tokenizer"),
)
"""Options of `python -m dynamo.ENGINE` beside the engine's (https://docs.nvidia.com/dynamo/), of all of them."""
INFERA: Final = (
    *("--discovery-backend", "--etcd-endpoint", "--etcd-prefix", "--k8s-namespace", "--request-transport", "--nats-"),
    *("--advertise-host", "--enable-kv-events", "--disaggregation-allow-tcp", "--kv-snapshot-", "--index-block-size"),
    *("--kv-event-transport", "--kv-events", "--drain-timeout", "--infera-"),
)
"""The same of `python -m infera.engine.ENGINE` (https://github.com/AMD-AGI/Infera, infera/engine/*/args.py)."""


class Removal(Struct, frozen=True):
    """How to write for its successor what was written for a program that was removed.

    The row of the catalogue with that `program` and `flag` says since when, and what to start instead. An option in
    `options` becomes those words with its value behind them, every other option is left out; with no `options` at all,
    all stay as they are. `hints` are more sentences for the remedy: (an option that is there, an option that is not,
    the sentence).
    """

    program: str
    flag: str
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: tuple[tuple[str, str, str], ...] = ()
    adds: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """The like with the words that the successor needs besides, some with a value that a person fills in; "" for an
    option that need not be there."""
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """What stands in for the value of an option where the text has a stand-in too, of another thing than is needed."""
    chosen: tuple[tuple[str, str, str], ...] = ()
    """What the successor chooses otherwise: an option, a pattern of its value, and the sentence for the remedy."""

    def __post_init__(self) -> None:
        force_setattr(self, "options", MappingProxyType(dict(self.options)))


class Program(Struct, frozen=True):
    """One program of an engine. `name` is that of its options in the catalogue, where they are recorded."""

    name: str
    label: str = ""
    """`vLLM`, in front of a version; "": the name."""
    kind: ProgramKind = "server"
    commands: tuple[str, ...] = ()
    """What starts it: an executable with its subcommands (`vllm serve`), or a module behind `python -m`."""
    files: tuple[str, ...] = ()
    """Ends of paths that Python runs: `sglang/launch_server.py`."""
    short_files: tuple[str, ...] = ()
    """Ends that programs of others have too: one of the options in `marks` has to follow."""
    marks: tuple[str, ...] = ()
    images: str = ""
    """A regular expression for the names of images whose entrypoint it is; their arguments follow the image."""
    chosen_by: tuple[str, ...] = ()
    """First words that choose it behind an image of all the engine's tools; no options of its own."""
    start: str = ""
    """The line that a person types, where that is not the name."""
    own_versions: bool = False
    """It has versions of its own: the engine's say nothing of it."""
    positional_model: str = ""
    """The last word of the command that takes the model as its first argument; started otherwise it takes --model."""
    removal: Removal | None = None
    """Where newer versions do not have it."""
    own_options: tuple[str, ...] = ()
    """Beginnings of the options of other programs that start it (Dynamo): the engine does not see them."""
    no_server: bool = False
    """It serves the model to the person who starts it: it listens nowhere."""
    unnamed_weights: str = ""
    """Why its command line does not say which checkpoint is served; "" where it does."""

    def is_of_starter(self, option: str) -> bool:
        """Whether it is an option of a program that starts this one, or `--no-` before the name of one."""
        positive = f"--{option[len(_NEGATION) :]}" if option.startswith(_NEGATION) else option
        return option.startswith(self.own_options) or positive.startswith(self.own_options)


class Build(Struct, frozen=True):
    """Marks of a build or a fork that is started by the programs of the engine `of`. One of them is enough."""

    of: str
    platform: Platform | None = None
    """It is what serves on these devices."""
    environment: tuple[str, ...] = ()
    """Beginnings of the names of variables."""
    image: str = ""
    """A part of the image's name."""
    spoken: str = ""
    """A regular expression for what a text about it names, its devices: enough where none of others are named."""
    options: tuple[str, ...] = ()
    """Options with their value (`--device=cpu`), or beginnings of options that end with a dash (`--kt-`)."""
    keyed: str = ""
    """An option that takes JSON, whose keys are recorded under the name of this build: one of them that no other reads
    is enough."""
    own_releases: bool = False
    """It counts its releases by itself: they say nothing of those of `of`."""


class Nodes(Struct, frozen=True):
    """Options for several machines, of an engine that leaves it to its user which process does what."""

    executor: str
    """`ray` behind it gives the ranks to a Ray cluster."""
    headless: str
    """No API server on this machine."""
    start_rank: str
    """The first data-parallel rank of this machine."""
    native_since: str
    """From this version on it does not choose Ray by itself."""


class CommandLine(Struct, frozen=True):
    """`options`: our names of layout and settings → the option that says it; one that every version has where there
    are several names. What the engine has no option for is not in it.
    """

    options: Mapping[str, str]
    switches: Mapping[str, str] = field(default_factory=dict)
    """Our names of settings → the switch that stands for their one value other than the engine's own."""
    programs: tuple[Program, ...] = ()
    build: Build | None = None
    names: tuple[str, ...] = ()
    """Regular expressions for its names in prose and in pins (`vllm==0.11.0`); a build without any shares versions."""
    images: tuple[str, ...] = ()
    """Regular expressions for names of images whose tag is its version."""
    launchers: tuple[str, ...] = ()
    """Commands that run the program behind them as it is."""
    told_by_program: bool = False
    """Its reader needs the words that name the program, since its programs take different options."""
    option_files: tuple[str, ...] = ()
    """The options that name a file with more options in it."""
    model: str = ""
    """The option that takes the model; "": the first argument."""
    tool_parser: str = ""
    """The options that choose parsers; "" where they are not judged."""
    reasoning_parser: str = ""
    auto_tools: str = ""
    """The switch without which its parser of tool calls does nothing."""
    key_env: str = ""
    """The variable that holds the API key; "": it reads none."""
    open_by_default: bool = False
    """Without --host it binds every interface."""
    port: int = 8000
    """Where it listens by default."""
    nodes: Nodes | None = None
    rocm_env: tuple[str, ...] = ()
    """Beginnings of the names of variables that it reads on AMD devices alone."""

    def __post_init__(self) -> None:
        force_setattr(self, "options", MappingProxyType(dict(self.options)))
        force_setattr(self, "switches", MappingProxyType(dict(self.switches)))
