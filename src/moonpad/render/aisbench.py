"""AISBench's configuration file for the endpoint of a spec: GSM8K by the settings of the chat protocol.

A file of Python by AISBench's own form (github.com/AISBench/benchmark, 3.1). Its texts are written by `repr`, so that
no name can break out of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moonpad.catalog.evaluations import Protocol, protocols
from moonpad.render.rendered import Rendered
from moonpad.spec.schema import Spec

FILE: Final = "aisbench.py"
START: Final = "ais_bench {} --mode all"
KEY_VARIABLE: Final = "OPENAI_API_KEY"

TEXT: Final = """\
# GSM8K by AISBench 3.1 against {name}. Start the endpoint, then:  ais_bench {file} --mode all
# AISBench asks four examples of its own, as turns; its accuracy is not comparable with one of lm-eval's five.
# GSM8K is not downloaded: it is read from ais_bench/datasets/gsm8k (see AISBench's README of that data set).
{key_note}
{imports}from mmengine.config import read_base

from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.utils.postprocess.model_postprocessors import extract_non_reasoning_content

with read_base():
    from ais_bench.benchmark.configs.datasets.gsm8k.gsm8k_gen_4_shot_cot_chat_prompt import gsm8k_datasets
    from ais_bench.benchmark.configs.summarizers.example import summarizer

datasets = [*gsm8k_datasets]

models = [
    dict(
        attr="service",
        type=VLLMCustomAPIChat,
        abbr={abbr},
        path={path},
        model={model},
        stream=False,
        request_rate=0,
        use_timestamp=False,
        retry=2,
        api_key={key},
        host_ip={host},
        host_port={port},
        url="",
        max_out_len={max_tokens},
        batch_size={concurrency},
        trust_remote_code=False,
        generation_kwargs=dict({generation}),
        pred_postprocessor=dict(type=extract_non_reasoning_content),
    )
]
"""
NO_KEY: Final = "# The endpoint has no key."
KEY: Final = f"# The key is read from {KEY_VARIABLE}; AISBench copies it into the configuration beside its results."


def render_aisbench(spec: Spec) -> Mapping[str, Rendered]:
    protocol = protocols()["chat"]
    keyed = spec.endpoint.keyed
    text = TEXT.format(
        name=_comment(spec.served_name),
        file=FILE,
        key_note=KEY if keyed else NO_KEY,
        imports="import os\n\n" if keyed else "",
        abbr=_text(spec.served_name),
        # AISBench refuses a path that is not on its machine; without one it asks no tokenizer.
        path=_text(spec.model if spec.model.startswith("/") else ""),
        model=_text(spec.served_name),
        key=f"os.environ.get({KEY_VARIABLE!r}, '')" if keyed else '""',
        host=_text("127.0.0.1"),
        port=spec.endpoint.port,
        max_tokens=protocol.max_tokens,
        concurrency=protocol.concurrency,
        generation=_generation(protocol),
    )
    return {FILE: Rendered(text)}


def _generation(protocol: Protocol) -> str:
    sampling = {name: value for name, value in protocol.gen_kwargs.items() if name != "max_gen_toks"}
    return ", ".join(f"{name}={value!r}" for name, value in sampling.items())


def _text(value: str) -> str:
    """A literal of Python, in ASCII: nothing in it ends the text or hides."""
    return ascii(value)


def _comment(value: str) -> str:
    """A name for a comment, on one line."""
    return ascii(value)[1:-1]
