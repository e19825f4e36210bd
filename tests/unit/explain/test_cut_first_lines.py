"""A first line that is too long ends at the end of a word, and the report behind it stands below alone."""

import re

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask_one

NVLINK = (
    "vllm serve moonshotai/Kimi-K2-Thinking --data-parallel-size 8 --enable-expert-parallel --trust-remote-code"
    " --reasoning-parser kimi_k2 --all2all-backend flashinfer_nvlink_one_sided"
)
DRAFT = (
    "python -m sglang.launch_server --model-path nvidia/Kimi-K2.5-NVFP4 --tp-size 8 --trust-remote-code"
    " --reasoning-parser kimi_k2 --speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1"
    " --speculative-num-draft-tokens 4 --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3"
)
LONG = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code --reasoning-parser kimi_k2"


def test_report_is_not_cut_in_its_middle() -> None:
    sentence, _ = verdict(ask_one(NVLINK, on="8xB200", version="0.21.0"))
    assert sentence.startswith("Known fault (--all2all-backend): ")
    assert "without an error. The command:" in sentence
    assert "(vllm" not in sentence


def test_cut_is_at_the_end_of_a_word() -> None:
    judged = ask_one(DRAFT, on="8xB200")
    sentence, _ = verdict(judged)
    told = next(each.message for each in judged.findings if "trtllm_mla" in each.message)
    last = re.findall(r"\w+", sentence.partition("...")[0])[-1]
    assert "..." in sentence
    assert re.search(rf"\b{last}\b", told)


def test_less_than_one_sequence_is_said_by_the_context_of_the_model() -> None:
    sentence, _ = verdict(ask_one(LONG, on="8xRTX-PRO-6000"))
    assert "1.0 sequences of" not in sentence
    assert "less than one sequence of the model's 262,144" in sentence
