"""What a second blind reading of people's own files found to be false: names of objects, diffs, stand-ins."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one


def _servers(text: str) -> list[list[str]]:
    return [[word.text for word in each.argv] for each in read_script(text).commands if each.program != "other"]


@pytest.mark.parametrize(
    "line",
    [
        'kubectl -n llm patch deployment llama-server --type=strategic -p "$patch"',
        "label=$(kubectl -n llm get pod -l app=llama-server -o jsonpath='{.items[0]}')",
        "kubectl delete pods -l app=llama-server --force --grace-period=0",
        "oc exec -n llm -it pod -c llama-server -- \\\n  ls -la /models",
        "docker compose -f a.yml up llama-server -d",
        "docker logs llama-server --tail 50",
    ],
)
def test_objects_that_are_called_as_a_program(line: str) -> None:
    assert not any(argv[:1] and argv[0].startswith("-") for argv in _servers(f"{line}\n"))


def test_what_runs_in_a_pod() -> None:
    assert _servers("kubectl exec pod/x -- llama-server -m a.gguf -c 8192\n") == [["-m", "a.gguf", "-c", "8192"]]


HUNK = """@@ -1,5 +1,5 @@
 #!/bin/bash
 vllm serve moonshotai/Kimi-K2.5 \\
-  --tensor-parallel-size 4 \\
-  --no-such-option 1 \\
+  --tensor-parallel-size 8 \\
   --port 8000
"""
SHORT = "- vllm serve moonshotai/Kimi-K2.5 --no-such-option\n+ vllm serve moonshotai/Kimi-K2.5 --port 8000 -tp 8\n"


@pytest.mark.parametrize(
    "text",
    [
        f"diff --git a/run.sh b/run.sh\n--- a/run.sh\n+++ b/run.sh\n{HUNK}",
        f"# Review\n\n```diff\n{HUNK}```\n",
        f"# Review\n\n```diff\n{SHORT}```\n",
        f"# Review\n\nThe change:\n\n{HUNK}",
    ],
)
def test_of_a_diff_the_text_after_the_change_is_read(text: str) -> None:
    judged = ask_one(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not any("no-such-option" in finding.message for finding in judged.findings)
    assert not any("takes no such argument" in finding.message for finding in judged.findings)


def test_the_place_of_a_finding_in_a_diff() -> None:
    script = read_script(HUNK.replace("--port", "--prot"))
    (command,) = [each for each in script.commands if each.program != "other"]
    assert next(word.line for word in command.argv if word.text == "--prot") == 7


def test_dashes_and_plus_signs_of_another_kind() -> None:
    text = "args:\n- vllm\n- serve\n- moonshotai/Kimi-K2.5\n- --tensor-parallel-size\n- '8'\n"
    assert read_script(text).lines == tuple(text.split("\n"))
    (judged,) = ask(
        f"```yaml\nservices:\n  a:\n    image: vllm/vllm-openai:v0.25.0\n    command:\n{_indented(text)}```\n"
    )
    assert judged.layout is not None


def _indented(text: str) -> str:
    items = ["moonshotai/Kimi-K2.5", "--tensor-parallel-size", "'8'"]
    assert all(item in text for item in items)
    return "".join(f"    - {item}\n" for item in items)


@pytest.mark.parametrize("letter", ["X", "Y", "M"])
def test_a_letter_stands_for_a_number(letter: str) -> None:
    (judged,) = ask(f"```bash\nvllm serve Qwen/Qwen3-8B -tp 2 -pp {letter}\n```\n")
    assert any(f"{letter} stands for a number" in finding.message for finding in judged.findings)
    assert not any(finding.severity is Severity.ERROR for finding in judged.findings)


def test_a_file_between_angles_at_the_end_of_a_line_is_to_be_filled_in() -> None:
    (judged,) = ask("```bash\nvllm serve Qwen/Qwen3-8B --api-key <api-key.txt>\n```\n")
    assert not any("needs a value" in finding.message for finding in judged.findings)


@pytest.mark.parametrize(("version", "told"), [("0.30.0", True), ("0.31.0", False)])
def test_penalties_of_the_generation_config(version: str, *, told: bool) -> None:
    config = '{"presence_penalty": 1.5}'
    (judged,) = ask(f"vllm serve Qwen/Qwen3-8B --override-generation-config '{config}'\n", version=version)
    assert any("presence_penalty" in finding.message for finding in judged.findings) == told
