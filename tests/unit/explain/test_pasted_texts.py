"""What texts that people paste have in them, beside the command."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one

K25 = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --reasoning-parser kimi_k2"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("We still run an SGLang from before 0.5.11.", "0.5.10.post1"),
        ("Our cluster has SGLang older than 0.5.10 installed.\n\nWe use SGLang older than 0.5.10.", "0.5.9"),
        ('```\npip install "sglang[all]>=0.5.5,<0.5.10"\n```', "0.5.9"),
    ],
)
def test_a_bound_names_the_last_release_below_it(text: str, version: str) -> None:
    command = "\n\n```\nsglang serve --model-path moonshotai/Kimi-K2-Instruct --tp-size 8 --trust-remote-code\n```"
    (judged,) = ask(text + command)
    assert judged.version == version
    assert "before" in judged.version_because


def test_a_bound_of_a_fault_is_none_of_the_release_in_use() -> None:
    (judged,) = ask(f"vLLM before 0.11.1 had a fault with long prompts.\n\n```\n{K25}\n```")
    assert "judged by the newest" in judged.version_because


VARIANTS = """model: moonshotai/Kimi-K2.5
engine: vllm
fixed_args:
  trust-remote-code: true
  tensor-parallel-size: 8
  max-model-len: 131072
variants:
  wide:
    decode-context-parallel-size: 8
  short:
    max-model-len: 16384
"""


def test_each_variant_has_what_is_fixed() -> None:
    (judged,) = ask(VARIANTS, "8xH200")
    layouts = [each.layout for each in (judged, *judged.alternatives)]
    assert [(layout.tp, layout.dcp) for layout in layouts if layout] == [(8, 8), (8, 1)]
    lengths = [each.settings.max_model_len for each in (judged, *judged.alternatives) if each.settings]
    assert lengths == [131072, 16384]


def test_python_below_a_sentence_is_read() -> None:
    text = "hello, that ends at once on my box (8x H200):\n\nimport os\nfrom vllm import LLM\n\nllm = LLM(\n"
    text += '    model="moonshotai/Kimi-K2-Thinking",\n    tensor_parallel_size=8,\n)\n\nwhat is it?\n'
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.cluster is not None


def test_a_name_behind_the_beginning_of_an_option_for_files_is_that_of_a_parser() -> None:
    judged = ask_one(f"{K25} --enable-auto-tool-choice --tool-parser kimi_k2", version="0.19.1")
    (line,) = judged.corrected
    assert line.argv.count("--tool-call-parser") == 1
    assert "--tool-parser-plugin" not in line.argv


def test_one_line_of_all_machines_does_not_meet_at_localhost() -> None:
    text = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:h200:8\nsrun bash -c 'sglang serve --model-path "
    text += "moonshotai/Kimi-K2-Instruct --tp-size 16 --nnodes 2 --node-rank $SLURM_NODEID --dist-init-addr {} "
    text += "--trust-remote-code'"
    (judged,) = ask(text.format("localhost:5000"))
    assert any("own address" in finding.message for finding in judged.findings)
    assert not judged.corrected
    (right,) = ask(text.format("10.0.0.1:5000"))
    assert not any("own address" in finding.message for finding in right.findings)


def test_another_node_s_address_has_the_option_that_is_there() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 -tp 16 --nnodes 2 --node-rank {} --master-addr {} --trust-remote-code{}"
    (judged,) = ask(f"{text.format(0, '10.0.0.1', '')}\n{text.format(1, '10.0.0.2', ' --headless')}", "2x8xH200")
    (found,) = [finding for finding in judged.findings if "do not find each other" in finding.message]
    assert found.where == "--master-addr"


def test_memory_behind_a_name_says_which_of_two_is_meant() -> None:
    text = "8卡H20{}部署:\n\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --max-model-len 8192\n"
    (stated,) = ask(text.format("(96G)"))
    assert any(finding.code is Code.DOES_NOT_FIT and finding.severity is Severity.ERROR for finding in stated.findings)
    assert not any("syntax error" in finding.message for finding in stated.findings)
    (open_,) = ask(text.format(""))
    assert not any(
        finding.code is Code.DOES_NOT_FIT and finding.severity is Severity.ERROR for finding in open_.findings
    )


def test_a_log_that_lacks_memory_has_the_remedy_of_weights_that_do_not_fit() -> None:
    text = (
        f"8x H100 80GB\n\n```\n{K25.replace('K2.5', 'K2-Instruct')}\n```\n\ntorch.OutOfMemoryError: CUDA out of memory."
    )
    (judged,) = ask(text)
    (found,) = [finding for finding in judged.findings if finding.code is Code.LOGGED_FAILURE]
    assert "lower" not in found.remedy
    assert "more devices" in found.remedy


def test_a_smaller_file_is_named_where_the_host_memory_is_short() -> None:
    text = "RTX PRO 6000, 256 GB of RAM\n\n```\nllama-server -m /m/Kimi-K2.5-UD-Q4_K_XL-00001-of-00013.gguf -ngl 99 "
    text += '-ot ".ffn_.*_exps.=CPU" --ctx-size 16384\n```'
    (judged,) = ask(text)
    assert any("UD-TQ1_0 takes about" in finding.remedy for finding in judged.findings)


def test_what_devices_do_not_compute_is_said_once() -> None:
    (judged,) = ask("vllm serve amd/Kimi-K2.5-MXFP4 --tensor-parallel-size 8 --trust-remote-code", "8xMI300X")
    assert len([finding for finding in judged.findings if "FP4" in finding.message.replace("-MXFP4", "")]) == 1


def test_all_data_parallel_ranks_start_on_one_machine() -> None:
    text = "# 8xH200, vLLM 0.19.1\n" + K25 + " --data-parallel-size 2"
    (judged,) = ask(text)
    assert any("nothing says that some start elsewhere" in finding.message for finding in judged.findings)
    (apart,) = ask(f"{text} --data-parallel-size-local 1 --data-parallel-address 10.0.0.1", "2x8xH200")
    assert not any("start elsewhere" in finding.message for finding in apart.findings)


def test_out_of_memory_has_the_share_that_is_told() -> None:
    text = f"8x H100, vLLM 0.19.1\n\n```\n{K25.replace('K2.5', 'K2-Thinking')} --gpu-memory-utilization 0.98 "
    text += "--max-model-len 16384 --max-num-seqs 16\n```\n\ntorch.OutOfMemoryError: CUDA out of memory."
    (judged,) = ask(text)
    (line,) = judged.corrected
    assert "0.95" in line.argv


def test_a_caret_continues_no_line_of_a_shell() -> None:
    judged = ask_one("vllm serve moonshotai/Kimi-K2.5 ^\n  --tensor-parallel-size 8 ^\n  --trust-remote-code")
    assert any("cmd.exe alone" in finding.message for finding in judged.findings)
    assert judged.corrected
    llama = ask_one("llama-server -m Kimi-K2.5-Q4_K_M.gguf ^\n  --ctx-size 8192")
    assert not any("cmd.exe alone" in finding.message for finding in llama.findings)
