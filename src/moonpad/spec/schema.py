"""What `moonpad.toml` may say. Frozen; an unknown key or a wrong type is refused, nothing is converted.

Each field's `description` is what a message wants in its place: "must be {description}, found …".
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic.fields import FieldInfo

from moonpad.engines import ENGINES
from moonpad.spec.durations import parse_duration
from moonpad.spec.extra_args import check_extra_args
from moonpad.spec.nearest import nearest
from moonpad.spec.texts import refuse_option, shorten
from moonpad.values.choice import Goal
from moonpad.values.deployment import NAME
from moonpad.values.errors import UsageError

_COUNT: Final = Field(ge=1, le=2**31 - 1, description="a whole number of 1 or more")
_ZERO_OR_MORE: Final = Field(ge=0, le=2**31 - 1, description="a whole number of 0 or more")
_SWITCH: Final = Field(description="true or false")

Count = Annotated[int, _COUNT]
CountOrDefault = Annotated[int | None, _COUNT]
ZeroOrMore = Annotated[int, _ZERO_OR_MORE]
ZeroOrMoreOrDefault = Annotated[int | None, _ZERO_OR_MORE]
Switch = Annotated[bool, _SWITCH]
SwitchOrDefault = Annotated[bool | None, _SWITCH]
ShareOrDefault = Annotated[float | None, Field(ge=0, le=1, description="a number from 0 to 1")]
Probes = Annotated[
    tuple[Annotated[str, Field(max_length=100)], ...],
    Field(strict=False, description='a list of probes, like ["tool_call", "needle"]'),
]
Text = Annotated[str, AfterValidator(refuse_option), Field(description="a text")]


def _pinned(image: str) -> str:
    # A tag moves; what was checked would not be what runs (fault 65).
    if not re.fullmatch(r"[\w][\w./:-]*@sha256:[0-9a-f]{64}", image, re.ASCII):
        raise ValueError(f'must be pinned by its digest, name@sha256: and 64 hex digits, found "{shorten(image)}"')
    return image


PinnedImage = Annotated[str, AfterValidator(_pinned), Field(description="a container image, name@sha256:…")]


def _seconds(value: object) -> float:
    if not isinstance(value, str):
        raise ValueError("must be a duration with its unit, like 10s, 500ms or 2m")
    try:
        return parse_duration(value)
    except ValueError:
        raise ValueError(f'must be written like 10s, 500ms or 2m, found "{shorten(value)}"') from None


Duration = Annotated[float, BeforeValidator(_seconds)]


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class EngineTable(Table):
    """Which engine, and where it is: nowhere said, moonpad's own environment of that name."""

    name: Annotated[str, Field(description="the name of an engine")]
    version: Annotated[str | None, Field(description='a version as a text, like "0.11.0"')] = None
    """What the plan reckons with; of an engine for processors the recipe decides instead."""
    python: Annotated[Text | None, Field(description="the path of the Python that the engine is installed for")] = None
    image: PinnedImage | None = None

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        check_engine_name(name)
        return name

    @field_validator("version")
    @classmethod
    def _version(cls, version: str | None) -> str | None:
        if version is not None and not re.fullmatch(r"[0-9][0-9A-Za-z.+-]{0,40}", version, re.ASCII):
            raise ValueError(f'must be a version, like "0.11.0", found "{shorten(version)}"')
        return version

    @model_validator(mode="after")
    def _one_place(self) -> EngineTable:
        if self.python and self.image:
            raise ValueError("has both python and image; leave one of them out")
        return self


class EndpointTable(Table):
    port: Annotated[int, Field(ge=1, le=65535, description="a whole number from 1 to 65535")] = 8000
    expose: Switch = False
    """Open it to others, who in rendered files reach it through a front alone. False binds 127.0.0.1."""
    front_image: PinnedImage | None = None
    """What the front runs in, where the engine runs in a container."""
    api_key_env: Annotated[str | None, Field(description="the name of an environment variable")] = None
    api_key_file: Annotated[Text | None, Field(description="the path of a file of mode 0600")] = None

    @field_validator("api_key_env")
    @classmethod
    def _variable(cls, name: str | None) -> str | None:
        if name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
            # What stands there may be the key itself, so it is not repeated.
            raise ValueError("must be the name of an environment variable, like MOONPAD_KEY; never the key itself")
        return name

    @model_validator(mode="after")
    def _one_key(self) -> EndpointTable:
        if self.api_key_env and self.api_key_file:
            raise ValueError("has both api_key_env and api_key_file; leave one of them out")
        return self

    @property
    def keyed(self) -> bool:
        return bool(self.api_key_env or self.api_key_file)


class WeightsTable(Table):
    """What the folder must hold; `up` refuses another one. Nowhere said, whatever is there is served."""

    scheme: Annotated[Text | None, Field(description='a format, like "int4", "fp8" or "bf16"')] = None
    revision: Annotated[Text | None, Field(description="a commit of the repository that it came from")] = None


class HardwareTable(Table):
    """What the endpoint is planned for; nowhere said, this machine."""

    cluster: Annotated[str | None, Field(description='a cluster, like "8xH200" or "2x8xH800"')] = None
    disk_gb_per_s: Annotated[float | None, Field(gt=0, description="a number above 0")] = None
    """How fast a machine reads the checkpoint, in 10^9 bytes a second; a start may take so long."""
    rdma: Switch = False
    """InfiniBand or RoCE joins the machines; a container is given its devices and may lock memory."""

    @field_validator("cluster")
    @classmethod
    def _known(cls, cluster: str | None) -> str | None:
        if cluster is not None:
            from moonpad.catalog.clusters import parse_cluster

            try:
                parse_cluster(cluster)
            except UsageError as error:
                raise ValueError(f"is no cluster: {error.message}") from None
        return cluster


class HostTable(Table):
    """One machine of several, in the order of their ranks; the first is this one, and has the endpoint."""

    address: Annotated[Text, Field(description="an address, as the other machines reach it")]
    ssh: Text | None = None
    """`user@host`, or a name of ~/.ssh/config; not said of this machine alone."""
    port: Annotated[int | None, Field(ge=1, le=65535, description="a whole number from 1 to 65535")] = None
    jump: Text | None = None
    """A host to go through, as `ssh -J` takes it."""
    engine_folder: Text | None = None
    """The folder of the engine's environment there, above its bin/; not said, where it is here."""
    checkpoint_folder: Text | None = None
    """The folder of the checkpoint there; not said, where it is here."""
    draft_folder: Text | None = None

    @field_validator("address", "ssh", "jump")
    @classmethod
    def _host(cls, name: str | None) -> str | None:
        if name is not None and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.@:,%\[\]-]{0,252}", name, re.ASCII):
            raise ValueError(f'must be a host, like "root@10.0.0.2", found "{shorten(name)}"')
        return name


class KubernetesTable(Table):
    """What only the cluster's owner knows."""

    checkpoint_claim: Annotated[str | None, Field(description="the name of a PersistentVolumeClaim")] = None
    """It holds the checkpoint; not said, the spec's name with `-checkpoint`."""
    draft_claim: Annotated[str | None, Field(description="the name of a PersistentVolumeClaim")] = None
    """It holds the draft model; not said, the spec's name with `-draft`."""
    rdma_resource: Annotated[str | None, Field(description='a resource of a device plugin, like "rdma/hca"')] = None

    @field_validator("checkpoint_claim", "draft_claim")
    @classmethod
    def _claim(cls, name: str | None) -> str | None:
        if name is not None and not NAME.match(name):
            raise ValueError(f'must be 1 to 63 of a-z, 0-9 and inner "-", found "{shorten(name)}"')
        return name

    @field_validator("rdma_resource")
    @classmethod
    def _resource(cls, name: str | None) -> str | None:
        if name is not None and not re.fullmatch(r"[a-z0-9.-]{1,253}/[A-Za-z0-9][A-Za-z0-9._-]{0,62}", name, re.ASCII):
            raise ValueError(f'must be a resource like "rdma/hca", found "{shorten(name)}"')
        return name


class LayoutTable(Table):
    """Tensor, pipeline, data and decode-context parallel sizes; how many ranks share the experts."""

    tp: Count = 1
    pp: Count = 1
    dp: Count = 1
    dcp: Count = 1
    ep: CountOrDefault = None
    """Ranks that share the experts; not said, 1 or, with `expert_parallel`, tp times dp."""
    expert_parallel: Switch = False

    @model_validator(mode="after")
    def _one_ep(self) -> LayoutTable:
        if self.expert_parallel and self.ep is not None and self.ep != self.tp * self.dp:
            raise ValueError(f"has ep = {self.ep} and expert_parallel, which is ep = tp * dp = {self.tp * self.dp}")
        return self


class SettingsTable(Table):
    """The engine's limits. What is not said is chosen by the plan."""

    max_model_len: CountOrDefault = None
    max_num_seqs: CountOrDefault = None
    max_num_batched_tokens: CountOrDefault = None
    gpu_memory_utilization: Annotated[float | None, Field(gt=0, lt=1, description="a number between 0 and 1")] = None
    kv_cache_dtype: Text | None = None
    kv_cache_gib: CountOrDefault = None
    enforce_eager: SwitchOrDefault = None
    prefix_caching: SwitchOrDefault = None
    attention_backend: Text | None = None
    block_size: CountOrDefault = None
    """Tokens of a block of the KV cache."""
    kv_free_fraction: Annotated[float | None, Field(gt=0, le=1, description="a number above 0, at most 1")] = None
    """TensorRT-LLM: the share of what the weights leave free."""
    redundant_experts: ZeroOrMore = 0
    """Copies of experts beyond the model's own."""
    executor: Annotated[str | None, Field(description='"ray", or not said')] = None
    """`ray`: vLLM's ranks on several machines are started by Ray instead of its own multi-node."""
    text_only: Switch = False
    """Leave out the vision tower of a model that has one."""
    draft: Text | None = None
    """The folder of an EAGLE-3 draft for speculative decoding, relative to the file."""
    draft_tokens: CountOrDefault = None
    """How many tokens it proposes at a time; not said, 3."""
    gpu_experts: ZeroOrMoreOrDefault = None
    """KTransformers: experts of each layer on the devices; the others lie in host RAM."""
    extra_args: Annotated[
        tuple[str, ...], Field(strict=False, description='a list of texts, like ["--flag", "value"]')
    ] = ()

    @model_validator(mode="after")
    def _a_draft_proposes(self) -> SettingsTable:
        if self.draft_tokens is not None and self.draft is None:
            raise ValueError("has draft_tokens, and no draft that proposes them")
        return self

    @field_validator("executor")
    @classmethod
    def _executor(cls, name: str | None) -> str | None:
        if name not in (None, "ray"):
            raise ValueError(f'must be "ray", or not said, found "{shorten(str(name))}"')
        return name

    @field_validator("extra_args")
    @classmethod
    def _no_key_of_ours(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        check_extra_args(args)
        return args


class LaunchTable(Table):
    start_timeout_s: Duration | None = Field(default=None, alias="start_timeout")
    """How long the engine may take until its first token; not said, what the weights take to read (plan/start.py)."""
    stop_grace_s: Duration = Field(default=20.0, alias="stop_grace")
    """How long it may take to end by itself before it is killed."""
    drain_s: Duration = Field(default=30.0, alias="drain")
    """How long running requests may go on at a stop, where the engine can refuse new ones. 0s: they are cut."""
    restarts: ZeroOrMore = 3
    """How often, within `restart_window`, an engine that was ready and has ended is started again."""
    restart_window_s: Duration = Field(default=3600.0, alias="restart_window")
    restart_backoff_s: Duration = Field(default=2.0, alias="restart_backoff")
    """The pause before the first restart of a window; each further one is twice as long, at most five minutes."""
    restart_on_stall: Switch = True
    """Start a hung engine again; without it, only the state says that it hangs."""
    min_healthy_s: Duration = Field(default=30.0, alias="min_healthy")
    """How long after *ready* without a failed probe until *stable*."""
    stall_after_s: Duration = Field(default=30.0, alias="stall_after")
    """Requests run and nothing has moved for so long: then one token is asked for; none comes from a hung engine."""
    stall_probe_s: Duration = Field(default=15.0, alias="stall_probe")
    """How long that one token may take."""
    host_lease_s: Duration = Field(default=60.0, alias="host_lease")
    """How long a rank on another host lives on when nothing is heard from the first one."""


class GateTable(Table):
    """What `verify --gate` asks of the endpoint; nowhere said, that nothing fails."""

    must_pass: Probes = ()
    """Probes that may not be skipped either; those that take long are asked for it."""
    may_fail: Probes = ()
    """Probes whose failure is told and does not count."""
    loop_calls: CountOrDefault = None
    """Right calls before `verify --loop` drifts, at the least."""
    schema_accuracy: ShareOrDefault = None
    """Of `verify --vendor`, from 0 to 1."""
    trigger_similarity: ShareOrDefault = None


class Spec(Table):
    """A whole `moonpad.toml`. `model` is a name of the catalogue, or a folder relative to the file."""

    name: Annotated[str, Field(description="a text")]
    model: Text
    engine: Annotated[EngineTable, Field(description='a name, like "vllm-cpu", or a table')]
    served_name: Text
    goal: Annotated[Goal | None, Field(description='"latency", "throughput" or "context"')] = None
    """What `plan` puts first; nothing of a start depends on it."""
    trust_remote_code: Switch = False
    """Let the engine run the Python in the checkpoint: the tokenizer that Kimi-K2 was published with is such code."""
    weights: WeightsTable = WeightsTable()
    hardware: HardwareTable = HardwareTable()
    endpoint: EndpointTable = EndpointTable()
    layout: LayoutTable = LayoutTable()
    settings: SettingsTable = SettingsTable()
    launch: LaunchTable = LaunchTable()
    gate: GateTable = GateTable()
    kubernetes: KubernetesTable = KubernetesTable()
    hosts: Annotated[tuple[HostTable, ...], Field(strict=False, description="a list of tables, [[hosts]]")] = ()

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        model = document.get("model")
        return {"served_name": short_name(model) if isinstance(model, str) else "model", **document}

    @field_validator("hosts")
    @classmethod
    def _this_one_first(cls, hosts: tuple[HostTable, ...]) -> tuple[HostTable, ...]:
        for place, host in enumerate(hosts):
            if (host.ssh is None) != (place == 0):
                what = "is this machine, and has no ssh" if place == 0 else "needs ssh, the way to it"
                raise ValueError(f"number {place + 1} {what}")
        return hosts

    @field_validator("engine", mode="before")
    @classmethod
    def _by_name(cls, engine: object) -> object:
        return {"name": engine} if isinstance(engine, str) else engine

    @field_validator("name")
    @classmethod
    def _label(cls, name: str) -> str:
        if not NAME.match(name):
            raise ValueError(f'must be 1 to 63 of a-z, 0-9 and inner "-", found "{shorten(name)}"')
        return name


def check_engine_name(name: str) -> None:
    """Raises ValueError that lists the known engines."""
    if name not in ENGINES:
        near = nearest(name, ENGINES)
        hint = f'; did you mean "{near}"?' if near else ""
        raise ValueError(f'must be one of {", ".join(ENGINES)}, found "{shorten(name)}"{hint}')


def short_name(model: str) -> str:
    """`Kimi-K2-Instruct` of `~/models/Kimi-K2-Instruct/`; of a snapshot in a Hugging Face cache the repository's name.

    "model" where the path has no last part that could be a name.
    """
    words = [word for word in PurePosixPath(model).parts if word not in ("/", ".", "..", "~")]
    if len(words) >= 3 and words[-2] == "snapshots" and words[-3].startswith("models--"):
        words = words[-3].rsplit("--", 1)
    return words[-1] if words and words[-1].strip("- ") and not words[-1].startswith("-") else "model"


def fields_of(table: type[Table]) -> dict[str, FieldInfo]:
    """The keys of a table as the file spells them."""
    return {field.alias or name: field for name, field in table.model_fields.items()}


TABLES: Final[dict[str, type[Table]]] = {
    "": Spec,
    "engine": EngineTable,
    "weights": WeightsTable,
    "hardware": HardwareTable,
    "endpoint": EndpointTable,
    "layout": LayoutTable,
    "settings": SettingsTable,
    "launch": LaunchTable,
    "gate": GateTable,
    "kubernetes": KubernetesTable,
    "hosts": HostTable,
}
