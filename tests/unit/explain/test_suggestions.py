"""Which other settings are offered, and what is said that they buy."""

from __future__ import annotations

import re

import pytest

from moonpad.explain.results import Judged
from moonpad.plan.capacity_errors import sentence
from moonpad.values.plan import Layout
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.unit.explain.judging import ask_one, at, message

K2T = "moonshotai/Kimi-K2-Thinking"
SERVE = f"vllm serve {K2T} --tensor-parallel-size 8"


def offered(judged: Judged) -> list[str]:
    """The words that each offer adds or changes."""
    plain = (judged.corrected or judged.commands)[0].argv
    return [" ".join(word for word in better.lines[0].argv if word not in plain) for better in judged.better]


def test_where_it_fits_what_holds_the_most_comes_first() -> None:
    judged = ask_one(SERVE, "8xH200", "0.11.1")
    assert offered(judged) == ["--decode-context-parallel-size"]  # 8 is there already
    (dcp,) = judged.better
    # The log of the same guide: 8 × 11,174 blocks of 64 tokens; measured, so nothing is said of an estimate.
    assert dcp.memory.kv_tokens.value == 5_721_088
    assert "estimated" not in dcp.why


def test_one_way_for_each_goal() -> None:
    """The most there is, and the most with a cache that keeps its precision."""
    server = f"python -m sglang.launch_server --model-path {K2T} --tp-size 8 --attention-backend flashmla"
    judged = ask_one(server, "8xH200", "0.5.23")
    assert offered(judged) == [
        "--kv-cache-dtype fp8_e4m3",
        "--chunked-prefill-size 4096 --max-running-requests 256",
    ]
    assert judged.memory is not None
    fp8, fewer = judged.better
    # Half the bytes a token: within a block of twice the tokens.
    assert fp8.memory.kv_tokens.value == pytest.approx(2 * judged.memory.kv_tokens.value, abs=128)
    assert "estimated, not measured" in fp8.why
    freed = fewer.memory.kv_bytes.value - judged.memory.kv_bytes.value
    (gained,) = re.findall(r"([0-9.]+) GiB more for it", fewer.why)
    assert float(gained) == pytest.approx(freed / GIB, abs=0.01)
    assert freed > 0


def test_what_was_asked_for_is_turned_down_only_where_it_does_not_fit() -> None:
    requested = f"{SERVE} --max-num-seqs 512 --max-num-batched-tokens 32768"
    assert not any("--max-num" in " ".join(words) for words in (offered(ask_one(requested, "8xH200")),))
    tight = ask_one(f"{requested} --max-model-len 8192 --gpu-memory-utilization 0.94", "8xH100", "0.20.0")
    assert tight.fits is False
    assert all("4096" in words or "256" in words for words in offered(tight))


def test_what_is_set_already_is_not_offered() -> None:
    judged = ask_one(
        f"{SERVE} -dcp 8 --kv-cache-dtype fp8 --max-num-seqs 64 --max-num-batched-tokens 2048", "8xH200", "0.33.0"
    )
    assert judged.better == ()
    assert at(judged, "suboptimal") == []


def test_dcp_is_only_offered_where_the_version_has_it() -> None:
    assert any("--decode-context-parallel-size" in words for words in offered(ask_one(SERVE, "8xH200", "0.12.0")))
    assert not any("--decode-context-parallel-size" in words for words in offered(ask_one(SERVE, "8xH200", "0.10.0")))
    server = f"python -m sglang.launch_server --model {K2T} --tp-size 8"
    assert not any("context-parallel" in words for words in offered(ask_one(server, "8xH200")))


def test_a_setting_that_a_report_of_the_release_speaks_against_is_not_offered() -> None:
    """https://github.com/vllm-project/vllm/pull/28526: 0.10.2 to 0.11.0 answer wrongly with it."""
    assert not any("--decode-context-parallel-size" in words for words in offered(ask_one(SERVE, "8xH200", "0.11.0")))


def test_an_option_that_stands_there_is_changed_in_its_place() -> None:
    judged = ask_one(f"{SERVE} --kv-cache-dtype auto --max-model-len 8192", "8xH200", "0.33.0")
    (fp8,) = [better for better in judged.better if "an FP8" in better.why]
    words = list(fp8.lines[0].argv)
    assert words.count("--kv-cache-dtype") == 1
    assert words[words.index("--kv-cache-dtype") + 1] == "fp8"
    assert words.index("--kv-cache-dtype") < words.index("--max-model-len")


def test_a_shorter_context_where_no_setting_holds_the_one_that_was_asked_for() -> None:
    judged = ask_one(
        f"{SERVE} --max-num-batched-tokens 32768 --max-num-seqs 4 --gpu-memory-utilization 0.95", "8xH100", "0.11.1"
    )
    assert judged.fits is False
    (way,) = judged.better
    words = way.lines[0].argv
    context = int(words[words.index("--max-model-len") + 1])
    assert context % 1024 == 0
    assert way.memory.fits
    assert way.memory.context == context
    assert f"a context of {context:,} tokens" in message(judged, "does-not-fit")


def test_nothing_is_offered_where_nothing_helps() -> None:
    judged = ask_one("vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8", "8xH100")
    assert judged.better == ()
    assert "take more devices" in message(judged, "does-not-fit")


def test_two_nodes_are_changed_together() -> None:
    text = "\n".join(
        f"vllm serve {K2T} --data-parallel-size 2 --data-parallel-size-local 1 --tensor-parallel-size 8 {more}"
        for more in ("", "--headless --data-parallel-start-rank 1")
    )
    judged = ask_one(text, "2x8xH200", "0.33.0")
    assert all(len(better.lines) == 2 for better in judged.better)
    first = judged.better[0]
    assert all("--decode-context-parallel-size" in line.argv for line in first.lines)


def test_a_host_of_which_nothing_is_known() -> None:
    """`up` on a processor says it in the same sentence."""
    memory = ask_one(SERVE, "8xH100", "0.11.1").memory
    assert memory is not None
    text = sentence(replace(memory, device_bytes=0), Layout())
    assert text.endswith("and the engine may use 71.26 GiB")  # 0.9 of 79.18
    nothing = sentence(replace(memory, device_bytes=0, budget_bytes=1), Layout())
    assert "the engine may use 0.0 MiB; everything else takes" in nothing


def test_no_more_sequences_where_each_would_take_a_part_of_the_context() -> None:
    judged = ask_one(
        "llama-server -m Kimi-K2.5-Q4_K_S-00001-of-00013.gguf -ngl 99 -ot exps=CPU -c 131072\n", on="1xRTX-PRO-6000"
    )
    assert judged.memory is not None
    assert judged.memory.fits
    assert judged.better == ()


def test_whole_prompts_are_left_as_they_are() -> None:
    whole = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp 8"
    judged = ask_one(f"{whole} --context-length 131072 --chunked-prefill-size -1\n", "8xB200")
    assert any("chunked prefill is off" in each.message for each in judged.findings)
    (line,) = judged.corrected
    assert line.argv[line.argv.index("--chunked-prefill-size") + 1] == "-1"


def test_fewer_sequences_come_before_a_shorter_context() -> None:
    """What the engine reserves for sequences that nobody asked for is what lacks."""
    serve = "vllm serve moonshotai/Kimi-K2.7-Code --tensor-parallel-size 8 --gpu-memory-utilization 0.92"
    judged = ask_one(f"{serve} --max-model-len 32768 --mm-encoder-tp-mode data --trust-remote-code", "8xH100", "0.33.0")
    words = " ".join(offered(judged))
    assert "--max-num-seqs 64" in words
    assert "--max-model-len" not in words
    assert "--enforce-eager" not in words


def test_sequences_that_were_asked_for_are_kept_where_they_are_few() -> None:
    serve = "vllm serve moonshotai/Kimi-K2.7-Code --tensor-parallel-size 8 --max-num-seqs 32"
    judged = ask_one(f"{serve} --max-model-len 32768 --trust-remote-code", "8xH100", "0.33.0")
    assert not any("--max-num-seqs 64" in words for words in offered(judged))
