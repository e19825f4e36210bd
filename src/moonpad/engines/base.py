"""What every engine answers. An engine is one file; it opens no socket and starts no process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moonpad.engines.api_facts import ApiFacts
from moonpad.engines.argv_reader import Parsed, Value
from moonpad.engines.command_line import CommandLine
from moonpad.engines.install_recipe import Recipe
from moonpad.engines.log_grammar import LogGrammar
from moonpad.values.configuration import EngineFacts
from moonpad.values.deployment import (
    AliveProbe,
    Deployment,
    Executable,
    File,
    HealthProbe,
    HttpProbe,
    Image,
    PortSpec,
    Process,
    Reach,
    Resources,
    Role,
    Runtime,
    Stop,
)
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout, Plan, Platform, Settings
from moonpad.values.records import field_names, replace
from moonpad.values.references import Arg, HostRef, PathRef, PortRef

API: Final = PortRef("engine", "api")


class RequestTimeNames(Struct, frozen=True):
    """Histograms in the engine's `/metrics` of where the time of its requests went, in seconds, and of the tokens of
    their prompts; "" where it has none of the kind, or none is known."""

    queued: str = ""
    prefill: str = ""
    decode: str = ""
    between_tokens: str = ""
    prompt_tokens: str = ""
    ttft: str = ""
    e2e: str = ""
    """From a request's arrival to its first token, and to its last."""


NO_TIMES: Final = RequestTimeNames()


class MetricNames(Struct, frozen=True):
    """Names in the engine's `/metrics`; "" where it has none of the kind, or none is known."""

    running: str
    waiting: str
    kv_cache_usage: str
    generation_tokens: str
    prompt_tokens: str
    preemptions: str = ""
    prefix_hits: str = ""
    prefix_queries: str = ""
    """Tokens that were found in the prefix cache, and that were looked for."""
    drafted: str = ""
    accepted: str = ""
    """Tokens that speculative decoding guessed, and those of them that the model took."""
    times: RequestTimeNames = NO_TIMES


class ServingFlags(Struct, frozen=True):
    """What a command line says of the endpoint. None: not said, the engine's default holds."""

    host: str | None = None
    port: int | None = None
    keyed: bool = False
    key_in_argv: bool = False
    """The key stands where `ps` shows it."""
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    auto_tool_choice: bool = False
    trust_remote_code: bool = False


class NodeFlags(Struct, frozen=True):
    """What a command line says of its place among several nodes. None: not said."""

    nodes: int | None = None
    node_rank: int | None = None
    headless: bool = False
    data_parallel_local: int | None = None
    start_rank: int | None = None
    """The first data-parallel rank of this node."""
    master: str = ""
    """The address where the nodes meet, as written: a host, or host:port."""


class Reading(Struct, frozen=True):
    """What a command line says, in our words. `unknown` keeps the arguments that were not understood.

    `parsed` has each option with its place and its problem. `extra` are the options that say
    nothing of the fields here. `replicas`: whole copies of the layout behind one endpoint (SGLang's `--dp-size` without
    attention DP).
    """

    model: str
    served_name: str
    layout: Layout
    settings: Settings
    unknown: tuple[str, ...] = ()
    engine: str = ""
    parsed: Parsed = field(default_factory=Parsed)
    serving: ServingFlags = ServingFlags()
    node: NodeFlags = NodeFlags()
    attention_dp: bool = False
    replicas: int = 1
    takes_all_devices: bool = False
    """It deals the model out over every device that it finds, since no number is given."""
    left_to_engine: str = ""
    """What the engine chooses at its start by what it finds, so that what the devices hold is unknown."""
    effort: int = 0
    """Steps of work, each about half a microsecond, that reading took beyond a few for each word."""
    extra: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        force_setattr(self, "extra", MappingProxyType(dict(self.extra)))


class Invocation(Struct, frozen=True):
    """A command line to read, with or without the words that name the executable."""

    argv: Sequence[str]
    env: Mapping[str, str]
    program: str
    """The name of the engine's options in the catalogue."""
    version: str | None
    files: Mapping[str, str]
    """The contents of files that the arguments name, by path."""


class Engine(Struct, frozen=True, kw_only=True):
    """One engine in one environment. `read(argv of processes(plan))` gives the plan's layout and settings back."""

    facts: EngineFacts
    """What planning and judging have to know of it."""
    command: str
    """Its executable's name inside its environment, `vllm`."""
    program: str
    """The name of its options in the catalogue, `vllm serve`."""
    command_line: CommandLine
    """How scripts and documents name it, start it and talk to it."""
    log: LogGrammar
    metrics: MetricNames
    api: ApiFacts
    deploy: Callable[[Engine, Plan, Runtime], Deployment]
    reader: Callable[[Invocation], Reading]
    recipe: Recipe | None = None
    """How moonpad installs it; None where the user brings it, in an image or in an environment."""
    version_args: tuple[str, ...] = ("--version",)
    """The arguments at which the command prints the engine's version."""
    build_pattern: str = ""
    """Finds the number in that answer, in its first group, where the engine numbers its builds: 11434 of `b11434`."""
    packages: tuple[str, ...] = ()
    """The Python packages whose number is its release, as the folders of their metadata spell them."""
    extended_by: tuple[str, ...] = ()
    """Packages that make another engine of it, with releases of their own, where they are installed beside it."""

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """Where it runs, the usual one first."""
        return self.facts.platforms

    @property
    def platform(self) -> Platform:
        return self.facts.platforms[0]

    def processes(self, plan: Plan, runtime: Runtime) -> Deployment:
        """What is to run. Pure: hosts, ports, paths and secrets stay references.

        Raises:
            PreflightRefused: the plan asks for what this engine has no option for.
        """
        refuse_transfer(plan, self.facts)
        return self.deploy(self, plan, runtime)

    def read(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        files: Mapping[str, str] | None = None,
        version: str | None = None,
    ) -> Reading:
        """The inverse of `processes`. Never raises, whatever the argv."""
        reading = self.reader(Invocation(argv, env, self.program, version, files or {}))
        return replace(reading, engine=self.name)


def settled_version(engine: Engine) -> str | None:
    """The version that is planned whatever else there is: the build for a processor is the one that moonpad installs.
    On devices the user's image or environment decides."""
    return engine.recipe.version if engine.recipe and engine.platform is Platform.CPU else None


def installed_runtime(command: str) -> Executable:
    """The executable `command` of the environment that is bound to the path `engine`."""
    return Executable(((PathRef("engine"), f"/bin/{command}"),))


def listen_on(reach: Reach, runtime: Runtime) -> str:
    """The address that a server binds. In a network of a container's own the publishing of its port decides who
    reaches it, so there it is every interface, unless it is private."""
    alone = isinstance(runtime, Image) and runtime.own_network
    closed = reach == "private" or (reach == "loopback" and not alone)
    return "127.0.0.1" if closed else "0.0.0.0"  # noqa: S104 - `expose` asked, or its own


def address_for(plan: Plan, runtime: Runtime, node: str, reach: Reach) -> Arg:
    """As `listen_on`; the servers of a pool bind the address of their node alone, where the other pool asks them."""
    return HostRef(node) if plan.transfer and reach == "cluster" else listen_on(reach, runtime)


def node_process(
    plan: Plan,
    runtime: Runtime,
    rank: int,
    argv: Iterable[Arg],
    *,
    role: Role = Role.ENGINE,
    env: Mapping[str, Arg],
    files: tuple[File, ...] = (),
    cluster_ports: tuple[PortSpec, ...] = (),
    node_ports: tuple[PortSpec, ...] = (),
    memory_bytes: int = 0,
    shm_bytes: int = 0,
    drain_s: float = 0.0,
) -> Process:
    """The process of one node. Node 0 serves the API and has the ports where the nodes meet; each has `node_ports`."""
    head = rank == 0
    return Process(
        name=process_name(rank),
        role=role,
        node=f"node-{rank}",
        rank=rank,
        runtime=runtime,
        argv=tuple(argv),
        env=env,
        files=files,
        ports=(PortSpec(API.name, plan.serving.port, plan.serving.reach), *cluster_ports, *node_ports)
        if head
        else node_ports,
        needs=Resources(
            devices=devices_per_node(plan),
            platform=plan.platform,
            memory_bytes=memory_bytes,
            shm_bytes=shm_bytes,
            rdma=plan.rdma,
        ),
        ready=AliveProbe() if not head else HealthProbe(API) if plan.transfer else HttpProbe(API),
        start_budget_s=plan.start_budget_s,
        stop=Stop(grace_s=plan.stop_grace_s, drain_s=drain_s),
    )


def process_name(rank: int) -> str:
    """Of the process of a node."""
    return API.process if rank == 0 else f"{API.process}-{rank}"


def devices_per_node(plan: Plan) -> int:
    return 0 if plan.platform is Platform.CPU else plan.layout.world_size // plan.nodes


OFFLOAD: Final = frozenset({"cpu_offload_gib", "kv_offload_size", "kv_offload_ratio"})
"""Settings that mean nothing where the engine computes in host RAM anyway."""


def setting_argv(settings: Settings, flags: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The settings that are set, by (flag, field)."""
    for flag, name in flags:
        if (value := getattr(settings, name)) is not None:
            yield from (flag, spelled(value))


def spelled(value: object) -> str:
    """As every engine's parser takes it: 10 for 10.0, as some take whole numbers alone."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def size_argv(sizes: Iterable[tuple[str, int]]) -> Iterator[str]:
    """The parallel sizes that are more than 1, by flag."""
    for flag, size in sizes:
        if size > 1:
            yield from (flag, str(size))


def refuse_uneven_nodes(plan: Plan) -> None:
    """Raises PreflightRefused where the nodes cannot have equally many ranks."""
    if plan.layout.world_size % plan.nodes:
        raise refuse_layout(
            plan,
            "layout",
            f"{plan.layout.world_size} ranks do not divide over {plan.nodes} nodes",
            f"choose sizes whose product is a multiple of {plan.nodes}",
        )


def refuse_unsaid(plan: Plan, settings: frozenset[str], layout: frozenset[str]) -> None:
    """Refuses a plan that says what the engine has no option for: dropped silently, it would not be what runs.

    `settings` and `layout` name the fields that the engine can say.

    Raises:
        PreflightRefused: with one finding a field.
    """
    findings = [*_unsaid(plan, plan.layout, Layout(), layout), *_unsaid(plan, plan.settings, Settings(), settings)]
    if plan.option_file and "option_file" not in settings:
        message = f"moonpad writes no option file for {plan.engine}"
        findings.append(Finding(Severity.ERROR, Code.CONFLICT, "option_file", message, "use extra_args"))
    if findings:
        raise PreflightRefused(f"{plan.engine} cannot be told all of this plan", findings=tuple(findings))


def _unsaid(plan: Plan, value: Layout | Settings, default: Layout | Settings, can: frozenset[str]) -> Iterator[Finding]:
    for name in field_names(type(value)):
        asked = getattr(value, name)
        if name not in can and asked != getattr(default, name):
            message = f"{plan.engine} has no option for {name} = {asked}"
            yield Finding(Severity.ERROR, Code.CONFLICT, name, message, f"leave {name} out")


def refuse_transfer(plan: Plan, facts: EngineFacts) -> None:
    """Raises PreflightRefused where the plan is one of two pools and the engine has not its connector."""
    if plan.transfer is None:
        return
    able = tuple(facts.pools.connectors) if facts.pools else ()
    if plan.transfer.connector not in able:
        message = f"{plan.engine} has no connector {plan.transfer.connector} that moonpad can write"
        remedy = f"use {' or '.join(able)}" if able else "leave [prefill] and [decode] out"
        finding = Finding(Severity.ERROR, Code.CONFLICT, "connector", message, remedy)
        raise PreflightRefused(f"{plan.engine} cannot be told all of this plan", findings=(finding,))


def refuse_layout(plan: Plan, where: str, message: str, remedy: str) -> PreflightRefused:
    """The error for a layout that the engine cannot be told."""
    finding = Finding(Severity.ERROR, Code.ILLEGAL_LAYOUT, where, message, remedy)
    return PreflightRefused(f"{plan.engine} cannot run this layout", findings=(finding,))
