"""Of several kinds of devices in headings that of the command's own heading is proposed, where no number is known."""

from __future__ import annotations

import pytest

from moonpad.cli.explain import _next
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVE = "```bash\ntrtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --config kimi-k2-thinking.yaml\n```\n\n"
B200, GB200 = "## Deploy on DGX B200 through Docker\n\n", "## Deploy on GB200 NVL72 through SLURM\n\nWide EP.\n\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"# Guide\n\n{B200}{SERVE}{GB200}", "B200"),
        (f"# Guide\n\n{B200}Text.\n\n{GB200}{SERVE}", "GB200"),
        (f"# Guide\n\n{B200}{SERVE}", "B200"),
    ],
)
def test_the_kind_of_its_own_heading(text: str, kind: str) -> None:
    (judged,) = ask(text)
    assert judged.cluster_because.startswith(f"the text names {kind}, and the command")
    assert _next([judged], read_script(text)).partition("  #")[0].endswith(f"x{kind}")


def test_two_kinds_of_which_none_is_its_own() -> None:
    (judged,) = ask(f"# Guide\n\n{B200}Text.\n\n{GB200}## Another part\n\n{SERVE}")
    assert "B200" not in judged.cluster_because
