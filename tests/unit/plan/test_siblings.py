"""Checkpoints of the same model in the format of the device, and what switches AMD's own kernels on."""

from __future__ import annotations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import models, native_siblings
from moonpad.engines import ENGINES
from moonpad.report.plan_json import answer_json
from moonpad.report.plan_table import plan_table
from moonpad.values.deployment import Executable
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Choice
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.unit.plan.test_search import INSTRUCT, THINKING, plan

K2_6 = "moonshotai/Kimi-K2.6"


@pytest.mark.parametrize(
    ("model", "on", "names"),
    [
        (K2_6, "8xB200", {"nvidia/Kimi-K2.6-NVFP4"}),
        (K2_6, "8xB300", {"nvidia/Kimi-K2.6-NVFP4"}),
        (K2_6, "2x4xGB200", {"nvidia/Kimi-K2.6-NVFP4"}),
        (K2_6, "8xMI355X", {"amd/Kimi-K2.6-MXFP4"}),
        (THINKING, "8xMI355X", {"amd/Kimi-K2-Thinking-MXFP4", "amd/Kimi-K2-Thinking-MXFP4-AttnFP8"}),
        (K2_6, "16xA3", {"Eco-Tech/Kimi-K2.6-W4A8"}),
        ("moonshotai/Kimi-K2.5", "2x8xA2", {"Eco-Tech/Kimi-K2.5-W4A8"}),
        (INSTRUCT, "8xB200", {"nvidia/Kimi-K2-Instruct-NVFP4"}),
        ("moonshotai/Kimi-K2-Instruct-0905", "8xMI355X", {"amd/Kimi-K2-Instruct-0905-MXFP4"}),
        # Hopper and CDNA3 compute no FP4; a checkpoint in the device's own format has no other.
        (K2_6, "8xH200", set()),
        (K2_6, "8xMI300X", set()),
        ("nvidia/Kimi-K2.6-NVFP4", "8xB200", set()),
    ],
)
def test_the_plan_names_the_checkpoints_in_the_format_of_the_device(model: str, on: str, names: set[str]) -> None:
    siblings = plan(model, on).siblings
    assert {sibling.model for sibling in siblings} == names
    for sibling in siblings:
        assert sibling.memory is not None
        assert sibling.fits


def test_its_memory_is_that_of_its_own_plan_with_the_same_layout_and_settings() -> None:
    answer = plan(INSTRUCT, "8xB200", "max_num_seqs=64", "max_num_batched_tokens=4096", engine="vllm")
    (sibling,) = answer.siblings
    layout = answer.choices[0].plan.layout
    words = [f"{name}={getattr(layout, name)}" for name in ("tp", "pp", "dp", "ep", "dcp")]
    alone = plan(sibling.model, "8xB200", *words, "max_num_seqs=64", "max_num_batched_tokens=4096", engine="vllm")
    assert sibling.memory is not None
    assert sibling.memory.weights_bytes == alone.choices[0].memory.weights_bytes
    assert sibling.memory.kv_tokens.value == alone.choices[0].memory.kv_tokens.value
    # Experts of 1,014,686,023,680 parameters at 4.5 bits (memory.md) on eight devices, instead of 8 bits and scales.
    saved = answer.choices[0].memory.weights_bytes - sibling.memory.weights_bytes
    assert saved / GIB == pytest.approx(1_014_686_023_680 * 3.5 / 8 / 8 / GIB, rel=0.15)


def test_where_nothing_fits_the_sibling_that_does_is_named() -> None:
    answer = plan(INSTRUCT, "4xB200", engine="vllm")
    assert not answer.fits
    (sibling,) = answer.siblings
    assert sibling.fits
    text = plan_table(answer, (), 120).plain
    assert text.index("Nothing fits.") < text.index("nvidia/Kimi-K2-Instruct-NVFP4") < text.index("Refused")


def test_text_and_json_say_its_memory() -> None:
    answer = plan(K2_6, "8xB200")
    (sibling,) = answer.siblings
    assert sibling.memory is not None
    text = " ".join(plan_table(answer, (), 120).plain.split())
    weights = f"{sibling.memory.weights_bytes / GIB:.2f} GiB of weights on each device"
    assert f"nvidia/Kimi-K2.6-NVFP4 (NVFP4, its size is reported): {weights}" in text
    (shown,) = answer_json(answer, {})["siblings"]
    assert (shown["model"], shown["scheme"], shown["fits"]) == ("nvidia/Kimi-K2.6-NVFP4", "nvfp4", True)
    assert shown["memory"]["weights_gib"] == round(sibling.memory.weights_bytes / GIB, 3)
    assert shown["memory"]["kv_tokens"]["value"] == sibling.memory.kv_tokens.value


def test_every_base_is_a_model_of_the_catalogue() -> None:
    made_of_others = [model for model in models().values() if model.base]
    assert len(made_of_others) >= 17
    for model in made_of_others:
        base = models()[model.base]
        assert not base.base
        assert base.architecture is not None
        assert model.architecture == base.architecture
    assert native_siblings("a-model-of-ours", parse_cluster("8xB200").device) == ()


# AITER.


def environment(choice: Choice, **changes: object) -> dict[str, object]:
    made = replace(choice.plan, **changes)  # type: ignore[arg-type]
    (process,) = ENGINES[made.engine].processes(made, Executable(("x",))).processes
    return {name: value for name, value in process.env.items() if "AITER" in name}


@pytest.mark.parametrize("on", ["8xMI300X", "8xMI325X", "8xMI355X"])
def test_amds_own_kernels_are_switched_on(on: str) -> None:
    vllm = plan(THINKING, on, "tp=8", "dcp=1", "ep=1", engine="vllm").choices[0]
    assert environment(vllm) == {"VLLM_ROCM_USE_AITER": "1"}
    assert any(reason.startswith("VLLM_ROCM_USE_AITER=1: ") and "recipes" in reason for reason in vllm.reasons)
    sglang = plan(THINKING, on, "tp=8", "dcp=1", "ep=1", engine="sglang").choices[0]
    assert environment(sglang) == {"SGLANG_USE_AITER": "1"}


@pytest.mark.parametrize(
    ("version", "dcp", "variables"),
    [
        ("0.16.0", 1, {}),  # its MLA kernels fail at 8 heads a rank
        ("0.17.1", 1, {}),
        ("0.18.0", 1, {"VLLM_ROCM_USE_AITER": "1"}),
        ("", 1, {"VLLM_ROCM_USE_AITER": "1"}),
        ("0.28.0", 8, {"VLLM_ROCM_USE_AITER": "1", "VLLM_ROCM_USE_AITER_MLA": "0"}),
        ("0.29.0", 8, {"VLLM_ROCM_USE_AITER": "1"}),
    ],
)
def test_only_where_the_kernels_of_that_release_serve(version: str, dcp: int, variables: dict[str, str]) -> None:
    choice = plan(THINKING, "8xMI300X", "tp=8", "dcp=1", "ep=1", engine="vllm").choices[0]
    assert environment(choice, engine_version=version, layout=Layout(tp=8, dcp=dcp)) == variables


def test_no_other_engine_hears_of_it() -> None:
    choice = plan("unsloth/Kimi-K2.6-GGUF:UD-Q2_K_XL", "8xMI300X", engine="llama-cpp").choices[0]
    assert environment(choice) == {}
    assert not [reason for reason in choice.reasons if "AITER" in reason]


def test_no_other_device_hears_of_it() -> None:
    for on, engine in (
        ("8xH200", "vllm"),
        ("8xH200", "sglang"),
        ("16xA3", "vllm-ascend"),
        ("8xRTX4090-48G", "ktransformers"),
    ):
        choice = plan(THINKING, on, engine=engine).choices[0]
        assert environment(choice) == {}
        assert not [reason for reason in choice.reasons if "AITER" in reason]
