"""A guide that says what makes a start raise an error, and how it asks for another package: nothing has stopped."""

from __future__ import annotations

from tests.unit.explain.judging import ask

COMMAND = (
    "```bash\npython -m sglang.launch_server --model /srv/DeepSeek-V4-Flash --kt-weight-path /srv/DeepSeek-V4-Flash"
    " --kt-method MXFP4 --kt-cpuinfer 60 --kt-num-gpu-experts 8 --tensor-parallel-size 1\n```\n"
)
ERROR = "`TypeError: non-default argument 'quantization_config' follows default argument`"


def _stops(said: str) -> bool:
    findings = [each for one in ask(f"# KTransformers\n\n{said}\n\n{COMMAND}", on="") for each in one.findings]
    return any("the engine stopped" in each.message for each in findings)


def test_what_a_newer_package_makes_it_raise_did_not_come() -> None:
    assert not _stops(f"transformers 5 has new fields that make its dataclass raise {ERROR} at the import; pin 4.57.1.")


def test_what_somebody_got_did() -> None:
    assert _stops(f"I get {ERROR} at the import.")
