"""What published files do and no engine refuses: joined texts, other servers, other devices, other builds."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

JOINED = """import subprocess
def start(model, port):
    subprocess.Popen(
        " ".join([PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--kv-transfer-config",
                  '\\'{"kv_connector":"ExampleConnector","kv_role":"kv_both"}\\'', "--port", str(port)])
        + f" || {PYTHON} -m http.server {port}",
        shell=True,
    )
"""


def findings(text: str, name: str = "") -> list[tuple[Severity, str]]:
    judged: tuple[Judged, ...] = ask(read_files([(name, text)]) if name else text)
    return [(each.severity, each.where) for one in judged for each in one.findings]


def test_quotes_in_a_list_that_is_joined_for_a_shell_are_the_shells() -> None:
    assert (Severity.ERROR, "--kv-transfer-config") not in findings(JOINED, "start.py")


def test_a_bench_of_another_server_is_not_judged_by_the_options_of_this_one() -> None:
    command = "vllm bench serve {}--backend openai-chat-omni --model org/m --dataset-name random-mm\n"
    assert findings(command.format("--omni ")) == []
    assert (Severity.ERROR, "--backend") in findings(command.format(""))


@pytest.mark.parametrize("device", ["VLLM_PLUGINS=neuron ", "NEURON_RT_NUM_CORES=64 "])
def test_how_many_devices_a_machine_of_another_maker_has_is_not_known(device: str) -> None:
    command = "vllm serve /path/to/model --tensor-parallel-size 64 --max-model-len 512"
    text = "# On trn2.48xlarge, with vLLM 0.13.0\n\n```bash\n{}\n```\n"
    assert (Severity.ERROR, "--distributed-executor-backend") not in findings(text.format(device + command))
    other = text.replace("trn2.48xlarge", "a cluster").format(command)
    assert (Severity.ERROR, "--distributed-executor-backend") in findings(other)


ROLLOUT = """SGLANG_ARGS=(
   --rollout-num-gpus-per-engine 16
   --sglang-mem-fraction-static 0.7
   --sglang-dp-size 8
   {}
)
python3 train.py --hf-checkpoint org/m ${{SGLANG_ARGS[@]}}  # slime
"""


def test_a_rollout_with_findings_can_be_shown() -> None:
    (judged,) = ask(ROLLOUT.format(""))
    assert judged.findings
    script = read_files([("run.sh", ROLLOUT.format(""))])
    assert "--sglang-dp-size" in explain_view([judged], script, 80, ascii_only=False).plain


def test_an_option_with_other_words_is_a_trainers_own() -> None:
    (judged,) = ask(ROLLOUT.format("--sglang-remote-instance-weight-loader-ib-device mlx5_0"))
    assert not [each for each in judged.findings if each.code is Code.UNKNOWN_FLAG]


def test_a_folder_with_an_open_name_is_not_another_one() -> None:
    text = """import subprocess
NAME = "small-1b"
subprocess.run(f"hf download org/small-1b --local-dir /models/{NAME}", shell=True)
subprocess.run(f"vllm serve /models/{NAME} --port 8000", shell=True)
"""
    assert (Severity.WARNING, "model") not in findings(text, "start.py")


def test_a_request_to_another_port_is_to_another_server() -> None:
    text = """# Two servers

```bash
vllm serve org/m --served-model-name m --port 8000
```

```bash
curl -s http://{}/v1/chat/completions -d '{{"model": "auto", "messages": []}}'
```
"""
    assert (Severity.WARNING, "--served-model-name") not in findings(text.format("<host>:8899"))
    assert (Severity.WARNING, "--served-model-name") in findings(text.format("<host>:8000"))


def test_an_image_of_the_models_makers_may_have_its_class_before_a_release() -> None:
    text = """# The image has vLLM 0.8.5 with full support for this model

```bash
docker run --gpus all {} vllm serve tencent/Hunyuan-A13B-Instruct --tensor-parallel-size 4
```
"""
    assert (Severity.WARNING, "engine") not in findings(text.format("makers/hunyuan-a13b:moe-vllm"))
    assert (Severity.WARNING, "engine") in findings(text.format("").replace("docker run --gpus all  ", ""))


def test_the_build_of_another_maker_has_options_of_its_own() -> None:
    server = "python -m ipex_llm.vllm.xpu.entrypoints.openai.api_server"
    text = f"{server} --model m --load-in-low-bit fp8 --disable-async-output-proc\n"
    assert not [where for severity, where in findings(text) if severity is not Severity.NOTE and "async" in where]
