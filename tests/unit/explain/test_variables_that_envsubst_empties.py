"""A manifest that `envsubst` fills in without a list of names, and the variables of the scripts in it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

CALL = "envsubst < decode.yaml | kubectl apply -f -"
ADDRESS = "HERE=$(hostname -i)"


def found(text: str) -> list[Finding]:
    return [finding for each in ask(text) for finding in each.findings if "envsubst" in finding.message]


def manifest(*lines: str, image: str = "${REGISTRY}/vllm-openai:v0.20.0", address: str = '"$HERE"') -> str:
    script = "".join(f"            {line}\n" for line in lines)
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: decode\nspec:\n  containers:\n    - name: server\n"
        f"      image: {image}\n      env:\n        - name: LOG\n          value: debug\n"
        f"      command: [bash, -c]\n      args:\n        - |\n{script}"
        "            exec vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code -tp ${SIZE} "
        f"--data-parallel-address {address} --uvicorn-log-level ${{LOG}}\n"
    )


def test_it_empties_what_the_script_sets_itself() -> None:
    (finding,) = found(f"# Apply: {CALL}\n" + manifest(ADDRESS))
    assert (finding.severity, finding.where) == (Severity.WARNING, "$HERE")
    assert "line 1" in finding.message
    assert "--data-parallel-address" in finding.message
    assert finding.remedy == "name what it may replace: envsubst '$REGISTRY $SIZE' < decode.yaml"


@pytest.mark.parametrize(
    "text",
    [
        f"# cat decode.yaml | envsubst | kubectl apply -n ai -f -\n{manifest(ADDRESS, address='${HERE}')}",
        f"# {CALL}\n{manifest('for HERE in $(hostname -I); do break; done')}",
        f"# The pod\n\nSave as `decode.yaml`:\n```yaml\n{manifest(ADDRESS)}```\n\nThen\n```sh\n{CALL}\n```\n",
        f"cat > decode.yaml <<'EOF'\n{manifest(ADDRESS)}EOF\n{CALL}\n",
    ],
)
def test_it_is_said_however_the_file_is_named(text: str) -> None:
    assert [finding.where for finding in found(text)] == ["$HERE"]


@pytest.mark.parametrize(
    "text",
    [
        f"# envsubst '$REGISTRY $SIZE' < decode.yaml | kubectl apply -f -\n{manifest(ADDRESS)}",
        f'# envsubst "$NAMES" < decode.yaml | kubectl apply -f -\n{manifest(ADDRESS)}',
        f"# Never {CALL}\n{manifest(ADDRESS)}",
        f"# Apply: {CALL}\n{manifest('HERE=${HERE}')}",
        f"# Apply: {CALL}\n{manifest(ADDRESS, address='${HERE:-}')}",
        f"# Apply: {CALL}\n{manifest()}",
        f"# Apply: {CALL}\n{manifest(ADDRESS, image='vllm/vllm-openai:v0.20.0')}",
        f"# envsubst < secret.yaml | kubectl apply -f -; kubectl apply -f decode.yaml\n{manifest(ADDRESS)}",
        f"# The pod\n\n`decode.yaml`:\n```yaml\n{manifest(ADDRESS)}```\n```sh\n"
        "envsubst < secret.yaml | kubectl apply -f -\nkubectl apply -f decode.yaml\n```\n",
        manifest(ADDRESS),
    ],
)
def test_it_is_not_said_where_the_variables_are_kept_or_another_file_is_filled_in(text: str) -> None:
    assert found(text) == []
