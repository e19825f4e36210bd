"""An option that some releases refuse and later ones take again, where no release is named."""

from __future__ import annotations

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

LINE = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 8 --reasoning-parser kimi_k2 --disable-log-requests\n"


def told(text: str, version: str = "") -> list[Severity]:
    findings = [finding for judged in ask(text, on="8xH200", version=version) for finding in judged.findings]
    return [finding.severity for finding in findings if finding.where == "--disable-log-requests"]


def test_the_releases_before_refuse_it() -> None:
    assert told(LINE) == [Severity.WARNING]
    assert told(LINE, "0.33.0") == [Severity.NOTE]
    assert told(LINE, "0.20.0") == [Severity.ERROR]


def test_by_the_text_it_runs() -> None:
    log = "INFO 11-20 10:00:00 [api_server.py:1] Starting vLLM API server on http://0.0.0.0:8000\n"
    log += "INFO:     Application startup complete.\n"
    text = f"It runs well with this command:\n\n```bash\n{LINE}```\n\n```\n{log}```\n"
    assert Severity.WARNING not in told(text)
