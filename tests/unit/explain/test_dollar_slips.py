"""Variables of a script in YAML that Compose or Flux fill in before the shell."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask


def found(text: str, part: str) -> list[Finding]:
    return [finding for each in ask(text) for finding in each.findings if part in finding.message]


def service(*lines: str, more: str = "") -> str:
    script = "".join(f"        {line}\n" for line in lines)
    return (
        "services:\n  k2:\n    image: vllm/vllm-openai:v0.20.0\n    ipc: host\n"
        f"{more}    entrypoint:\n      - bash\n      - -c\n      - |\n{script}"
    )


SERVE = "exec vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code -tp {tp}"
COUNTED = "GPUS=$$(nvidia-smi -L | wc -l)"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (service(COUNTED, SERVE.format(tp="$GPUS")), "GPUS"),
        (service(COUNTED, SERVE.format(tp="${GPUS:-8}")), "GPUS"),
        (
            service("source /etc/detect_nvlink.sh", 'if [ "${_NVLINK_ENABLED:-0}" = "1" ]; then', "fi", SERVE),
            "_NVLINK_ENABLED",
        ),
    ],
)
def test_compose_fills_it_in(text: str, name: str) -> None:
    (finding,) = found(text, "Compose fills in")
    assert (finding.severity, finding.where) == (Severity.WARNING, name)


@pytest.mark.parametrize(
    "text",
    [
        service(COUNTED, SERVE.format(tp="$$GPUS")),
        service(COUNTED, SERVE.format(tp="$${GPUS:-8}")),
        service(SERVE.format(tp="${TP:-8}")),
        service("TP=${TP:-8}", SERVE.format(tp="$TP")),
        service("TP=8", SERVE.format(tp="$TP"), more="    environment:\n      - TP=${TP}\n"),
        service("source /etc/profile.sh", SERVE.format(tp="${_TP:-8}")),
        service("# GPUS=8", SERVE.format(tp="$GPUS")),
    ],
)
def test_compose_fills_in_what_is_meant(text: str) -> None:
    assert found(text, "Compose fills in") == []


def manifest(*lines: str) -> str:
    script = "".join(f"            {line}\n" for line in lines)
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: k2\nspec:\n  containers:\n    - name: server\n"
        "      image: vllm/vllm-openai:v0.20.0\n      command: [bash, -c]\n      args:\n        - |\n"
        f"{script}            {SERVE.format(tp=8)}\n"
    )


def test_one_script_in_two_ways() -> None:
    text = manifest("COUNT=8", "WHERE=/m", 'echo "$${COUNT} in ${WHERE}"')
    (finding,) = found(text, "are substituted")
    assert (finding.severity, finding.where) == (Severity.WARNING, "WHERE")


@pytest.mark.parametrize(
    "lines",
    [
        ("COUNT=8", "WHERE=/m", 'echo "${COUNT} in ${WHERE}"'),
        ("COUNT=8", "WHERE=/m", 'echo "$${COUNT} in $${WHERE}"'),
        ("COUNT=8", 'echo "$${COUNT} in ${CLUSTER}"'),
        ("COUNT=8", "WHERE=${WHERE}", 'echo "$${COUNT} in ${WHERE}"'),
        ("COUNT=8", "WHERE=/m", 'echo "$$ has ${COUNT} in ${WHERE}"'),
    ],
)
def test_one_script_in_one_way(lines: tuple[str, ...]) -> None:
    assert found(manifest(*lines), "are substituted") == []
