"""Spec → plan: defaults, explicit values, and layouts that are refused with their reason."""

from __future__ import annotations

import pytest

from moonpad.engines import ENGINES
from moonpad.plan.from_spec import (
    engine_of,
    exposure_findings,
    finished,
    in_words_of_the_spec,
    request_of,
    runtime_of,
)
from moonpad.plan.search import Known, search
from moonpad.spec.loader import parse_spec
from moonpad.spec.schema import Spec
from moonpad.values.cluster import Host
from moonpad.values.deployment import Executable, Image
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.references import PathRef
from moonpad.values.units import GIB
from tests.configurations import make_plan
from tests.unit.plan.rules.builders import CPU, TINY, checkpoint, cluster


def spec_of(more: str = "", engine: str = 'engine = "vllm-cpu"') -> Spec:
    return parse_spec(f'model = "kimi-k2-tiny"\n{engine}\n{more}', name="tiny")


def refused(spec: Spec) -> tuple[Finding, ...]:
    """The errors for which the planner has nothing to start."""
    on = replace(cluster(CPU), host=Host(memory_bytes=16 * GIB))
    known = Known(lambda engine: "0.32.0", finish=lambda plan: finished(spec, plan))
    answer = search(checkpoint("bf16", TINY), on, request_of(spec), known)
    assert not answer.fits
    return tuple(in_words_of_the_spec(finding, spec) for finding in errors_of(answer.refused[0].findings))


def test_defaults_on_a_cpu() -> None:
    assert make_plan(spec_of(), 18_340_400) == Plan(
        name="tiny",
        engine="vllm-cpu",
        platform=Platform.CPU,
        layout=Layout(),
        settings=Settings(max_model_len=4096, max_num_seqs=64, kv_cache_gib=1, enforce_eager=True),
        serving=Serving("kimi-k2-tiny"),
        weights_bytes=18_340_400,
        drain_s=30.0,
    )


def test_what_is_said_wins() -> None:
    plan = make_plan(
        spec_of(
            "[endpoint]\nport = 9000\nexpose = true\napi_key_env = 'K'\n[layout]\ntp = 2\n"
            "[settings]\nmax_model_len = 128\nmax_num_seqs = 1\nmax_num_batched_tokens = 256\nkv_cache_gib = 3\n"
            "gpu_memory_utilization = 0.5\nkv_cache_dtype = 'auto'\nenforce_eager = false\n"
            "extra_args = ['--seed', '7']\n"
        ),
        0,
    )
    assert plan.settings == Settings(128, 1, 256, 0.5, kv_cache_dtype="auto", kv_cache_gib=3, enforce_eager=False)
    assert plan.layout == Layout(tp=2)
    assert plan.serving == Serving("kimi-k2-tiny", port=9000, reach="public", keyed=True)
    assert plan.extra_args == ("--seed", "7")


def test_pipelines_are_compiled_unless_said_otherwise() -> None:
    assert not make_plan(spec_of("[layout]\npp = 2\n"), 0).settings.enforce_eager


@pytest.mark.parametrize(
    ("more", "where", "reason"),
    [
        ("[layout]\ntp = 2\ndcp = 2\n", "dcp", "no log-sum-exp"),
        ("[layout]\ntp = 2\nexpert_parallel = true\n", "expert_parallel", "SIGSEGV"),
        ("[layout]\npp = 2\n[settings]\nenforce_eager = true\n", "pp", "500"),
        ("[settings]\nkv_cache_dtype = 'fp8'\n", "kv_cache_dtype", "500"),
        ("[settings]\nkv_cache_dtype = 'fp8_e4m3'\n", "kv_cache_dtype", "500"),
    ],
)
def test_what_a_cpu_cannot_run_is_refused_before_it_starts(more: str, where: str, reason: str) -> None:
    (finding,) = refused(spec_of(more))
    assert (finding.where, finding.severity) == (where, Severity.ERROR)
    assert finding.code is (Code.UNSUPPORTED_FORMAT if where == "kv_cache_dtype" else Code.ILLEGAL_LAYOUT)
    assert reason in finding.message
    assert finding.remedy


def test_expert_parallel_over_one_rank_is_no_layout_at_all() -> None:
    assert make_plan(spec_of("[layout]\nexpert_parallel = true\n"), 0).layout == Layout()


def test_all_reasons_at_once() -> None:
    findings = refused(spec_of("[layout]\ntp = 2\ndcp = 2\nexpert_parallel = true\n"))
    assert [finding.where for finding in findings] == ["dcp", "expert_parallel"]


def test_where_the_command_comes_from() -> None:
    assert runtime_of(spec_of()) == Executable(((PathRef("engine"), "/bin/vllm"),))
    digest = f"vllm@sha256:{'0' * 64}"
    spec = spec_of(engine=f'engine = {{ name = "vllm-cpu", image = "{digest}" }}')
    assert runtime_of(spec) == Image(digest, ("vllm",))
    assert engine_of(spec_of()) is ENGINES["vllm-cpu"]


def test_exposure_is_said() -> None:
    assert exposure_findings(spec_of()) == ()
    (open_to_all,) = exposure_findings(spec_of("[endpoint]\nexpose = true\n"))
    assert (open_to_all.code, open_to_all.severity) == (Code.INSECURE, Severity.WARNING)
    assert "there is no key" in open_to_all.message
    keyed = "[endpoint]\nexpose = true\napi_key_file = 'k'\n"
    assert exposure_findings(spec_of(keyed)) == (), "a front stands before it"
    image = f"""engine = {{ name = "vllm-cpu", image = "i@sha256:{"0" * 64}" }}"""
    (bare,) = exposure_findings(spec_of(keyed, engine=image))
    assert "/metrics" in bare.message
