"""Recipes and manifests as they are published: builds of makers, options in other spellings, images by other tools."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Severity

from .judging import ask

K25 = "moonshotai/Kimi-K2.5"


def told(text: str) -> list[str]:
    return [f"{each.where}: {each.message}" for judged in ask(text) for each in judged.all_findings]


def errors(judged: Judged) -> list[str]:
    return [each.message for each in judged.all_findings if each.severity is Severity.ERROR]


def test_an_older_release_may_have_had_another_engines_option() -> None:
    (judged,) = ask(f"pip install vllm==0.6.0\nvllm serve {K25} --device cuda --tensor-parallel-size 8\n")
    assert not any("--device" in each for each in errors(judged))
    (named,) = ask(f"pip install vllm==0.19.0\nvllm serve {K25} --device cuda --tensor-parallel-size 8\n")
    assert any("--device" in each for each in errors(named))


@pytest.mark.parametrize("devices", ["Cambricon MLU590", "--device mlu"])
def test_options_of_cambricons_build_are_not_refused(devices: str) -> None:
    (judged,) = ask(f"# on {devices}\nvllm serve {K25} --tensor-parallel-size 8 --graph-of-mlu\n")
    assert not any("--graph-of-mlu" in each for each in errors(judged))
    assert any("Cambricon's build of vLLM" in each.message for each in judged.all_findings)


def test_a_makers_build_may_serve_what_came_later() -> None:
    text = "Run on 16 BW1100 with vllm==0.26.0:\n\n```bash\n"
    text += "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 16 --trust-remote-code\n```\n"
    (judged,) = ask(text)
    assert not any(remark.ends_start for remark in judged.remarks)
    (upstream,) = ask(text.replace("16 BW1100", "our machines"))
    assert any("cannot serve kimi_k3" in each for each in errors(upstream))


def test_int4_experts_of_a_makers_build_take_tokens_from_deepep() -> None:
    serve = f"python3 -m sglang.launch_server --model-path {K25} --tp 8 --moe-a2a-backend deepep\n"
    assert any("do not take DeepEP's tokens" in each for each in told(serve))
    assert not any(
        "do not take DeepEP's tokens" in each for each in told(f"export USE_DCU_CUSTOM_ALLREDUCE=1\n{serve}")
    )


@pytest.mark.parametrize(
    ("version", "more", "is_error", "ends"),
    [
        ("0.5.16", "deepep", True, False),
        ("0.5.21", "mooncake --moe-runner-backend marlin", True, False),
        ("", "deepep --deepep-mode low_latency", False, True),
        ("0.5.6.post2", "deepep", False, False),
        ("0.5.21", "deepep --enable-lora", False, False),
    ],
)
def test_int4_experts_and_deepep_by_release(version: str, more: str, *, is_error: bool, ends: bool) -> None:
    serve = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"
    (judged,) = ask(f"{serve} --moe-a2a-backend {more}\n", "8xH200", version)
    (remark,) = (each for each in judged.remarks if "do not take DeepEP's tokens" in each.finding.message)
    assert (remark.finding.severity is Severity.ERROR, remark.ends_start) == (is_error, ends)


def test_a_decode_server_computes_no_prompts_in_one_pass() -> None:
    serve = f"python3 -m sglang.launch_server --model-path {K25} --tp 8 --context-length 131072"
    serve += " --chunked-prefill-size -1"
    assert any("chunked prefill is off" in each for each in told(serve))
    assert not any("chunked prefill is off" in each for each in told(f"{serve} --disaggregation-mode decode"))


def test_a_key_behind_the_first_dot_keeps_its_underscores() -> None:
    text = f"model: {K25}\ntensor-parallel-size: 8\nmax_num_seqs: 4\nenable-prefix-caching: true\n"
    (judged,) = ask(f"{text}compilation_config.cudagraph_mode: FULL_DECODE_ONLY\n")
    assert "--compilation-config.cudagraph_mode" in [word for line in judged.corrected for word in line.argv]


def test_a_doubled_owner_is_no_repository() -> None:
    (judged,) = ask("vllm serve moonshotai/moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code\n")
    assert any("the owner stands there twice" in each.message for each in judged.all_findings)
    assert "moonshotai/Kimi-Linear-48B-A3B-Instruct" in judged.corrected[0].argv


@pytest.mark.parametrize(("name", "wrong"), [("00001-of-0009", True), ("1-of-9", True), ("00001-of-00009", False)])
def test_parts_of_a_split_have_five_digits(name: str, wrong: bool) -> None:
    found = told(f"llama-server -m /w/Kimi-K2.6-UD-Q2_K_XL-{name}.gguf -c 8192\n")
    assert any("is not the name of a part" in each for each in found) is wrong


def test_an_apostrophe_of_a_docstring_is_read_by_no_shell() -> None:
    text = f'"""Backend.\n\nStart it by::\n\n    vllm serve {K25} \\\\\n        --tensor-parallel-size 8\n\n'
    text += "The parent's method reads the answer.\n" + '"""\n\nclass Backend:\n    name = "k25"\n'
    script = read_files([("backend.py", text)])
    assert not script.problems
    assert "never closed" not in explain_view(ask(text), script, 100, ascii_only=False)


def test_enroot_hands_its_words_to_the_entrypoint() -> None:
    text = "enroot import -o k.sqsh docker://vllm/vllm-openai:v0.19.1\nenroot create --name box k.sqsh\n"
    (judged,) = ask(f"{text}enroot start --rw --mount /a:/a box {K25} --tensor-parallel-size 8 --port 80\n")
    assert (judged.engine, judged.version) == ("vllm", "0.19.1")
    assert judged.layout is not None
    assert judged.layout.tp == 8


def test_enroot_names_a_container_after_its_image() -> None:
    (judged,) = ask(f"enroot start --rw vllm-vllm-openai-latest {K25} --tensor-parallel-size 8\n")
    assert judged.engine == "vllm"
    assert not ask("enroot start --rw ubuntu-latest acme/tool --port 80\nvllm --version\n")


def test_a_card_has_the_size_that_the_text_gives_it() -> None:
    serve = "### Start (2x RTX 4090)\n\n```bash\npython -m sglang.launch_server --model moonshotai/Kimi-K2-Thinking"
    serve += " --kt-weight-path /w --kt-method RAWINT4 --kt-cpuinfer 64 --kt-num-gpu-experts 8"
    serve += " --tensor-parallel-size 2\n```\n"
    (judged,) = ask(f"Needed: NVIDIA RTX 4090 48GB\n\n{serve}")
    assert judged.cluster is not None
    assert judged.cluster.name == "2xRTX4090-48G"
    (plain,) = ask(f"Needed: RTX 4090 48GB or RTX 4090 24GB\n\n{serve}")
    assert plain.cluster is not None
    assert plain.cluster.name == "2xRTX4090"


@pytest.mark.parametrize(("ranks", "told_of"), [(2, True), (8, False)])
def test_more_than_two_cards_without_nvlink_have_no_custom_all_reduce(ranks: int, told_of: bool) -> None:
    text = (
        f"# {ranks}x RTX PRO 6000\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\npip install vllm==0.23.0\n"
    )
    found = told(f"{text}vllm serve {K25} --tensor-parallel-size {ranks} --trust-remote-code\n")
    assert any("custom all-reduce cannot share" in each for each in found) is told_of


def test_a_release_behind_the_sign_for_at_least() -> None:
    (judged,) = ask(f"- **vLLM ≥ 0.19.1** on 8x H200\n\n```bash\nvllm serve {K25} --tensor-parallel-size 8\n```\n")
    assert "0.19.1 or later" in judged.version_because


def test_weights_that_no_device_holds_end_the_start() -> None:
    (judged,) = ask(f"vllm serve {K25} --trust-remote-code\n")
    assert any(remark.ends_start and "one device gets all" in remark.finding.message for remark in judged.remarks)
    assert not judged.corrected


def test_a_size_that_a_branch_puts_into_a_variable_is_given() -> None:
    text = 'more=()\nif [[ "$model" == *K2.5* ]]; then\n    more+=(--tensor-parallel-size 8 --trust-remote-code)\nfi\n'
    assert not any("one device gets all" in each for each in told(f'{text}vllm serve {K25} "${{more[@]}}"\n'))


def test_the_tag_of_an_own_image_names_the_devices() -> None:
    serve = f"python3 -m sglang.launch_server --model-path {K25} --tp 8 --trust-remote-code\n"
    (judged,) = ask(f"#!/bin/bash\n# runs in registry.example.com/team/serving:2026.06-h200.tp8\n{serve}")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"
    two = "# was a.example/it/serving:2026.06-h200.tp8\n# and is a.example/it/serving:2026.07-b200.tp8\n"
    assert ask(f"#!/bin/bash\n{two}{serve}")[0].cluster is None


def test_adapters_of_kimi_vl_are_told_of_once() -> None:
    found = told("vllm serve moonshotai/Kimi-VL-A3B-Instruct --enable-lora --lora-modules a=/a --trust-remote-code\n")
    assert sum("has no adapters" in each for each in found) == 1


def test_one_rank_that_an_own_program_is_given_holds_no_terabyte() -> None:
    text = f"python3 start_api.py --model-path {K25} --max-model-len 65536 --tensor-parallel-size 1\n"
    (found,) = [each for each in told(text) if "one device gets all" in each]
    assert "unless the program adds ranks" in found
    assert not any("one device gets all" in each for each in told(text.replace("size 1", "size 8")))


def test_variables_that_went_become_keys_of_their_option() -> None:
    text = "# vLLM-Ascend 0.30.0rc2\nexport VLLM_ASCEND_ENABLE_MLAPO=1\n"
    text += "vllm serve Eco-Tech/Kimi-K2.6-W4A8 --quantization ascend -tp 4"
    for more in ("", " --additional-config '{\"torchair_graph_config\": {}}'"):
        (judged,) = ask(f"{text} --trust-remote-code{more}\n")
        (line,) = judged.corrected
        given = line.argv[line.argv.index("--additional-config") + 1]
        assert '"enable_mlapo": true' in given
        assert "VLLM_ASCEND_ENABLE_MLAPO" not in line.env


def test_the_successor_of_the_old_server_is_told_of_its_threads() -> None:
    text = "python ktransformers/server/main.py --model_path /w/config --gguf_path /w/gguf --port 10002\n"
    (judged,) = ask(text)
    assert "--kt-cpuinfer" in judged.corrected[0].argv
    (told_of,) = ask(text.replace("--port", "--cpu_infer 48 --port"))
    assert "48" in told_of.corrected[0].argv
    assert told_of.corrected[0].argv.count("--kt-cpuinfer") == 1
