"""Commands of a text that are mended to the same one are shown once."""

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_view import explain_view

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --max-num-seqs {}"
TEXT = f"# One\n\n```bash\n{SERVE}\n```\n\n# Two\n\n```bash\n{SERVE}\n```\n"
ADDED = "--reasoning-parser kimi_k2"


def corrections(first: int, second: int) -> tuple[int, int]:
    """How many are typed, and how many are only named."""
    script = read_script(TEXT.format(first, second))
    shown = " ".join(explain_view(judge(script, Question()), script, width=120).plain.split())
    return shown.count(f"{ADDED}") - shown.count(f"add {ADDED}"), shown.count("Corrected: as above")


def test_the_same_is_named() -> None:
    assert corrections(64, 64) == (1, 1)


def test_another_one_is_typed() -> None:
    assert corrections(64, 32) == (2, 0)


def test_one_with_another_between_is_named_by_its_line() -> None:
    served = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --max-num-seqs"
    sizes = (64, 32, 64, 64, 32)
    text = "\n".join(f"# Step {at}\n\n```bash\n{served} {size}\n```\n" for at, size in enumerate(sizes))
    lines = [at for at, line in enumerate(text.split("\n"), 1) if line.startswith("vllm")]
    script = read_script(text)
    shown = explain_view(judge(script, Question()), script, width=120).plain
    named = [line for line in shown.split("\n") if line.startswith("Corrected: as")]
    assert named == [
        f"Corrected: as for line {lines[0]}",
        "Corrected: as above",
        f"Corrected: as for line {lines[1]}",
    ]
