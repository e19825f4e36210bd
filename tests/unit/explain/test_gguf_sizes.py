"""Sizes of llama.cpp that cut each other, and drafts with other vocabularies, SGLang's among them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, found

BASE = "llama-server -m Qwen3-32B-Q4_K_M.gguf -ngl 99 "
BGE = "llama-server -m bge-m3-Q8_0.gguf --embeddings "


def said(text: str, words: str, version: str = "b6500") -> int:
    return sum(words in finding.message for judged in ask(text, "", version) for finding in judged.findings)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-ub 4096", 1),
        ("-ub 4096 -b 2048", 1),
        ("-ub 4096 -b 4096", 0),
        ("-b 4096 -ub 4096 -c 32768", 0),
        ("-ub 2048", 0),
        ("-ub 512", 0),
        ("-ub $UB", 0),
        ("-ub 4096 -b $B", 0),
        ("-b 512", 0),
    ],
)
def test_a_physical_batch_is_cut(options: str, expected: int) -> None:
    assert said(BASE + options, "physical batch is cut") == expected


def test_the_batch_is_added_in_the_corrected_command() -> None:
    (judged,) = ask(BASE + "-ub 4096", "", "b6500")
    assert "4096" in " ".join(judged.corrected[0].argv).partition("--batch-size")[2]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (BGE + "-c 8192", 1),
        (BGE + "-c 8192 -ub 2048", 1),
        (BGE + "-c 8192 -b 8192 -ub 8192", 0),
        (BGE + "-c 8192 -ub 8192", 1),
        (BGE + "-c 512", 0),
        (BGE + "-c 8192 -ub $UB", 0),
        ("llama-server -m Qwen3-Embedding-8B-Q8_0.gguf --embeddings -c 8192", 0),
        ("llama-server -m bge-m3-Q8_0.gguf -c 8192", 0),
        ("llama-server -hf gpustack/bge-reranker-v2-m3-GGUF --reranking -c 8192", 1),
    ],
)
def test_texts_of_one_batch(command: str, expected: int) -> None:
    assert said(command, "are refused whatever") == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-c 4096 -np 8", 1),
        ("-c 32768 -np 8", 0),
        ("-c 4096 -np 8 --kv-unified", 0),
        ("-c 4096", 0),
        ("-c 4096 -np 1", 0),
        ("-np 8", 0),
        ("-c $C -np 8", 0),
        ("-c 2048 -np 2", 0),
        ("-c 0 -np 8", 0),
    ],
)
def test_the_context_of_a_slot(options: str, expected: int) -> None:
    assert said(BASE + options, "is shared out over") == expected


@pytest.mark.parametrize(("options", "expected"), [("-c 0 --parallel 6", 1), ("-c 0", 0), ("-c 0 -np 6 -kvu", 0)])
def test_the_whole_context_is_shared_out_too_and_is_a_value_like_another(options: str, expected: int) -> None:
    command = f"llama-server -m models/deepseek-v3-q2_k_xs-00001-of-00005.gguf {options}"
    assert said(command, "163,840, shared out over") == expected
    assert said(command, "does not take") == 0


@pytest.mark.parametrize(
    ("target", "draft", "expected"),
    [
        ("Kimi-K2-Instruct-Q4_K_M.gguf", "Qwen3-0.6B-Q8_0.gguf", 1),
        ("/m/DeepSeek-R1-Q4_K_M-00001-of-00009.gguf", "/m/Qwen3-0.6B-Q8_0.gguf", 1),
        ("Qwen3-32B-Q4_K_M.gguf", "Qwen3-0.6B-Q8_0.gguf", 0),
        ("Qwen3-32B-UD-Q4_K_XL.gguf", "Qwen3-1.7B-BF16.gguf", 0),
        ("Qwen2.5-72B-Instruct-Q4_K_M.gguf", "Qwen2.5-0.5B-Instruct-Q8_0.gguf", 0),
        ("Qwen3-32B-Q4_K_M.gguf", "some-draft.gguf", 0),
        ("Qwen3-32B-Q4_K_M.gguf", "$DRAFT", 0),
        ("DeepSeek-R1-Q4_K_M.gguf", "DeepSeek-R1-DRAFT-0.5B-Q8_0.gguf", 0),
    ],
)
def test_the_vocabulary_of_a_draft(target: str, draft: str, expected: int) -> None:
    assert said(f"llama-server -m {target} -md {draft} -ngl 99", "so builds refuse the draft") == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-c 131072", 1),
        ("-c 40960", 0),
        ("-c 131072 -np 4", 0),
        ("-c 131072 -np 2", 1),
        ("-c 131072 -np 4 --kv-unified", 1),
        ("-c 131072 --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768", 0),
        ("-c $C", 0),
        ("-c 131072 -np $N", 0),
        ("", 0),
    ],
)
def test_the_context_of_training(options: str, expected: int) -> None:
    assert said(BASE + options, "40,960 positions") == expected


def test_a_longer_version_is_another_model() -> None:
    assert not said("llama-server -m Qwen3-32B-128K-Q4_K_M.gguf -c 131072", "positions")


STANDALONE = "sglang serve --model-path {} --tp-size 8 --speculative-algorithm {} --speculative-draft-model-path {}"


@pytest.mark.parametrize(
    ("target", "algorithm", "draft", "expected"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", "STANDALONE", "Qwen/Qwen3-0.6B", 1),
        ("Qwen/Qwen3-32B", "STANDALONE", "Qwen/Qwen3-0.6B", 0),
        ("Qwen/Qwen2.5-72B-Instruct", "STANDALONE", "Qwen/Qwen2.5-0.5B-Instruct", 0),
        ("meta-llama/Llama-3.3-70B-Instruct", "EAGLE3", "a/Qwen3-0.6B", 1),
        ("meta-llama/Llama-3.3-70B-Instruct", "STANDALONE", "$DRAFT", 0),
    ],
)
def test_the_draft_of_another_family(target: str, algorithm: str, draft: str, expected: int) -> None:
    assert said(STANDALONE.format(target, algorithm, draft), "hardly a guess is right", "0.5.9") == expected


@pytest.mark.parametrize(
    "recipe",
    [
        "llama-server -hf ggml-org/gpt-oss-120b-GGUF --ctx-size 0 --jinja -ub 2048 -b 2048",
        "llama-server -m Kimi-K2-Instruct-UD-TQ1_0-00001-of-00005.gguf -ngl 99 -ot exps=CPU -c 16384 -np 1",
        "llama-server -hf ggml-org/Qwen2.5-Coder-7B-Q8_0-GGUF --port 8012 -ngl 99 -fa -ub 1024 -b 1024 ",
    ],
)
def test_recipes_are_quiet(recipe: str) -> None:
    for words in ("physical batch is cut", "are refused whatever", "is shared out over", "so builds refuse the draft"):
        assert not said(recipe, words)


def test_a_file_of_few_bits_is_not_the_checkpoint_that_it_is_called_after() -> None:
    serve = "vllm serve {} --tokenizer /m/tok --tensor-parallel-size 3\n"
    told = [found(serve.format(name), "GiB of weights") for name in ("/m/k3-00001-of-00009.gguf", "moonshotai/Kimi-K3")]
    assert [bool(each) for each in told] == [False, True]


@pytest.mark.parametrize(
    ("options", "told"), [("--load-format gguf", True), ("--quantization gguf", True), ("--load-format auto", False)]
)
def test_options_say_what_a_path_in_a_variable_is(options: str, told: bool) -> None:
    text = f'vllm serve "$TARGET" --tokenizer /m/tok --tensor-parallel-size 3 {options}\n'
    assert bool(found(text, "by a plugin alone")) is told
