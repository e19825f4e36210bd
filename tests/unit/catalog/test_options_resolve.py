"""How a flag is read that is not spelt in full. The judge is argparse itself, given the same names."""

from __future__ import annotations

import argparse
import contextlib
import io
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.options import known_environment, programs
from tests.unit.catalog.resolution import options, resolve


@pytest.mark.parametrize(
    ("program", "version", "flag", "how", "name"),
    [
        ("vllm serve", "0.32.0", "--max-num-seqs", "exact", "--max-num-seqs"),
        ("vllm serve", "0.32.0", "--max-num-seqs=4", "exact", "--max-num-seqs"),
        ("vllm serve", "0.32.0", "--max_num_seqs", "underscores", "--max-num-seqs"),
        ("vllm serve", "0.32.0", "--max_num_seqs=4", "underscores", "--max-num-seqs"),
        ("vllm serve", "0.32.0", "--max-num-seq", "prefix", "--max-num-seqs"),
        ("vllm serve", "0.32.0", "--max-num", "ambiguous", ""),
        ("vllm serve", "0.32.0", "--moonshot-speed", "unknown", ""),
        ("vllm serve", "0.32.0", "-dcp", "exact", "--decode-context-parallel-size"),
        ("vllm serve", "0.32.0", "-dc", "exact", "--diffusion-config"),
        ("vllm serve", "0.11.0", "-dc", "prefix", "-dcp"),
        ("vllm serve", "0.32.0", "-O3", "attached", "--optimization-level"),
        ("vllm serve", "0.32.0", "-O", "rewritten", "--optimization-level"),
        ("vllm serve", "0.10.0", "-O3", "attached", "--compilation-config"),
        ("vllm serve", "0.32.0", "-cc.mode=3", "dotted", "--compilation-config"),
        ("vllm serve", "0.32.0", "--kv-transfer-config.kv_role", "dotted", "--kv-transfer-config"),
        ("vllm serve", "0.32.0", "--kv_transfer_config.kv_role", "dotted", "--kv-transfer-config"),
        ("vllm serve", "0.32.0", "--seed.x", "unknown", ""),
        ("vllm serve", "0.32.0", "--gpu-memory-utilization=0.9", "exact", "--gpu-memory-utilization"),
        ("vllm serve", "0.32.0", "-x", "unknown", ""),
        ("vllm serve", "0.32.0", "-", "unknown", ""),
        ("vllm serve", "0.32.0", "--", "unknown", ""),
        ("vllm serve", "0.32.0", "--=3", "unknown", ""),
        ("vllm bench serve", "0.10.0", "--random-input", "prefix", "--random-input-len"),
        ("vllm bench serve", "0.33.0", "--random-output", "prefix", "--random-output-len"),
        ("vllm bench serve", "0.33.0", "--num-prompt", "prefix", "--num-prompts"),
        ("sglang", "0.4.9", "--tp", "prefix", "--tp-size"),
        ("sglang", "0.5.23", "--tp", "prefix", "--tp-size"),
        ("sglang", "0.5.23", "--tp_size", "unknown", ""),
        ("sglang", "0.5.23", "--model", "exact", "--model-path"),
        ("sglang", "0.4.10.post2", "--cuda-graph-bs", "exact", "--cuda-graph-bs"),
        ("sglang", "0.5.23", "--cuda-graph-bs", "ambiguous", ""),
        ("kt run", None, "--tp", "exact", "--tensor-parallel-size"),
        ("kt run", None, "--tensor-parallel", "unknown", ""),
        ("kt run", None, "-p8000", "attached", "--port"),
        ("kt run", None, "--tool-call-parser", "unknown", ""),
        ("trtllm-serve", "1.2.1", "--tp_size", "exact", "--tensor_parallel_size"),
        ("trtllm-serve", "1.2.1", "--tp-size", "unknown", ""),
        ("trtllm-serve", "1.2.1", "--model", "unknown", ""),
        ("ktransformers-legacy", "0.3.2", "--gguf_path", "exact", "--gguf_path"),
        ("ktransformers-legacy", "0.3.2", "--gguf", "prefix", "--gguf_path"),
    ],
)
def test_by_hand(program: str, version: str | None, flag: str, how: str, name: str) -> None:
    resolved = resolve(options(program, version), flag)
    assert (resolved.how, resolved.name) == (how, name)


def test_an_ambiguous_flag_says_between_what() -> None:
    resolved = resolve(options("sglang", "0.5.23"), "--cuda-graph-bs")
    assert resolved.candidates == ("--cuda-graph-bs-decode", "--cuda-graph-bs-prefill")


@cache
def parser_of(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    for option in options(program).options:
        for name in (*option.names, *option.negations):
            parser.add_argument(name, dest=name, action="store_true")
    return parser


def judged(program: str, flag: str) -> tuple[str, str]:
    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr):
            taken, left = parser_of(program).parse_known_args([flag])
    except SystemExit:
        return ("ambiguous", "") if "ambiguous" in stderr.getvalue() else ("error", "")
    if left:
        return "unknown", ""
    (name,) = [name for name, given_ in vars(taken).items() if given_]
    return "exact" if name == flag else "prefix", name


@given(program=st.sampled_from(("vllm serve", "vllm bench serve", "sglang", "sglang-router")), data=st.data())
def test_long_names_are_shortened_as_argparse_does(program: str, data: st.DataObject) -> None:
    known_options = options(program)
    name = data.draw(st.sampled_from(sorted(name for name in known_options.by_name if name.startswith("--"))))
    flag = name[: data.draw(st.integers(3, len(name)))] + data.draw(st.sampled_from(("", "", "", "x", "-")))
    match = resolve(known_options, flag)
    how, wanted = judged(program, flag)
    assert match.how == how
    option = known_options.named(wanted) if how == "exact" else None
    assert match.name == (option.name if option else wanted)


@given(program=st.sampled_from(sorted(programs())), flag=st.text(max_size=40), lead=st.sampled_from(("", "-", "--")))
def test_any_text_is_answered(program: str, flag: str, lead: str) -> None:
    resolved = resolve(options(program), lead + flag)
    assert bool(resolved.name) == (resolved.how not in ("ambiguous", "unknown"))


@pytest.mark.parametrize(("version", "read"), [("0.5.23", True), ("0.5.3", True), ("0.5.1", False)])
def test_a_former_beginning_of_variables(version: str, read: bool) -> None:
    """As srt/environ.py of these releases has it: SGL_X is taken for SGLANG_X, where there is one."""
    known = known_environment("sglang", version)
    assert ("SGL_SET_CPU_AFFINITY" in known) is read
    assert "SGL_OF_NOBODY" not in known
