"""The same questions to every engine."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.catalog.options import option_set, releases_with, versions
from moonpad.engines import ENGINES
from moonpad.engines.argument_values import Words
from moonpad.engines.argv_reader import Value
from moonpad.engines.base import Engine, Reading, installed_runtime
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.deployment import NAME, AliveProbe, HttpProbe
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code
from moonpad.values.plan import Layout, Plan, Serving, Settings
from moonpad.values.records import field_names, replace
from moonpad.values.references import PortRef
from moonpad.values.secret import Secret
from tests.contract.plans import TOLD, plans

EVERY = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
WIDE = ("0.0.0.0", "::", "*")


def bound(engine: Engine, plan: Plan) -> tuple[BoundProcess, ...]:
    deployment = engine.processes(plan, installed_runtime(engine.command))
    nodes = {f"node-{rank}": rank for rank in range(plan.nodes)}
    return bind(
        deployment,
        Bindings(
            hosts={node: f"10.0.0.{rank + 1}" for node, rank in nodes.items()},
            ports={
                PortRef(process.name, port.name): 1234 for process in deployment.processes for port in process.ports
            },
            ranks=nodes,
            paths={
                **{"checkpoint": "/models/a", "draft": "/models/d"},
                **{"engine": "/engine", "cache": "/cache", "run": "/run"},
            },
            secrets={"api_key": Secret("sk-canary")},
        ),
    )


def read(engine: Engine, process: BoundProcess, *, cut: int = 0) -> Reading:
    return engine.read(process.argv[cut:], {**process.env, **_revealed(process)}, files=files_of(process))


def files_of(process: BoundProcess) -> dict[str, str]:
    return {f"/run/{path}": content for path, content, _ in process.files}


def _revealed(process: BoundProcess) -> dict[str, str]:
    return {name: secret.reveal() for name, secret in process.secret_env.items()}


@EVERY
@given(data=st.data())
def test_reading_what_was_written_gives_the_plan_back(engine: Engine, data: st.DataObject) -> None:
    plan = data.draw(plans(engine))
    processes = bound(engine, plan)
    for rank, process in enumerate(processes):
        reading = read(engine, process)
        assert (reading.layout, reading.settings) == (plan.layout, plan.settings)
        assert reading.unknown == ()
        assert reading.model == "/".join(("/models/a", *filter(None, (TOLD[engine.name].file,))))
        assert reading.engine == engine.name
        assert reading.serving.trust_remote_code == (plan.serving.trust_remote_code and not engine.facts.gguf_only)
        assert reading.parsed is not None
        assert [occurrence for occurrence in reading.parsed.occurrences if occurrence.problem] == []
        assert reading.node.headless == (rank > 0 and engine.name.startswith("vllm"))
        # The words that name the executable may be there or not, as in a script.
        assert read(engine, process, cut=1) == replace(reading, parsed=read(engine, process, cut=1).parsed)
    head = read(engine, processes[0])
    assert head.serving.port == 1234
    assert head.serving.keyed == plan.serving.keyed
    assert not head.serving.key_in_argv
    parsers = (plan.serving.tool_parser, plan.serving.reasoning_parser)
    expected = (None, None) if engine.facts.parsers_built_in else parsers
    assert (head.serving.tool_parser, head.serving.reasoning_parser) == expected
    if engine.name != "tensorrt-llm":  # there a model answers to the name of its folder
        assert head.served_name == plan.serving.served_name


RELEASES = [(engine, release) for engine in ENGINES.values() for release in versions(engine.program)]


@pytest.mark.parametrize(
    ("engine", "release"), RELEASES, ids=[f"{engine.name}-{release}" for engine, release in RELEASES]
)
@settings(max_examples=6)
@given(data=st.data())
def test_every_flag_is_one_of_the_release_or_the_plan_is_refused(
    engine: Engine, release: str, data: st.DataObject
) -> None:
    """Fault 18. The oracle is what the engines' own parsers were recorded to take."""
    plan = data.draw(plans(engine, release))
    options = option_set(engine.program, release)
    assert options is not None
    try:
        processes = bound(engine, plan)
    except PreflightRefused as refused:
        # Of its own flags it names those that are missing; that Ray would be needed is a sentence of its own.
        for finding in refused.findings:
            option = options.named(finding.where)
            missing = option is None or finding.code is Code.INVALID_VALUE
            assert missing or finding.where == "layout"
        return
    for process in processes:
        flags = {word.partition(".")[0] for word in process.argv if word.startswith("--")}
        if options.exact:  # of TensorRT-LLM only commits near a release were read
            assert {flag for flag in flags if options.named(flag) is None} == set()
        reading = engine.read(process.argv, dict(process.env), files=files_of(process), version=release)
        assert reading.parsed is not None
        assert [occurrence for occurrence in reading.parsed.occurrences if occurrence.problem and options.exact] == []
        assert (reading.layout, reading.settings) == (plan.layout, plan.settings)


@EVERY
@given(data=st.data())
def test_what_every_deployment_keeps(engine: Engine, data: st.DataObject) -> None:
    plan = data.draw(plans(engine))
    deployment = engine.processes(plan, installed_runtime(engine.command))
    assert engine.processes(plan, installed_runtime(engine.command)) == deployment
    head = deployment.process(deployment.endpoint.process)
    # Health is no readiness: the probe of what serves is HTTP, followed by one token.
    assert isinstance(head.ready, HttpProbe)
    assert all(isinstance(process.ready, AliveProbe) for process in deployment.processes if process is not head)
    assert deployment.port_spec(deployment.endpoint).preferred == plan.serving.port
    assert deployment.served_name == plan.serving.served_name
    assert len(deployment.gangs) == 1  # ranks cannot go on without one another
    devices = sum(process.needs.devices for process in deployment.processes)
    assert devices in (0, plan.layout.world_size, plan.layout.world_size // plan.nodes)
    for process, bound_process in zip(deployment.processes, bound(engine, plan), strict=True):
        assert NAME.match(process.name)
        assert "canary" not in " ".join(bound_process.argv) + " ".join(bound_process.env.values())  # fault 59
        public = process is head and plan.serving.reach == "public"
        hosts = [value for flag, value in pairwise(bound_process.argv) if flag == "--host"]
        assert (hosts[-1:] == ["0.0.0.0"]) == public  # fault 61
        assert not any(word in WIDE for word in hosts[:-1])
        kept = [mode for _, content, mode in bound_process.files if "canary" in content]
        assert bool(bound_process.secret_env or kept) == (plan.serving.keyed and process is head)
        assert set(kept) <= {0o600}  # fault 60
        reaches = {port.name: port.reach for port in process.ports}
        assert all(reach == "cluster" for name, reach in reaches.items() if name != deployment.endpoint.name)


@EVERY
def test_extra_arguments_stand_last_and_are_read_as_unknown(engine: Engine) -> None:
    serving = Serving("kimi")
    plan = Plan(
        "a", engine.name, engine.platform, Layout(), Settings(), serving, 0, extra_args=("--some-new-flag", "7")
    )
    process = bound(engine, plan)[0]
    assert process.argv[0] == f"/engine/bin/{engine.command}"
    assert process.argv[-2:] == ("--some-new-flag", "7")
    assert read(engine, process).unknown == ("--some-new-flag", "7")


FIELDS = {
    "max_model_len": 4096,
    "max_num_seqs": 8,
    "max_num_batched_tokens": 4096,
    "gpu_memory_utilization": 0.5,
    "kv_cache_dtype": "auto",
    "kv_cache_gib": 1,
    "kv_cache_bytes": 2**34,
    "kv_cache_tokens": 50_000,
    "enforce_eager": True,
    "prefix_caching": False,
    "attention_backend": "x",
    "block_size": 64,
    "kv_free_fraction": 0.5,
    "redundant_experts": 32,
    "gpu_experts": 8,
    "host_expert_layers": 3,
    "device_layers": 30,
    "text_only": True,
    "executor": "ray",
    "draft_tokens": 3,
    "mm_encoder_tp_mode": "data",
    "all2all_backend": "naive",
    "max_loras": 2,
    "max_lora_rank": 32,
    "cpu_offload_gib": 10.0,
    "kv_offload_size": 100.0,
    "kv_offload_ratio": 1.5,
    "cpu_binding": "0-3",
}


@EVERY
@pytest.mark.parametrize(("name", "value"), FIELDS.items())
def test_a_setting_is_said_or_refused_and_never_dropped(engine: Engine, name: str, value: object) -> None:
    settings = Settings(**{name: value})  # type: ignore[arg-type]
    capabilities = TOLD[engine.name]
    layout = Layout(tp=2, ep=2) if capabilities.tensor else Layout(pp=2)
    plan = Plan("a", engine.name, engine.platform, layout, settings, Serving("kimi"), 0)
    more = {
        "redundant_experts": capabilities.redundant,
        "text_only": capabilities.text_only,
        "executor": capabilities.executor,
    }
    more |= {"draft_tokens": capabilities.draft, "max_loras": capabilities.loras}
    if name in capabilities.settings or (name == "enforce_eager" and capabilities.eager) or more.get(name):
        assert read(engine, bound(engine, plan)[0]).settings == settings
    else:
        with pytest.raises(PreflightRefused) as refused:
            bound(engine, plan)
        assert [finding.where for finding in refused.value.findings] == [name]


def test_every_setting_is_asked_about() -> None:
    # The name of a draft is no option of its own: it names the sizes of what lies in the draft's folder. That the share
    # of memory is kept is said by a variable, which explain alone reads, as it does the share of the states.
    assert set(FIELDS) | {"draft", "fraction_kept", "state_pool_ratio"} == set(field_names(Settings))


@EVERY
def test_a_layout_is_said_or_refused(engine: Engine) -> None:
    capabilities = TOLD[engine.name]
    if not capabilities.tensor:
        for layout in (Layout(tp=8), Layout(dp=8), Layout(pp=8, ep=2), Layout(pp=8, dcp=8)):
            with pytest.raises(PreflightRefused, match="cannot be told"):
                bound(engine, Plan("a", engine.name, engine.platform, layout, Settings(), Serving("kimi"), 0))
        with pytest.raises(PreflightRefused, match="layout"):
            bound(engine, Plan("a", engine.name, engine.platform, Layout(pp=8), Settings(), Serving("k"), 0, nodes=2))
        return
    plan = Plan("a", engine.name, engine.platform, Layout(tp=8, dcp=8), Settings(), Serving("kimi"), 0)
    if capabilities.dcp:
        assert read(engine, bound(engine, plan)[0]).layout == plan.layout
    else:
        with pytest.raises(PreflightRefused, match="cannot be told"):
            bound(engine, plan)
    sliced = replace(plan, layout=Layout(tp=8, ep=4))
    if capabilities.whole_ep:
        with pytest.raises(PreflightRefused):
            bound(engine, sliced)
    else:
        assert read(engine, bound(engine, sliced)[0]).layout == sliced.layout
    if capabilities.several_nodes:
        with pytest.raises(PreflightRefused, match="layout"):
            bound(engine, replace(plan, layout=Layout(tp=8), nodes=3))
    else:
        with pytest.raises(PreflightRefused, match="layout"):
            bound(engine, replace(plan, layout=Layout(tp=8), nodes=2))


@EVERY
def test_a_key_that_would_not_be_checked_is_refused(engine: Engine) -> None:
    plan = Plan("a", engine.name, engine.platform, Layout(), Settings(), Serving("kimi", keyed=True), 0)
    if TOLD[engine.name].keyed:
        assert read(engine, bound(engine, plan)[0]).serving.keyed
    else:
        with pytest.raises(PreflightRefused) as refused:
            bound(engine, plan)
        assert "no key" in refused.value.findings[0].message


@EVERY
@given(argv=st.lists(st.text(max_size=12) | st.sampled_from(["--", "-tp", "--tp", "--port", "x", "8", "-1"])))
def test_reading_never_raises(engine: Engine, argv: list[str]) -> None:
    reading = engine.read(argv, {"VLLM_CPU_KVCACHE_SPACE": argv[0] if argv else ""})
    assert reading.layout.world_size >= 1


@pytest.mark.parametrize(("name", "engine"), ENGINES.items())
def test_names(name: str, engine: Engine) -> None:
    assert engine.name == name
    assert NAME.match(name)
    assert engine.platform == engine.platforms[0]


@pytest.mark.parametrize(("engine", "release"), RELEASES, ids=[f"{one.name}-{release}" for one, release in RELEASES])
def test_a_reader_knows_its_options_in_every_release(
    engine: Engine, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that a release lacks stand with the reader, or a script of another release would lose their values."""
    missing: list[tuple[str, ...]] = []
    value = Words.value

    def spy(words: Words, *flags: str) -> Value | None:
        if flags and not any(words._grammar.option(flag) for flag in flags):
            missing.append(flags)
        return value(words, *flags)

    monkeypatch.setattr(Words, "value", spy)
    engine.read(["m"], {}, version=release)
    # An engine may lack what most have: a key, a parser of tool calls.
    assert [flags for flags in missing if any(releases_with(engine.program, flag) for flag in flags)] == []
