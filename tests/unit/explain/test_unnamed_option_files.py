"""A guide shows a file of options without its name, below words that name the option which takes it."""

from __future__ import annotations

from tests.unit.explain.judging import ask

GUIDE = """## About `extra_llm_api_options`

e.g.

```yaml
kv_cache_dtype: fp8
enable_attention_dp: true
```

## Start

```bash
trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8 --extra_llm_api_options /tmp/options.yml
```
"""


def told(text: str) -> list[str]:
    return [
        each.where
        for one in ask(text)
        for each in one.findings
        if "has no key" in each.message or "no key" in each.message
    ]


def test_it_is_the_file_of_the_command() -> None:
    (one,) = ask(GUIDE)
    assert told(GUIDE) == ["options.yml: kv_cache_dtype"]
    assert one.layout is not None
    assert one.layout.dp == 8


def test_of_several_none_is_taken() -> None:
    block = GUIDE[GUIDE.index("```yaml") : GUIDE.index("## Start")]
    assert not told(GUIDE.replace("## Start", f"or `extra_llm_api_options` for others:\n\n{block}## Start"))


def test_a_block_that_names_another_file_is_that_file() -> None:
    assert not told(GUIDE.replace("e.g.", "other.yaml:"))
    assert not told(GUIDE.replace("extra_llm_api_options`", "tuning`"))
