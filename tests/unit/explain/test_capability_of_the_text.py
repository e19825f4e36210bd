"""A compute capability in numbers says what the devices hold at most."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_capabilities import spoken_capability, written_capability
from moonpad.explain.script import read_script
from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --tensor-parallel-size"


def short(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if each.code is Code.DOES_NOT_FIT]


@pytest.mark.parametrize(
    ("text", "capability"),
    [
        ("assert torch.cuda.get_device_capability() == (8, 6)", "8.6"),
        ("p = get_device_properties(0); assert (p.major, p.minor) == (8, 9)", "8.9"),
        ("Compute Capability: 12.0", "12.0"),
        ("export CUTE_DSL_ARCH=sm_120a", "12.0"),
        ("显卡计算能力 8.6", "8.6"),
        ("all cards are gfx942", "gfx942"),
        ("export TORCH_CUDA_ARCH_LIST=8.6", ""),
        ("nvcc -gencode arch=compute_86,code=sm_86", ""),
        ("compute capability 8.0 or higher", ""),
        ("sm_86 in one box and sm_89 in the other", ""),
        ("the capability of 90 requests", ""),
        ("an RTX 3090", ""),  # a name is told by its own rules
    ],
)
def test_capability_that_is_written(text: str, capability: str) -> None:
    assert written_capability(read_script(f"{text}\n{SERVE} 8\n")) == capability


@pytest.mark.parametrize("said", ["# the cards are sm_86", "# get_device_capability() == (8, 6)"])
def test_no_device_of_that_capability_holds_the_weights(said: str) -> None:
    (finding,) = short(f"{said}\n{SERVE} 8\n")
    assert finding.severity is Severity.WARNING
    assert "each of 8 devices gets at least 69 GiB of weights" in finding.message
    assert "compute capability 8.6" in finding.message
    assert "A6000, the largest, has 47 GiB" in finding.message
    assert finding.remedy.startswith("take 16 or more of them")


@pytest.mark.parametrize(
    "text",
    [
        f"# the cards are sm_86\n{SERVE} 16\n",
        f"# the cards are sm_100\n{SERVE} 8\n",
        f"# sm_86 was tried before, this is for 8x H200\n{SERVE} 8\n",
        f"# the cards are sm_86\n{SERVE} 8 --cpu-offload-gb 40\n",
        f"# TORCH_CUDA_ARCH_LIST=8.6\n{SERVE} 8\n",
    ],
)
def test_what_fits_or_is_not_said_is_left(text: str) -> None:
    assert not [each for each in short(text) if "capability" in each.message]


def test_folder_of_four_bit_weights_is_meant_too() -> None:
    folder = SERVE.replace("moonshotai/", "/models/")
    (finding,) = short(f"# sm_86\n{folder} 8 --quantization compressed-tensors\n")
    assert "capability 8.6" in finding.message


def test_models_that_are_not_planned_are_bound_by_it() -> None:
    (finding,) = short("# sm_86\nvllm serve QuantTrio/Qwen3.5-397B-A17B-AWQ --tensor-parallel-size 4\n")
    assert "4 devices of capability 8.6, of which A6000 is the largest" in finding.message


def test_example_is_of_that_capability() -> None:
    (one,) = ask(f"# sm_120\n{SERVE} 8\n")
    assert one.unjudged == (
        "no devices are named, and the text speaks of compute capability 12.0: name them with --on 8xRTX-PRO-6000"
    )


@pytest.mark.parametrize(
    ("text", "capability"),
    [
        ('export TVM_FFI_CUDA_ARCH_LIST="8.0"', "8.0"),
        ("export FLASHINFER_CUDA_ARCH_LIST=12.1a  # JIT", "12.1"),
        ("TVM_FFI_CUDA_ARCH_LIST='9.0a' \\", "9.0"),
        ('export TVM_FFI_CUDA_ARCH_LIST="8.0 9.0a"', ""),
        ("# export TVM_FFI_CUDA_ARCH_LIST=8.0", ""),
        ("ENV FLASHINFER_CUDA_ARCH_LIST=9.0a", ""),  # of an image, for all that it may run on
        ("export TORCH_CUDA_ARCH_LIST=8.6", ""),
        ('export TVM_FFI_CUDA_ARCH_LIST="8.0"\n# on H100', ""),
    ],
)
def test_kernels_built_at_the_start_are_for_its_devices(text: str, capability: str) -> None:
    assert spoken_capability(read_script(f"{text}\n{SERVE} 8\n")) == capability
