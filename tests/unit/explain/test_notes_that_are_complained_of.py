"""A fault that is a note for every start with a plugin leads where the text complains of just that."""

from __future__ import annotations

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one, first_line

COMMAND = (
    "```bash\nexport SGLANG_EXTERNAL_MODEL_PACKAGE=atom.plugin.sglang.models\n"
    "python3 -m sglang.launch_server --model-path amd/Kimi-K2.6-MXFP4 --trust-remote-code --tensor-parallel-size 8 "
    "--attention-backend aiter\n```\n"
)
COMPLAINT = "On 8x MI355X ATOM has not registered the model yet, and weight loading fails.\n\n"


def severity(text: str) -> Severity:
    (told,) = [each for each in ask_one(text, "8xMI355X").findings if each.where == "SGLANG_EXTERNAL_MODEL_PACKAGE"]
    return told.severity


def test_a_text_that_complains_of_the_plugin() -> None:
    assert severity(COMPLAINT + COMMAND) is Severity.WARNING
    assert first_line(COMPLAINT + COMMAND).startswith("Known fault (SGLANG_EXTERNAL_MODEL_PACKAGE): ATOM's plugin")
    assert not ask_one(COMPLAINT + COMMAND, "8xMI355X").corrected


def test_a_text_that_only_starts_it() -> None:
    assert severity(f"Serving with ATOM on 8x MI355X.\n\n{COMMAND}") is Severity.NOTE
