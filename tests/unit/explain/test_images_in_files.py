"""Images that were made into one file, for Apptainer and enroot: their names say the release, their run script has the
image's entrypoint, and the host's driver comes in by an option alone."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"
OPTIONS = "--model moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (f"apptainer exec --nv vllm-openai_v0.12.0.sif {SERVE}", "0.12.0"),
        (f"singularity exec --nv /images/vllm_0.11.2.sif {SERVE}", "0.11.2"),
        (f"srun --container-image=/images/vllm+vllm-openai+v0.11.2.sqsh {SERVE}", "0.11.2"),
        (f"srun --container-image=/images/sglang-v0.5.5-cu126.sqsh {SGLANG}", "0.5.5"),
        (f"apptainer exec --nv sglang_v0.5.6.post2.simg {SGLANG}", "0.5.6.post2"),
    ],
)
def test_the_name_of_the_file_says_the_release(line: str, version: str) -> None:
    (judged,) = ask(f"{line}\n", "8xH200")
    assert judged.version == version


@pytest.mark.parametrize("name", ["vllm-latest.sif", "vllm-torch-2.9.1.sif", "myvllm.sif"])
def test_other_numbers_are_no_release(name: str) -> None:
    (judged,) = ask(f"apptainer exec --nv {name} {SERVE}\n", "8xH200")
    assert "none is named" in judged.version_because


@pytest.mark.parametrize("image", ["vllm-openai_v0.12.0.sif", "docker://vllm/vllm-openai:v0.12.0"])
def test_the_run_script_hands_options_to_the_server(image: str) -> None:
    (run,) = ask(f"apptainer run --nv {image} {OPTIONS}\n", "8xH200")
    (plain,) = ask(f"apptainer exec --nv {image} {SERVE}\n", "8xH200")
    assert run.layout == plain.layout
    assert run.unjudged == ""
    assert run.memory is not None


def without_driver(line: str, on: str = "") -> list[tuple[Severity, str]]:
    found = [finding for judged in ask(line, on) for finding in judged.findings]
    return [(each.severity, each.remedy) for each in found if "takes the host's driver" in each.message]


@pytest.mark.parametrize("program", ["apptainer", "singularity"])
def test_a_container_without_the_hosts_driver(program: str) -> None:
    line = f"{program} exec --bind /data:/data vllm_v0.12.0.sif {SERVE}\n"
    assert without_driver(line) == [(Severity.WARNING, "add --nv")]
    assert without_driver(line, "8xMI300X") == [(Severity.WARNING, "add --rocm")]


@pytest.mark.parametrize(
    "line",
    [
        f"apptainer exec --nv vllm_v0.12.0.sif {SERVE}",
        f"apptainer exec --rocm vllm_v0.12.0.sif {SERVE}",
        f"apptainer exec $OPTIONS vllm_v0.12.0.sif {SERVE}",
        f"export APPTAINER_NV=1\napptainer exec vllm_v0.12.0.sif {SERVE}",
        f"enroot start vllm {SERVE}",
        f"apptainer exec instance://engine {SERVE}",
        "apptainer exec llama.sif llama-server -m Kimi-K2-Instruct-Q4_K_M-00001-of-00013.gguf",
    ],
)
def test_what_may_give_it_is_left(line: str) -> None:
    assert without_driver(f"{line}\n") == []
