"""A script that is not at hand and gets its options by variables, and tables of benchmarks that give them."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

START = "MODEL=moonshotai/Kimi-K2-Instruct TP_SIZE=8 {name}='--max-model-len 65536' sbatch run_vllm_nodes.sh\n"
FORM = "MODEL=<model-or-path> TP_SIZE=<gpus-per-node> EXTRA_ARGS='--max-model-len 32768' sbatch {script}\n"


def judged_of(text: str) -> list[Judged]:
    return list(judge(read_script(text), Question()))


@pytest.mark.parametrize("name", ["EXTRA_VLLM_ARGS", "EXTRA_ARGS", "VLLM_OPTS", "SERVER_FLAGS"])
def test_more_options_in_a_variable(name: str) -> None:
    (judged,) = judged_of(START.format(name=name))
    assert judged.settings is not None
    assert judged.settings.max_model_len == 65536


def test_a_form_is_no_deployment_of_its_own() -> None:
    text = FORM.format(script="run_vllm_nodes.sh") + "\n" + START.format(name="EXTRA_ARGS")
    (judged,) = judged_of(text)
    assert judged.checkpoint is not None
    assert any("placeholder" in problem.message for problem in read_script(text).problems)


@pytest.mark.parametrize("script", ["run_vllm_nodes.sh", "run_vllm_other.sh"])
def test_a_form_alone_is_read(script: str) -> None:
    others = START.format(name="EXTRA_ARGS") if script == "run_vllm_other.sh" else ""
    assert len(judged_of(FORM.format(script=script) + "\n" + others)) == 1  # a form beside a whole start is none


TABLE = """\
```yaml
k2-int4-h200-vllm:
  image: vllm/vllm-openai:v0.20.2
  model: moonshotai/Kimi-K2-Thinking
  runner: h200
  seq-len-configs:
  - isl: 1024
    search-space:
    - {{ tp: {first}, ep: 1, conc-start: 4 }}
    - {{ tp: {second}, ep: 1, conc-start: 8 }}
```

```bash
vllm serve $MODEL --port 8888 --tensor-parallel-size $TP --max-num-seqs $CONC --trust-remote-code
```
"""


@pytest.mark.parametrize(("first", "second", "expected"), [(8, 8, "8xH200"), (4, 4, "4xH200"), (4, 8, "")])
def test_a_search_space(first: int, second: int, expected: str) -> None:
    (judged,) = judged_of(TABLE.format(first=first, second=second))
    assert (judged.cluster.name if judged.cluster is not None else "") == expected
    assert ("tp" in judged.unknown) is not bool(expected)


def test_the_script_goes_before_the_table() -> None:
    (judged,) = judged_of(TABLE.format(first=8, second=8).replace("vllm serve", "TP=4\nvllm serve"))
    assert judged.layout is not None
    assert judged.layout.tp == 4
