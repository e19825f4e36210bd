"""A first line that is too long ends at the end of a word, and the report behind it stands below alone."""

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

NVLINK = (
    "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 2 --data-parallel-size 4 --enable-expert-parallel"
    " --trust-remote-code --reasoning-parser kimi_k2 --all2all-backend flashinfer_nvlink_one_sided"
)
CUT = (
    "vllm serve /models/Kimi-K3-W4A8-C8 --trust-remote-code --quantization ascend --tensor-parallel-size 16"
    " --data-parallel-size 2 --reasoning-parser kimi_k3"
)
LONG = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code --reasoning-parser kimi_k2"


def test_report_is_not_cut_in_its_middle() -> None:
    sentence, _ = verdict(ask_one(NVLINK, on="8xB200", version="0.21.0"))
    assert sentence.startswith("Known fault (--all2all-backend): ")
    assert "accuracy falls, without an error" in sentence
    assert ("(vllm-project/vllm#41382)" in sentence) is ("(vllm" in sentence)


def test_cut_is_at_the_end_of_a_word() -> None:
    (judged,) = ask(f"vllm-ascend 0.18.0 on 2 nodes of Atlas 800 A3\n\n```bash\n{CUT}\n```\n")
    sentence, _ = verdict(judged)
    told = next(each.message for each in judged.findings if each.severity is Severity.ERROR)
    head, cut, _ = sentence.partition("...")
    assert cut
    assert f"{head.removeprefix('Error: --quantization: ')} " in told


def test_less_than_one_sequence_is_said_by_the_context_of_the_model() -> None:
    sentence, _ = verdict(ask_one(LONG, on="8xRTX-PRO-6000"))
    assert "1.0 sequences of" not in sentence
    assert "less than one sequence of the model's 262,144" in sentence
