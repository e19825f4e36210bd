"""What an engine's own start refuses: data/start_refusals.toml."""

from __future__ import annotations

import pytest

from moonpad.catalog.start_refusals import FILES, start_refusals
from moonpad.catalog.toml_rows import rows
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask
from tests.unit.explain.refusals_told import told
from tests.unit.explain.test_start_refusal_samples import SAMPLES
from tests.unit.explain.test_start_refusals_of_ascend import ON_ASCEND
from tests.unit.explain.test_start_refusals_of_ascend import SAMPLES as OF_PLUGIN
from tests.unit.explain.test_start_refusals_of_drafts import ROWS
from tests.unit.explain.test_start_refusals_of_sources import SOURCES

R1 = "vllm serve deepseek-ai/DeepSeek-R1"
ASCEND = "export IMAGE=quay.io/ascend/vllm-ascend:v{}\n"
V31 = "vllm serve /w/DeepSeek-V3.1-w8a8 --quantization ascend"
NIXL = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
REDUNDANT = """--eplb-config '{"num_redundant_experts":32}'"""
FLASHCOMM2 = "VLLM_ASCEND_FLASHCOMM2_PARALLEL_SIZE"
EP = "--enable-expert-parallel"

ON_VLLM = [
    ("balancer-without-ep", "0.20.0", f"{R1} -tp 8 --enable-eplb", f"{R1} -tp 8 --enable-eplb {EP}"),
    (
        "redundant-without-balancer",
        "0.20.0",
        f"{R1} -tp 8 {EP} {REDUNDANT}",
        f"{R1} -tp 8 {EP} --enable-eplb {REDUNDANT}",
    ),
    ("local-ranks", "0.20.0", f"{R1} -dp 4 --data-parallel-size-local 8", f"{R1} -dp 8 --data-parallel-size-local 8"),
    ("external-of-one", "0.20.0", f"{R1} -tp 8 --data-parallel-rank 0", f"{R1} -tp 8 -dp 2 --data-parallel-rank 0"),
    (
        "external-without-rank",
        "0.20.0",
        f"{R1} -tp 8 -dp 2 --data-parallel-external-lb",
        f"{R1} -tp 8 -dp 2 --data-parallel-external-lb --data-parallel-rank 0",
    ),
    (
        "hybrid-without-local",
        "0.20.0",
        f"{R1} -tp 8 -dp 2 --data-parallel-hybrid-lb",
        f"{R1} -tp 8 -dp 2 --data-parallel-hybrid-lb --data-parallel-size-local 1",
    ),
    (
        "hybrid-headless",
        "0.20.0",
        f"{R1} -tp 8 -dp 2 --data-parallel-hybrid-lb --data-parallel-size-local 1 --headless",
        f"{R1} -tp 8 -dp 2 --data-parallel-size-local 1 --headless",
    ),
    (
        "hybrid-and-external",
        "0.20.0",
        f"{R1} -tp 8 -dp 2 --data-parallel-hybrid-lb --data-parallel-external-lb",
        f"{R1} -tp 8 -dp 2 --data-parallel-external-lb",
    ),
    (
        "headless-api-servers",
        "0.20.0",
        f"{R1} -tp 8 -dp 2 --headless --api-server-count 4",
        f"{R1} -tp 8 -dp 2 --api-server-count 4",
    ),
    (
        "headless-one-api-server",
        "0.20.0",
        f"{R1} -tp 8 -dp 2 --headless --api-server-count 1",
        f"{R1} -tp 8 -dp 2 --api-server-count 1",
    ),
    (
        "processor-without-colon",
        "0.20.0",
        f"{R1} -tp 8 --logits-processors package.module.Processor",
        f"{R1} -tp 8 --logits-processors package.module:Processor",
    ),
    (
        "rank-with-local",
        "0.20.0",
        f"{R1} -tp 4 -dp 4 --data-parallel-rank 1 --data-parallel-size-local 2",
        f"{R1} -tp 4 -dp 4 --data-parallel-rank 1 --data-parallel-size-local 1",
    ),
    ("rank-beyond", "0.20.0", f"{R1} -tp 8 -dp 2 --data-parallel-rank 2", f"{R1} -tp 8 -dp 2 --data-parallel-rank 1"),
    (
        "nodes-by-ray",
        "0.20.0",
        f"{R1} -tp 16 --nnodes 2 --node-rank 0 --distributed-executor-backend ray",
        f"{R1} -tp 16 --nnodes 2 --node-rank 0 --distributed-executor-backend mp",
    ),
    (
        "nodes-by-ray-ranks",
        "0.28.0",
        f"{R1} -tp 8 -dp 2 --nnodes 2 --node-rank 0 --data-parallel-backend ray",
        f"{R1} -tp 8 -dp 2 --data-parallel-backend ray",
    ),
    ("node-beyond", "0.28.0", f"{R1} -tp 16 --nnodes 2 --node-rank 2", f"{R1} -tp 16 --nnodes 2 --node-rank 1"),
    (
        "unchunked-step",
        "0.20.0",
        f"{R1} -tp 8 --max-model-len 32768 --max-num-batched-tokens 8192 --no-enable-chunked-prefill",
        f"{R1} -tp 8 --max-model-len 32768 --max-num-batched-tokens 8192",
    ),
    (
        "step-of-sequences",
        "0.20.0",
        f"{R1} -tp 8 --max-num-seqs 512 --max-num-batched-tokens 256",
        f"{R1} -tp 8 --max-num-seqs 256 --max-num-batched-tokens 256",
    ),
    (
        "long-threshold",
        "0.28.0",
        f"{R1} -tp 8 --max-model-len 4096 --long-prefill-token-threshold 8192",
        f"{R1} -tp 8 --max-model-len 8192 --long-prefill-token-threshold 8192",
    ),
    (
        "connector-without-role",
        "0.20.0",
        f"""{R1} -tp 8 --kv-transfer-config '{{"kv_connector":"NixlConnector"}}'""",
        f"{R1} -tp 8 {NIXL}",
    ),
    ("role-name", "0.20.0", f"{R1} -tp 8 {NIXL}".replace("kv_both", "producer"), f"{R1} -tp 8 {NIXL}"),
    (
        "nixl-decode-context",
        "0.30.0",
        f"{R1} -tp 8 --decode-context-parallel-size 4 {NIXL}",
        f"{R1} -tp 8 --decode-context-parallel-size 8 {NIXL}",
    ),
    (
        "nixl-segments",
        "0.22.0",
        f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True {R1} -tp 8 {NIXL}",
        f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True {R1} -tp 8",
    ),
    (
        "capture-sizes-twice",
        "0.20.0",
        f"""{R1} -tp 8 --cudagraph-capture-sizes 1 2 --compilation-config '{{"cudagraph_capture_sizes":[1,2]}}'""",
        f"{R1} -tp 8 --cudagraph-capture-sizes 1 2",
    ),
    (
        "attention-twice",
        "0.20.0",
        f"""{R1} -tp 8 --attention-backend FLASHMLA --attention-config '{{"backend":"FLASHMLA"}}'""",
        f"{R1} -tp 8 --attention-backend FLASHMLA",
    ),
    ("async-stages", "0.14.1", f"{R1} -tp 8 -pp 2 --async-scheduling", f"{R1} -tp 8 --async-scheduling"),
    (
        "async-draft-early",
        "0.11.0",
        f"""{R1} -tp 8 --async-scheduling --speculative-config '{{"method":"mtp","num_speculative_tokens":1}}'""",
        f"{R1} -tp 8 --async-scheduling",
    ),
    (
        "async-draft-kind",
        "0.20.0",
        f"""{R1} -tp 8 --async-scheduling --speculative-config '{{"method":"ngram","num_speculative_tokens":2}}'""",
        f"""{R1} -tp 8 --async-scheduling --speculative-config '{{"method":"mtp","num_speculative_tokens":1}}'""",
    ),
    (
        "async-ray",
        "0.18.0",
        f"{R1} -tp 16 --async-scheduling --distributed-executor-backend ray",
        f"{R1} -tp 16 --async-scheduling",
    ),
    (
        "batches-overlap",
        "0.20.0",
        f"{R1} -dp 8 {EP} --enable-dbo",
        f"{R1} -dp 8 {EP} --enable-dbo --all2all-backend deepep_low_latency",
    ),
    (
        "batches-overlap-backend",
        "0.20.0",
        f"{R1} -dp 8 {EP} --enable-dbo --all2all-backend naive",
        f"{R1} -dp 8 {EP} --all2all-backend naive",
    ),
    (
        "adapters-on-host",
        "0.20.0",
        f"{R1} -tp 8 --enable-lora --max-loras 8 --max-cpu-loras 4",
        f"{R1} -tp 8 --enable-lora --max-loras 4 --max-cpu-loras 4",
    ),
    (
        "tools-without-parser",
        "0.20.0",
        f"{R1} -tp 8 --enable-auto-tool-choice",
        f"{R1} -tp 8 --enable-auto-tool-choice --tool-call-parser deepseek_v3",
    ),
    (
        "outputs-logged",
        "0.20.0",
        f"{R1} -tp 8 --enable-log-outputs",
        f"{R1} -tp 8 --enable-log-outputs --enable-log-requests",
    ),
    (
        "outputs-logged-not-requests",
        "0.15.1",
        f"{R1} -tp 8 --disable-log-requests --enable-log-outputs",
        f"{R1} -tp 8 --enable-log-requests --enable-log-outputs",
    ),
    (
        "draft-ranks",
        "0.20.0",
        f"""{R1} -tp 8 --speculative-config '{{"method":"eagle3","model":"/d/e","draft_tensor_parallel_size":2}}'""",
        f"""{R1} -tp 8 --speculative-config '{{"method":"eagle3","model":"/d/e","draft_tensor_parallel_size":1}}'""",
    ),
    (
        "draft-without-model",
        "0.20.0",
        f"""{R1} -tp 8 --speculative-config '{{"method":"eagle3","num_speculative_tokens":3}}'""",
        f"""{R1} -tp 8 --speculative-config '{{"method":"mtp","num_speculative_tokens":3}}'""",
    ),
    (
        "qwen-35b-shared-blocks",
        "0.22.0",
        "vllm serve Qwen/Qwen3.6-35B-A3B-FP8 -tp 8",
        "vllm serve Qwen/Qwen3.6-35B-A3B-FP8 -tp 4",
    ),
    (
        "v4-pro-shared-blocks",
        "0.20.0",
        f"vllm serve deepseek-ai/DeepSeek-V4-Pro -tp 16 {EP}",
        f"vllm serve deepseek-ai/DeepSeek-V4-Pro -tp 8 {EP}",
    ),
    (
        "experts-of-dense",
        "0.20.0",
        f"vllm serve deepseek-ai/DeepSeek-R1-Distill-Qwen-32B -tp 4 {EP}",
        "vllm serve deepseek-ai/DeepSeek-R1-Distill-Qwen-32B -tp 4",
    ),
    (
        "graphs-without-compilation",
        "0.20.0",
        f"""# 8x H200\n{R1} -tp 8 --compilation-config '{{"mode":0,"cudagraph_mode":"PIECEWISE"}}'""",
        f"""# 8x H200\n{R1} -tp 8 --compilation-config '{{"mode":3,"cudagraph_mode":"PIECEWISE"}}'""",
    ),
    (
        "tokenizer-of-v32",
        "0.12.0",
        "vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8 --tokenizer-mode deepseek_v32",
        "vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8",
    ),
]


@pytest.mark.parametrize(("key", "version", "wrong", "right"), ON_VLLM)
def test_a_refusal_of_vllm(key: str, version: str, wrong: str, right: str) -> None:
    (found,) = told(key, wrong, version)
    assert found.severity is (Severity.WARNING if start_refusals()[key].warns else Severity.ERROR)
    assert not told(key, right, version)


def test_another_machine_has_its_own_number_of_servers() -> None:
    first = f"{R1} -tp 8 -dp 2 --data-parallel-size-local 1 --data-parallel-address 10.0.0.1 --api-server-count 2\n"
    second = f"{R1} -tp 8 -dp 2 --data-parallel-size-local 1 --data-parallel-address 10.0.0.1 --headless"
    second += " --data-parallel-start-rank 1"
    assert not told("headless-api-servers", first + second, "0.20.0")
    assert told("headless-api-servers", f"{first}{second} --api-server-count 1", "0.20.0")


def test_each_row_has_its_sample() -> None:
    with_tests_of_their_own = {key for file in FILES[2:] for key, _ in rows(file, "refusals")}
    sampled = {row[0] for row in (*ON_VLLM, *ON_ASCEND, *ROWS, *SOURCES)} | {key.partition("@")[0] for key in SAMPLES}
    sampled |= set(OF_PLUGIN)
    assert sampled == set(start_refusals()) - with_tests_of_their_own


def test_the_release_matters() -> None:
    assert not told("nodes-by-ray", f"{R1} --nnodes 2 --distributed-executor-backend ray", "0.10.2")
    assert not told("async-stages", f"{R1} -tp 8 -pp 2 --async-scheduling")
    (found,) = told("nixl-segments", f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True {R1} {NIXL}")
    assert found.severity is Severity.WARNING, "the release is not named, and older ones start"


def test_what_is_not_known_meets_nothing() -> None:
    assert not told("tools-without-parser", f'{R1} -tp 8 --enable-auto-tool-choice "$@"', "0.20.0")
    assert not told("step-of-sequences", f"{R1} --max-num-seqs $SEQS --max-num-batched-tokens 256", "0.20.0")
    parts = f"export {FLASHCOMM2}=4\n{V31} --quantization ascend \\\n  ...\n"
    assert not told("ascend-flashcomm2-ranks", ASCEND.format("0.18.0") + parts)
    assert not told("local-ranks", f'{R1} --data-parallel-size-local 2 "$@"', "0.20.0")
    assert not told("role-name", f"""{R1} --kv-transfer-config '{{"kv_role":"'$ROLE'"}}'""", "0.20.0")
    assert not told("batches-overlap", f"{R1} -dp 8 {EP} --enable-dbo", "0.33.0", "8xMI300X")


def test_a_worker_gets_options_of_its_operator() -> None:
    assert not told("hybrid-without-local", "python3 -m dynamo.vllm --model a/b -dp 16 --data-parallel-hybrid-lb")


def test_it_is_mended_where_one_word_is_missing() -> None:
    (judged,) = ask(f"{R1} -tp 8 --enable-eplb --trust-remote-code", "8xH200", "0.20.0")
    assert judged.corrected[0].argv[-1] == "--enable-expert-parallel"


def test_codes_are_codes() -> None:
    assert {Code(row.code) for row in start_refusals().values()} <= {
        Code.CONFLICT,
        Code.ILLEGAL_LAYOUT,
        Code.INVALID_VALUE,
        Code.MISSING_FLAG,
    }
