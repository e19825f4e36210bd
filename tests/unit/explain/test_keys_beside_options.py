"""Keys of a program's own beside the options that it passes on, and lists of options that are a client's."""

from __future__ import annotations

import json

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

RECORD: dict[str, object] = {
    "model": "acme/Chat-8B",
    "vllm_image": "vllm/vllm-openai:v0.26.0",
    "server_config": {"max_model_len": 65536, "gpu_memory_utilization": 0.8, "kv_cache_dtype": "fp8"},
}
PRINTED = """\
Name:        @demo/chat-8b
Runtime:     vllm

Command:
  vllm serve \\
    {model} \\
    --served-model-name {name} \\
    --tensor-parallel-size 2 \\
    --port 9000

Fits:        yes
"""
CLIENT = """\
```ts
export function benchArgs(target: Target): string[] {
  return [
    "--base-url", target.url,
    "--model", target.name,
    "--format", "json",
    "--seed", "42",
  ];
}
```
"""


def judged_of(name: str, text: str) -> list[Judged]:
    return list(judge(read_files([(name, text)]), Question()))


def record(**more: object) -> Judged:
    options = RECORD["server_config"]
    assert isinstance(options, dict)
    (judged,) = judged_of("meta.json", json.dumps({**RECORD, "server_config": {**options, **more}}, indent=2))
    return judged


def unknown(judged: Judged, flag: str) -> list[Finding]:
    return [finding for finding in judged.findings if finding.where == flag]


def test_a_text_of_further_options_is_read_as_options() -> None:
    judged = record(extra_vllm_args="--max-num-seqs 12")
    assert judged.settings is not None
    assert judged.settings.max_num_seqs == 12
    assert not unknown(judged, "--extra-vllm-args")


@pytest.mark.parametrize(
    ("key", "severity"), [("bench_profile", Severity.WARNING), ("max_num_batchd_tokens", Severity.ERROR)]
)
def test_a_key_that_is_no_option_is_an_error_where_a_letter_is_wrong(key: str, severity: Severity) -> None:
    (finding,) = unknown(record(**{key: 4096}), f"--{key.replace('_', '-')}")
    assert finding.severity is severity


def test_a_printed_recipe_is_read_with_the_ends_of_its_lines() -> None:
    (judged,) = judged_of("recipe.txt", PRINTED)
    assert judged.layout is not None
    assert judged.layout.tp == 2
    assert not [finding for finding in judged.findings if finding.severity is Severity.ERROR]


def test_the_options_of_a_client_start_no_server() -> None:
    assert judged_of("plan.md", CLIENT) == []
    assert judged_of("plan.md", CLIENT.replace("--base-url", "--host").replace("--format", "--dtype"))


PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  template:
    spec:
      containers:
        - name: server
          args:
            - >
              exec vllm serve acme/Chat-8B
              --tensor-parallel-size 4
              --max-model-len 16384
"""


def test_a_patch_gives_the_text_for_the_shell_of_its_object() -> None:
    (judged,) = judged_of("patch.yaml", PATCH)
    assert judged.layout is not None
    assert judged.layout.tp == 4
    assert judged.settings is not None
    assert judged.settings.max_model_len == 16384


HANDED_ON = """\
Start the mirror:

```bash
python scripts/mirror.py \\
  --port 8130 \\
  --server-bin /opt/llama/bin/llama-server \\
  --model-path /models/chat-q4.gguf \\
  --alias chat
```
"""


def test_the_options_beside_the_path_of_a_program_are_those_of_another() -> None:
    assert judged_of("guide.md", HANDED_ON) == []
    assert judged_of("guide.md", f"{HANDED_ON}The engine is `llama-server --model-path m.gguf`.\n") != []


COMPARED = """Each run takes all of these:

```bash
--model chat:8b-q4 --model chat:8b-q8
--seed 1 --seed 2
--top_p 0.5 --top_p 0.9
```

The server is vLLM or llama.cpp.
"""


def test_a_list_of_several_models_is_not_that_of_a_server() -> None:
    assert judged_of("bench.md", COMPARED) == []


SETTINGS = """\
# Guide

```bash
$ tool show vllm
VLLM_VERSION                   v0.9.2
VLLM_MODEL                     acme/Chat-8B
VLLM_EXTRA_ARGS                --max-model-len 1024 --trust-remote-code --enforce-eager --seed 0 --dtype half
VLLM_MODEL_SPECIFIER           --model acme/Chat-8B
```
"""


def test_the_next_row_of_a_printed_table_is_no_broken_line() -> None:
    judged = judged_of("profile.md", SETTINGS)
    assert judged
    assert not [finding for each in judged for finding in each.findings if finding.where == "line break"]


def test_a_number_that_is_too_small_is_not_told_to_be_a_number() -> None:
    judged = judged_of("start.sh", "vllm serve acme/Chat-8B --gpu-memory-utilization 0\n")
    (finding,) = [one for each in judged for one in each.findings if one.where == "--gpu-memory-utilization"]
    assert finding.remedy == "it takes a greater number"


LOGGED = (
    "(APIServer pid=1) INFO 08-01 00:35:42 [api_utils.py:273] non-default args: {'model_tag': 'acme/Chat-8B', "
    "'model': 'acme/Chat-8B', 'master_addr': '<HEAD_IP>', 'nnodes': 2, 'tensor_parallel_size': 2}\n"
)


def test_an_address_that_its_author_hid_in_a_log_is_given() -> None:
    (judged,) = judged_of("start.log", LOGGED)
    assert not [finding for finding in judged.findings if finding.where == "--master-addr"]
