"""What every engine answers. An engine is one file; it opens no socket and starts no process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from moonpad.engines.log_grammar import LogGrammar
from moonpad.engines.recipe import Recipe
from moonpad.values.deployment import Deployment, Executable, Runtime
from moonpad.values.plan import Layout, Plan, Platform, Settings
from moonpad.values.refs import PathRef


@dataclass(frozen=True, slots=True)
class MetricNames:
    """Names in the engine's `/metrics`; "" where it has none of the kind."""

    running: str
    waiting: str
    kv_cache_usage: str
    generation_tokens: str
    prompt_tokens: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a command line says, in our words. `unknown` keeps the arguments that were not understood."""

    model: str
    served_name: str
    layout: Layout
    settings: Settings
    unknown: tuple[str, ...] = ()


class Engine(Protocol):
    """One engine in one environment. `read(argv of processes(plan))` gives the plan's layout and settings back."""

    @property
    def name(self) -> str: ...

    @property
    def platform(self) -> Platform: ...

    @property
    def log(self) -> LogGrammar: ...

    @property
    def metrics(self) -> MetricNames: ...

    @property
    def recipe(self) -> Recipe | None:
        """How moonpad installs it; None where the user brings it."""

    @property
    def command(self) -> str:
        """Its executable's name inside its environment, `vllm`."""

    def processes(self, plan: Plan, runtime: Runtime) -> Deployment:
        """What is to run. Pure: hosts, ports, paths and secrets stay references."""

    def read(self, argv: Sequence[str], env: Mapping[str, str]) -> Reading:
        """The inverse of `processes`, for argv after the executable's prefix and the environment beside it."""


def installed_runtime(command: str) -> Executable:
    """The executable `command` of the environment that is bound to the path `engine`."""
    return Executable(((PathRef("engine"), f"/bin/{command}"),))
