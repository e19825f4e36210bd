"""Options that a script adds in a branch, kinds of devices without a layout, and models that only the text names."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

_SCRIPT = """#!/bin/bash
# Qwen3.5 on 8x H200
EXTRA=()
case "$OFFLOAD" in
    native)
        EXTRA=(
            {words}
        )
        ;;
esac
CMD=(
    vllm serve "$MODEL"
    --tensor-parallel-size "$TP"
    "${{EXTRA[@]}}"
)
"${{CMD[@]}}"
"""
_VALUE = """# DeepSeek-V4-Flash on MI355X
BACKEND=aiter
if [ "$EP" -gt 1 ]; then
    BACKEND={value}
fi
vllm serve "$MODEL" -tp "$TP" \\
    --moe-backend "$BACKEND"
"""


_EITHER = """E=()
if [ -n "${EAGER:-}" ]; then
  E+=(--enforce-eager)
else
  E+=(--compilation-config '{"cudagraph_mode": "FULL"}')
fi
vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 "${E[@]}"
"""
_CASE = """E=()
case "${MODE:-fast}" in
  slow) E+=(--enforce-eager) ;;
  fast)
    E+=(--compilation-config '{"cudagraph_mode": "FULL"}')
    ;;
esac
vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 "${E[@]}"
"""
_BOTH = """E=(--compilation-config '{"cudagraph_mode": "FULL"}')
if [ -n "${EAGER:-}" ]; then
  E+=(--enforce-eager)
fi
vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 "${E[@]}"
"""
_TEXT = """E=""
if [ -n "${EAGER:-}" ]; then
  E="--enforce-eager"
else
  E="--cudagraph-mode=FULL"
fi
vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 $E
"""


def said(text: str) -> str:
    return "\n".join(finding.message for judged in ask(text) for finding in judged.findings)


def test_a_report_of_a_branch_names_its_line() -> None:
    found = said(_SCRIPT.format(words="--disable-hybrid-kv-cache-manager"))
    assert "with EXTRA of line 6: reported for vLLM" in found


@pytest.mark.parametrize("words", ["--max-num-seqs 8", "--seed 10", "# --disable-hybrid-kv-cache-manager"])
def test_other_words_of_a_branch_are_not(words: str) -> None:
    assert "with EXTRA" not in said(_SCRIPT.format(words=words))


def test_an_option_that_is_given_anyway_is_told_once() -> None:
    text = "# Qwen3.5\nvllm serve Qwen/Qwen3.5-4B --disable-hybrid-kv-cache-manager"
    found = said(text).splitlines()
    assert len(found) == len(set(found))
    assert not any(line.startswith("with ") for line in found)


def test_a_value_of_a_branch() -> None:
    assert "with BACKEND=flydsl of line 4: reported for vLLM" in said(_VALUE.format(value="flydsl"))
    assert "with BACKEND" not in said(_VALUE.format(value="triton"))


def test_what_the_text_has_elsewhere_is_not_lacking() -> None:
    text = """# Kimi-K2.7-MXFP4 on MI355X
EP_ARGS=()
if [ "$EP" -gt 1 ]; then
    EP_ARGS=(--enable-expert-parallel)
fi
vllm serve amd/Kimi-K2.7-Code-MXFP4 -tp "$TP" "${EP_ARGS[@]}" $MORE
"""
    assert "with EP_ARGS" in said(text)
    assert "with EP_ARGS" not in said(text.replace("EP_ARGS=()", "EP_ARGS=()\nMORE='--moe-backend aiter'"))


_KIND = (
    "export VLLM_ROCM_USE_AITER=1 VLLM_ROCM_USE_AITER_MLA=0\nvllm serve amd/Kimi-K2.7-Code-MXFP4 --block-size 1 -tp $TP"
)


def test_a_kind_of_device_counts_without_a_layout() -> None:
    assert "no valid attention backend" in said(f"# on MI355X\n{_KIND}")
    assert "no valid attention backend" not in said(_KIND.replace("ROCM_", "X_"))


def test_the_one_model_of_the_text_is_that_of_the_variable() -> None:
    command = "vllm serve $MODEL --moe-backend flydsl"
    assert "DeepSeek-V4-Pro" in said(f"# DeepSeek-V4-Pro by vLLM\n{command}")
    assert "DeepSeek-V4-Pro" not in said(f"# DeepSeek-V4-Pro, or Qwen3-32B\n{command}")
    assert "flydsl is not for" not in said("vllm serve /data/Qwen3 --moe-backend flydsl # DeepSeek-V4-Pro")


@pytest.mark.parametrize(
    ("whole", "added"),
    [
        ("CMD=(vllm serve $MODEL -tp $TP)", "CMD+=(--disable-hybrid-kv-cache-manager)"),
        ("CMD=(\n    vllm serve $MODEL\n    -tp $TP\n)", "CMD+=(--disable-hybrid-kv-cache-manager)"),
        ('CMD="vllm serve $MODEL -tp $TP"', 'CMD+=" --disable-hybrid-kv-cache-manager"'),
    ],
)
def test_what_is_added_below(whole: str, added: str) -> None:
    run = '"${CMD[@]}"' if "(" in whole else "$CMD"
    text = f'# Qwen3.5\n{whole}\nif [ -n "$OFFLOAD" ]; then\n    {added}\nfi\n{run}\n'
    assert "with CMD of line" in said(text)
    assert "with CMD of line" not in said(text.replace("# Qwen3.5", "# Qwen3-32B"))


def test_a_folder_behind_a_variable_has_a_name_of_its_own() -> None:
    assert "flydsl is not for" not in said("# as DeepSeek-V4-Pro\nvllm serve $DIR/tuned --moe-backend flydsl")


_FLAGS = """EXTRA=()
{test}
    EXTRA=({words})
fi
vllm serve Qwen/Qwen3-8B "${{EXTRA[@]}}"
"""
_IF = 'if [ "$LARGE" = 1 ]; then'


@pytest.mark.parametrize("words", ["--swap-space 16", "--no-such-option 5", "--max-num-seqs many"])
def test_words_that_no_command_takes(words: str) -> None:
    assert "with EXTRA of line 3: " in said(_FLAGS.format(test=_IF, words=words))


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (_IF, "--max-num-seqs 8"),
        ("if vllm serve --help | grep -q -- --swap-space; then", "--swap-space 16"),
        ('if [ "$VLLM_VERSION" = 0.11.0 ]; then', "--swap-space 16"),
        (_IF, "--kv-cache-dtype $DTYPE"),
    ],
)
def test_words_that_are_taken_or_asked_for_first(test: str, words: str) -> None:
    assert "with EXTRA" not in said(_FLAGS.format(test=test, words=words))


@pytest.mark.parametrize(
    ("text", "together"), [(_EITHER, False), (_CASE, False), (_BOTH, True), (_TEXT, False)], ids=str
)
def test_options_of_an_if_and_of_its_else_are_never_together(text: str, together: bool) -> None:
    assert ("takes all CUDA graphs away" in said(text)) is together
