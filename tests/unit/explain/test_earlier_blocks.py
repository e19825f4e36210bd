"""Variables that one block of a guide sets and a later one uses."""

from __future__ import annotations

from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.values.plan import Layout
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp $TP --max-model-len 32768"


def block(text: str) -> str:
    return f"```bash\n{text}\n```\n\n"


def only(*parts: str) -> Judged:
    (judged,) = ask("# Guide\n\n" + "".join(parts), "8xH200", "0.30.0")
    return judged


def test_a_later_block_knows_what_an_earlier_one_has_set() -> None:
    assert only(block("TP=8"), "Then:\n\n", block(SERVE)).layout == Layout(tp=8)
    assert only(block("TP=8"), "## Start\n\n", block(SERVE)).layout == Layout(tp=8)
    assert only(block("export TP=8"), block(SERVE)).layout == Layout(tp=8)


def test_what_comes_later_counts_not() -> None:
    assert "tp" in only(block(SERVE), block("TP=8")).unknown


def test_two_values_of_other_parts_are_alternatives() -> None:
    parts = ("## A\n\n", block("TP=8"), "## B\n\n", block("TP=4"))
    assert "tp" in only(*parts, "## Start\n\n", block(SERVE)).unknown
    assert only(*parts, block(SERVE)).layout == Layout(tp=4)
    assert only("## A\n\n", block("TP=8"), "## B\n\n", block("TP=8"), "## Start\n\n", block(SERVE)).layout == Layout(
        tp=8
    )


def test_what_is_not_known_takes_what_was_away() -> None:
    assert "tp" in only(block("TP=8"), block("TP=$(tool)"), block(SERVE)).unknown


def test_a_file_that_an_earlier_block_writes_under_a_name() -> None:
    writes = block("FILE=/tmp/config.yml\ncat << EOF > ${FILE}\ntensor_parallel_size: 8\nEOF")
    starts = block("trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --config ${FILE}")
    (judged,) = ask(f"# Guide\n\n{writes}### Start\n\n{starts}", "8xB200")
    assert judged.layout == Layout(tp=8)


def test_exports_reach_the_process_of_the_same_part_alone() -> None:
    def warned(*parts: str) -> bool:
        return any("VLLM_USE_V1" in one.where for one in only(*parts).findings)

    serve, setting = block(SERVE.replace("$TP", "8")), block("export VLLM_USE_V1=1")
    assert warned(setting, serve)
    assert not warned("## AMD\n\n", setting, "## NVIDIA\n\n", serve)
    assert not warned(serve)


def test_a_thousand_blocks() -> None:
    text = (
        "# Guide\n\n" + "".join(block(f"A{number}={number}") for number in range(1_000)) + block("vllm serve m -tp $A7")
    )
    (judged,) = ask(text)
    assert judged.layout == Layout(tp=7)


GUIDE = """`env.sh`:

```bash
export MODEL_ID=moonshotai/Kimi-K2.5
export VLLM_IMAGE=vllm/vllm-openai:v0.19.0
export TP=8
```

`serving.yaml`, by envsubst:

```yaml
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - image: ${VLLM_IMAGE}
        command: ["/bin/sh", "-c"]
        args:
        - vllm serve ${MODEL_ID} --tensor-parallel-size ${TP} --port ${PORT} --served-model-name $${TP}
```
"""


def test_a_manifest_of_a_guide_is_filled_with_what_its_blocks_set() -> None:
    script = read_script(GUIDE)
    (command,) = [each for each in script.commands if each.program != "other"]
    words = [word.text for word in command.argv]
    assert words[:3] == ["moonshotai/Kimi-K2.5", "--tensor-parallel-size", "8"]
    assert command.container is not None
    assert command.container.image is not None
    assert command.container.image.text == "vllm/vllm-openai:v0.19.0"
    assert command.unresolved == ("PORT",)
