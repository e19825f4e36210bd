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
from moonpad.spec.fields import (
    LABEL,
    Claim,
    CountOrDefault,
    Duration,
    Host,
    PinnedImage,
    Probes,
    Release,
    Resource,
    ShareOrDefault,
    Switch,
    Table,
    Text,
    Variable,
    ZeroOrMore,
)
from moonpad.spec.layout_tables import LayoutTable, SettingsTable
from moonpad.spec.near_match import did_you_mean
from moonpad.spec.pool_tables import PoolTable, TransferTable, transfer_flag
from moonpad.spec.router_table import LONGEST_ROUTED_NAME, RouterTable, refuse_colliding_ports
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import UsageError
from moonpad.values.plan_answer import Goal
from moonpad.values.pools import POOL_ROLES


class EngineTable(Table):
    """Which engine, and where it is installed; by default in the environment that moonpad made for it."""

    name: Annotated[str, Field(description="the name of an engine")]
    version: Release | None = None
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
    transfer: TransferTable = TransferTable()
    prefill: PoolTable | None = None
    decode: PoolTable | None = None
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

    @model_validator(mode="after")
    def _two_pools(self) -> Spec:
        if (self.prefill is None) != (self.decode is None):
            here, missing = ("prefill", "decode") if self.decode is None else ("decode", "prefill")
            raise ValueError(f"has [{here}] but no [{missing}]")
        if self.prefill is None:
            if self.transfer.model_fields_set:
                raise ValueError("has [transfer] but neither [prefill] nor [decode]")
            return self
        if self.layout.model_fields_set:
            raise ValueError("has [layout] beside [prefill] and [decode]; write [prefill.layout] and [decode.layout]")
        if ENGINES[self.engine.name].facts.pools is None:
            able = ", ".join(name for name, engine in ENGINES.items() if engine.facts.pools)
            raise ValueError(f"has [prefill] and [decode], which moonpad writes for {able} only")
        for settings in (self.settings, self.prefill.settings, *((self.decode.settings,) if self.decode else ())):
            if taken := transfer_flag(settings.extra_args):
                raise ValueError(f"has {taken} in extra_args; [prefill], [decode] and [transfer] say that")
        if self.hosts:
            raise ValueError("has [[hosts]] beside [prefill] and [decode], which are rendered and not started by ssh")
        return self

    @field_validator("router")
    @classmethod
    def _fits_the_rest(cls, router: RouterTable | None, info: ValidationInfo) -> RouterTable | None:
        if router is None:
            return None
        if info.data.get("prefill") or info.data.get("decode"):
            raise ValueError("and [prefill] with [decode] exclude one another: two pools have a router of their own")
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
    "transfer": TransferTable,
    **dict.fromkeys(POOL_ROLES, PoolTable),
    **{f"{role}.layout": LayoutTable for role in POOL_ROLES},
    **{f"{role}.settings": SettingsTable for role in POOL_ROLES},
    "hosts": HostTable,
    "router": RouterTable,
}
