"""What `moonpad.toml` may say. Frozen; an unknown key or a wrong type is refused, and nothing is converted.

Each field's `description` completes a message: "must be {description}, found …".
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any, Final

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo

from moonpad.catalog.clusters import parse_cluster
from moonpad.engines import ENGINES
from moonpad.spec.extra_args import check_extra_args
from moonpad.spec.fields import (
    LABEL,
    Claim,
    Count,
    CountOrDefault,
    Duration,
    EncoderMode,
    Executor,
    Host,
    PinnedImage,
    Probes,
    Resource,
    ShareOrDefault,
    SizeOrDefault,
    Switch,
    SwitchOrDefault,
    Table,
    Text,
    Variable,
    ZeroOrMore,
    ZeroOrMoreOrDefault,
)
from moonpad.spec.near_match import did_you_mean
from moonpad.spec.router_table import LONGEST_ROUTED_NAME, RouterTable, refuse_colliding_ports
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import UsageError
from moonpad.values.plan_answer import Goal
from moonpad.values.versions import CHANNELS, parse


class EngineTable(Table):
    """Which engine, and where it is installed; by default in the environment that moonpad made for it."""

    name: Annotated[str, Field(description="the name of an engine")]
    version: Annotated[str | None, Field(description='a version as a text, like "0.11.0"')] = None
    """What the plan assumes; for CPU engines the install recipe decides instead."""
    python: Annotated[Text | None, Field(description="the path of the Python that the engine is installed for")] = None
    image: PinnedImage | None = None

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in ENGINES:
            meant = did_you_mean(name, ENGINES)
            raise ValueError(f'must be one of {", ".join(ENGINES)}, found "{shorten(name)}"{meant}')
        return name

    @field_validator("version")
    @classmethod
    def _version(cls, version: str | None) -> str | None:
        if version is not None and version not in CHANNELS and (parse(version) is None or not version[0].isdigit()):
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
    """Open it to other machines; in rendered files only through a proxy. False binds 127.0.0.1."""
    front_image: PinnedImage | None = None
    """The image of the proxy, where the engine runs in a container."""
    api_key_env: Annotated[Variable | None, Field(description="the name of an environment variable")] = None
    api_key_file: Annotated[Text | None, Field(description="the path of a file of mode 0600")] = None

    @model_validator(mode="after")
    def _one_key(self) -> EndpointTable:
        if self.api_key_env and self.api_key_file:
            raise ValueError("has both api_key_env and api_key_file; leave one of them out")
        return self

    @property
    def keyed(self) -> bool:
        return bool(self.api_key_env or self.api_key_file)


class WeightsTable(Table):
    """What the folder must hold; `up` refuses anything else. By default it serves whatever is there."""

    scheme: Annotated[Text | None, Field(description='a format, like "int4", "fp8" or "bf16"')] = None
    revision: Annotated[Text | None, Field(description="a commit of the repository that it came from")] = None


class HardwareTable(Table):
    """What the endpoint is planned for; by default this machine."""

    cluster: Annotated[str | None, Field(description='a cluster, like "8xH200" or "2x8xH800"')] = None
    disk_gb_per_s: Annotated[float | None, Field(gt=0, description="a number above 0")] = None
    """How fast a machine reads the checkpoint, in 10^9 bytes a second; it sets how long a start may take."""
    rdma: Switch = False
    """The machines are joined by InfiniBand or RoCE; containers get its devices and may lock memory."""

    @field_validator("cluster")
    @classmethod
    def _known(cls, cluster: str | None) -> str | None:
        if cluster is not None:
            try:
                parse_cluster(cluster)
            except UsageError as error:
                raise ValueError(f"is not a cluster: {error.message}") from None
        return cluster


class HostTable(Table):
    """One machine of several, in rank order; the first is this one, and serves the endpoint."""

    address: Annotated[Host, Field(description="an address at which the other machines reach it")]
    ssh: Host | None = None
    """`user@host`, or a name of ~/.ssh/config; absent for this machine only."""
    port: Annotated[int | None, Field(ge=1, le=65535, description="a whole number from 1 to 65535")] = None
    jump: Host | None = None
    """A host to go through, as `ssh -J` takes it."""
    engine_folder: Text | None = None
    """The engine's environment there, the folder above its bin/; by default the same path as here."""
    checkpoint_folder: Text | None = None
    """The checkpoint's folder there; by default the same path as here."""
    draft_folder: Text | None = None


class KubernetesTable(Table):
    """What only the owner of the Kubernetes cluster knows."""

    checkpoint_claim: Annotated[Claim | None, Field(description="the name of a PersistentVolumeClaim")] = None
    """It holds the checkpoint; by default the spec's name with `-checkpoint`."""
    draft_claim: Annotated[Claim | None, Field(description="the name of a PersistentVolumeClaim")] = None
    """It holds the draft model; by default the spec's name with `-draft`."""
    rdma_resource: Annotated[Resource | None, Field(description='a resource of a device plugin, like "rdma/hca"')] = (
        None
    )


class LayoutTable(Table):
    """Tensor, pipeline, data and decode-context parallel sizes; how many ranks share the experts."""

    tp: Count = 1
    pp: Count = 1
    dp: Count = 1
    dcp: Count = 1
    ep: CountOrDefault = None
    """Ranks that share the experts; by default 1 or, with `expert_parallel`, tp times dp."""
    expert_parallel: Switch = False

    @model_validator(mode="after")
    def _one_ep(self) -> LayoutTable:
        if self.expert_parallel and self.ep is not None and self.ep != self.tp * self.dp:
            raise ValueError(f"has ep = {self.ep} and expert_parallel, which is ep = tp * dp = {self.tp * self.dp}")
        return self


class SettingsTable(Table):
    """The engine's limits. The plan chooses those that are absent."""

    max_model_len: CountOrDefault = None
    max_num_seqs: CountOrDefault = None
    max_num_batched_tokens: CountOrDefault = None
    gpu_memory_utilization: Annotated[float | None, Field(gt=0, le=1, description="a number above 0, at most 1")] = None
    kv_cache_dtype: Text | None = None
    kv_cache_gib: CountOrDefault = None
    enforce_eager: SwitchOrDefault = None
    prefix_caching: SwitchOrDefault = None
    attention_backend: Text | None = None
    block_size: CountOrDefault = None
    """Tokens per block of the KV cache."""
    kv_free_fraction: Annotated[float | None, Field(gt=0, le=1, description="a number above 0, at most 1")] = None
    """TensorRT-LLM: the share of what the weights leave free."""
    redundant_experts: ZeroOrMore = 0
    """Copies of experts beyond the model's own."""
    executor: Annotated[Executor | None, Field(description='"ray" or absent')] = None
    """`ray`: Ray starts vLLM's ranks on several machines, instead of vLLM's own multi-node support."""
    text_only: Switch = False
    """Leave out the vision tower of a model that has one."""
    mm_encoder_tp_mode: Annotated[EncoderMode | None, Field(description='"data" or "weights"')] = None
    """vLLM: `data` holds the whole vision tower on each rank, `weights` slices it."""
    draft: Text | None = None
    """The folder of a draft for speculative decoding, relative to the file."""
    draft_tokens: CountOrDefault = None
    """How many tokens it proposes at a time; by default 3."""
    max_loras: ZeroOrMore = 0
    """vLLM: for how many LoRA adapters it holds buffers at once."""
    max_lora_rank: CountOrDefault = None
    cpu_offload_gib: SizeOrDefault = None
    """GiB of weights of each device that lie in host RAM."""
    kv_offload_size: SizeOrDefault = None
    """A copy of the KV cache in host RAM: GiB of a replica for vLLM, 10^9 bytes of each rank for SGLang."""
    kv_offload_ratio: SizeOrDefault = None
    """SGLang: the same as a multiple of the KV cache on the devices."""
    gpu_experts: ZeroOrMoreOrDefault = None
    """KTransformers: experts of each layer kept on the devices; the others stay in host RAM."""
    device_layers: ZeroOrMoreOrDefault = None
    """llama.cpp: so many layers, the output among them, lie on the devices, the others in host RAM; by default all."""
    host_expert_layers: ZeroOrMoreOrDefault = None
    """llama.cpp: the routed experts of so many layers, from the first, stay in host RAM."""
    extra_args: Annotated[
        tuple[str, ...], Field(strict=False, description='a list of texts, like ["--flag", "value"]')
    ] = ()
    option_file: dict[str, Any] = Field(default_factory=dict, description="a table of keys of the engine's option file")
    """TensorRT-LLM: keys of its YAML beside those that are made of the settings above."""

    @model_validator(mode="after")
    def _a_draft_proposes(self) -> SettingsTable:
        if self.draft_tokens is not None and self.draft is None:
            raise ValueError("has draft_tokens but no draft")
        return self

    @field_validator("extra_args")
    @classmethod
    def _no_key_of_ours(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        check_extra_args(args)
        return args


class LaunchTable(Table):
    start_timeout_s: Duration | None = Field(default=None, alias="start_timeout")
    """How long the engine may take until its first token; by default derived from the size of the weights."""
    stop_grace_s: Duration = Field(default=20.0, alias="stop_grace")
    """How long it may take to exit before it is killed."""
    drain_s: Duration = Field(default=30.0, alias="drain")
    """How long running requests may continue at a stop, where the engine can refuse new ones. 0s: they are cut off."""
    restarts: ZeroOrMore = 3
    """How often, within `restart_window`, an engine that was ready and exited is restarted."""
    restart_window_s: Duration = Field(default=3600.0, alias="restart_window")
    restart_backoff_s: Duration = Field(default=2.0, alias="restart_backoff")
    """The pause before the first restart of a window; it doubles with each restart, up to five minutes."""
    restart_on_stall: Switch = True
    """Restart a hung engine; otherwise `status` only reports that it hangs."""
    min_healthy_s: Duration = Field(default=30.0, alias="min_healthy")
    """How long without a failed probe after *ready* until *stable*."""
    stall_after_s: Duration = Field(default=30.0, alias="stall_after")
    """With requests running and no progress for this long, one token is requested; a hung engine sends none."""
    stall_probe_s: Duration = Field(default=15.0, alias="stall_probe")
    """How long that one token may take."""
    host_lease_s: Duration = Field(default=60.0, alias="host_lease")
    """How long a rank on another host keeps running without contact to the first host."""


class GateTable(Table):
    """What `verify --gate` and `eval --gate` require; by default that nothing fails."""

    must_pass: Probes = ()
    """Probes that must not be skipped either; the long ones then run."""
    may_fail: Probes = ()
    """Probes whose failure is reported and does not count."""
    loop_calls: CountOrDefault = None
    """The least number of correct calls before `verify --loop` drifts."""
    schema_accuracy: ShareOrDefault = None
    """Of `verify --vendor`, from 0 to 1."""
    trigger_similarity: ShareOrDefault = None
    accuracy: ShareOrDefault = None
    """Of `eval`: the least accuracy, from 0 to 1."""
    cut_share: ShareOrDefault = None
    """Of `eval`: the largest share of answers that the limit on tokens cuts."""
    accuracy_drop: ShareOrDefault = None
    """Of `eval --against`: how much less accurate than the earlier evaluation, at the lower end of the interval."""


class Spec(Table):
    """A whole `moonpad.toml`. `model` is a name of the catalogue, or a folder relative to the file."""

    name: Annotated[str, LABEL, Field(description="a text")]
    model: Text
    engine: Annotated[EngineTable, Field(description=f'a name, like "{next(iter(ENGINES))}", or a table')]
    served_name: Text
    goal: Annotated[Goal | None, Field(description='"latency", "throughput" or "context"')] = None
    """What `plan` ranks by; a start does not depend on it."""
    trust_remote_code: Switch = False
    """Let the engine run Python from the checkpoint: the tokenizer that Kimi-K2 was published with is such code."""
    weights: WeightsTable = WeightsTable()
    hardware: HardwareTable = HardwareTable()
    endpoint: EndpointTable = EndpointTable()
    layout: LayoutTable = LayoutTable()
    settings: SettingsTable = SettingsTable()
    launch: LaunchTable = LaunchTable()
    gate: GateTable = GateTable()
    kubernetes: KubernetesTable = KubernetesTable()
    hosts: Annotated[tuple[HostTable, ...], Field(strict=False, description="a list of tables, [[hosts]]")] = ()
    router: Annotated[RouterTable | None, Field(description="a table, [router]")] = None

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        model = document.get("model")
        return {"served_name": short_name(model) if isinstance(model, str) else "model", **document}

    @field_validator("hosts")
    @classmethod
    def _first_is_local(cls, hosts: tuple[HostTable, ...]) -> tuple[HostTable, ...]:
        for place, host in enumerate(hosts):
            if (host.ssh is None) != (place == 0):
                what = "is this machine and takes no ssh" if place == 0 else "needs ssh"
                raise ValueError(f"number {place + 1} {what}")
        return hosts

    @field_validator("router")
    @classmethod
    def _fits_the_rest(cls, router: RouterTable | None, info: ValidationInfo) -> RouterTable | None:
        if router is None:
            return None
        if info.data.get("hosts"):
            raise ValueError("and [[hosts]] exclude one another: copies behind a router run on this machine")
        if (name := info.data.get("name")) and len(name) > LONGEST_ROUTED_NAME:
            raise ValueError(f"needs a name of at most {LONGEST_ROUTED_NAME} characters: each copy's name adds to it")
        if (endpoint := info.data.get("endpoint")) is not None:
            refuse_colliding_ports(endpoint, router)
        return router

    @field_validator("engine", mode="before")
    @classmethod
    def _by_name(cls, engine: object) -> object:
        return {"name": engine} if isinstance(engine, str) else engine


def short_name(model: str) -> str:
    """`Kimi-K2-Instruct` of `~/models/Kimi-K2-Instruct/`; of a snapshot in a Hugging Face cache the repository's name.

    "model" where the path has no last part that could be a name. Without a colon, which SGLang refuses in a name.
    """
    words = [word for word in PurePosixPath(model).parts if word not in ("/", ".", "..", "~")]
    if len(words) >= 3 and words[-2] == "snapshots" and words[-3].startswith("models--"):
        words = words[-3].rsplit("--", 1)
    name = words[-1].replace(":", "-") if words else ""
    return name if name.strip("- ") and not name.startswith("-") else "model"


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
    "router": RouterTable,
}
