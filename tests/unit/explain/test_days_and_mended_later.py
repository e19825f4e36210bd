"""What later releases mended, of a fault that came after the text was written."""

from __future__ import annotations

from tests.unit.explain.judging import ask_one


def test_what_was_mended_before_the_fault_came_is_not_told() -> None:
    """CUTLASS_MLA's barrier was skipped in vLLM 0.10.2 (September 2025), mended in 0.11.0."""

    def faults(head: str) -> list[str]:
        command = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --tool-call-parser kimi_k2"
        judged = ask_one(
            f"{head}\nOn 8xB200, the server hangs after a few requests:\n```\n{command}\n```\n", on="8xB200"
        )
        return [each.finding.message for each in judged.remarks if each.as_told]

    assert any("CUTLASS_MLA hangs" in each for each in faults(""))
    assert any("CUTLASS_MLA hangs" in each for each in faults("a · comment · 2026-01-15"))
    assert not faults("a · comment · 2025-07-15")
