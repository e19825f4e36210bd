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
