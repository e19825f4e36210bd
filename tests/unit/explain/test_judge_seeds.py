"""Every command and script of the five seeds, with what is wrong in it.

What is expected was written by hand from the documents and from what the engines' own parsers and sources say.
"""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB
from tests.unit.explain.judging import NAMES, Row, ask, at, codes, message, refused, seed, summary

TRUST = ("warning", "insecure", "--trust-remote-code")
HOST = ("warning", "insecure", "--host")
RAY = ("error", "missing-flag", "--distributed-executor-backend")
RAY_UNNAMED = ("warning", *RAY[1:])
"""Where no version is named: an older one takes Ray by itself."""
NO_LOG_REQUESTS = ("error", "removed-flag", "--disable-log-requests")
NO_TOOLS = ("note", "missing-flag", "--tool-call-parser")
NO_TRUST = ("note", "missing-flag", "--trust-remote-code")
"""Of a list of flags, which need not be whole, for a release that does not start without it."""
NO_REASONING = ("warning", "missing-flag", "--reasoning-parser")
MODEL = ("note", "missing-flag", "MODEL")
VERSION = ("note", "unknown-version", "engine version")
ROOMIER = ("note", "suboptimal", "memory")
TOO_LARGE = ("note", "does-not-fit", "memory")
"""Of the usual machines, since no devices are named."""
FORMER = ("note", "known-report")
FAST_GPU = ("warning", "dead-env", "SAFETENSORS_FAST_GPU")
ROCM_CONTAINER = [
    ("warning", "insecure", "--cap-add=CAP_SYS_ADMIN"),
    ("warning", "insecure", "--device=/dev/mem"),
    ("warning", "insecure", "--privileged"),
    ("warning", "insecure", "--security-opt"),
    ("warning", "insecure", "-v /:/work"),
]

# Seed → its deployments and clients in their order, each with all that is found by the newest versions and with the
# devices that the document names. Of a list of options it is not known whether an address is left out, nor of a model
# in a variable whether it is a folder.
PATH_TO = ("note", "invalid-value", "/path/to/K2")
EXPECTED: dict[str, list[list[Row]]] = {
    "seed0.md": [
        [
            ("error", "does-not-fit", "--gpu-memory-utilization"),
            ("error", "invalid-value", "--load-format"),
            NO_TOOLS,
            NO_TRUST,
            MODEL,
            VERSION,
            NO_REASONING,
        ],
        [
            ("note", "missing-flag", "--tensor-parallel-size"),
            NO_TOOLS,
            NO_TRUST,
            MODEL,
            VERSION,
            ROOMIER,
            NO_REASONING,
        ],
    ],
    "seed1.md": [
        ROCM_CONTAINER,
        [
            RAY_UNNAMED,
            NO_TOOLS,
            ("warning", "redundant-flag", "--disable-log-requests"),
            ("note", "redundant-flag", "--quantization"),
            HOST,
            TRUST,
        ],
        [("error", "does-not-fit", "--gpu-memory-utilization"), HOST, TRUST, TRUST],
        [FAST_GPU, NO_TOOLS, HOST, TRUST],
        [],
        [],
    ],
    "seed2.md": [
        [
            *(MODEL, NO_TOOLS, NO_REASONING, TRUST, ("note", "unsupported-format", "--quantization"), ROOMIER),
            ("note", "invalid-value", "IMAGE=quay.io/ascend/vllm-ascend:|vll..."),
        ],
        [],
        [],
    ],
    "seed3.md": [
        [HOST, TRUST, ROOMIER],
        [HOST, TRUST, ROOMIER],
        [
            ("warning", "prefix-flag", "--num-prompt"),
            ("warning", "prefix-flag", "--random-input"),
            ("warning", "prefix-flag", "--random-output"),
        ],
        ROCM_CONTAINER,
        [
            FAST_GPU,
            ("warning", "dead-env", "VLLM_USE_TRITON_FLASH_ATTN"),
            ("warning", "dead-env", "VLLM_USE_V1"),
            HOST,
            TRUST,
        ],
        [],
    ],
    "seed4.md": [
        [RAY_UNNAMED, HOST],
        [HOST, TOO_LARGE],
        [("note", "prefix-flag", "--tp"), ("note", "prefix-flag", "--tp")],
        [
            ("error", "invalid-value", "--dist-init-addr"),
            ("warning", "removed-flag", "--enable-deepep-moe"),
            ("note", "renamed-flag", "--enable-dp-attention"),
        ],
        [
            ("note", "suboptimal", "--context-length"),
            ("warning", "prefix-flag", "--cuda-graph-bs"),
            ("warning", "removed-flag", "--enable-deepep-moe"),
            ("note", "renamed-flag", "--enable-dp-attention"),
        ],
        [("warning", "removed-flag", "sglang.srt.disaggregation.launch_lb")],
        [
            ("warning", "removed-flag", "ktransformers/server/main.py"),
            NO_TOOLS,
            ("note", "invalid-value", "/path/to/K2"),
        ],
        [
            ("warning", "missing-flag", "--optimize_config_path"),
            ("warning", "removed-flag", "ktransformers/server/main.py"),
            NO_TOOLS,
            PATH_TO,
        ],
        [("warning", "insecure", "--privileged")],
        [("warning", "insecure", "--privileged")],
        [
            ("note", "invalid-value", "/path/to/TensorRT-LLM/extra-llm-api-c..."),
            ("note", "renamed-flag", "--extra_llm_api_options"),
            ("note", "renamed-flag", "extra-llm-api-config.yml: cuda_graph_config.padding_enabled"),
            VERSION,
            TOO_LARGE,
            ("warning", "insecure", "--allow-run-as-root"),
            ("warning", "insecure", "--trust_remote_code"),
        ],
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_wrong_in_each_command(name: str) -> None:
    """Notes about what earlier releases had are left out: the seeds name no release."""
    found = [[row for row in summary(judged) if row[:2] != FORMER] for judged in ask(seed(name))]
    assert found == [sorted(expected) for expected in EXPECTED[name]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", ["", "0.33.0", "0.20.0", "0.11.1"])
def test_no_flag_of_a_seed_is_unknown_to_its_version(name: str, version: str) -> None:
    """vLLM kept all of them but --disable-log-requests, which is removed and not unknown. Not asked of other engines:
    the version is vLLM's."""
    for judged in ask(seed(name), version=version):
        if not version or judged.engine == "vllm":
            assert at(judged, "unknown-flag") == []


def deployments(name: str, on: str = "", version: str = "") -> list[Judged]:
    return [judged for judged in ask(seed(name), on, version) if judged.layout is not None]


# --- seed 0: 8×H100 ---


def test_version_model_and_devices_of_seed_0_are_those_that_its_text_names() -> None:
    listed, working = deployments("seed0.md")
    for judged in (listed, working):
        assert judged.engine == "vllm"
        assert judged.version.startswith("0.11.1rc6")
        assert judged.checkpoint is not None
        assert judged.checkpoint.name == "moonshotai/Kimi-K2-Thinking"
        assert judged.cluster is not None
        assert judged.cluster.name == "8xH100"
        assert judged.layout == Layout(tp=8)  # the second list says nothing of it: that of the first holds


def test_the_list_with_262144_tokens_is_refused() -> None:
    listed, _ = deployments("seed0.md")
    assert listed.fits is False
    assert refused(listed)
    assert listed.memory is not None
    assert listed.memory.context == 262144
    # 262,144 tokens × 70,272 bytes a token, on each device.
    assert listed.memory.kv_bytes.high / GIB < 262144 * 70272 / GIB


def test_the_working_configuration_is_accepted_as_measured() -> None:
    _, working = deployments("seed0.md")
    assert working.settings == Settings(
        max_model_len=12288,
        max_num_seqs=1,
        max_num_batched_tokens=4096,
        gpu_memory_utilization=0.95,
        enforce_eager=True,
    )
    assert (working.fits, working.confidence, refused(working)) == (True, "measured", False)


@pytest.mark.parametrize("version", ["0.11.1rc6", "0.11.1rc6.dev211+g934a9c3b7"])
def test_32k_tokens_are_refused_with_the_numbers_and_the_way_out(version: str) -> None:
    (judged,) = ask(seed("seed0-32k.sh"), "8xH100", version)
    assert (judged.fits, judged.confidence) == (False, "measured")
    assert at(judged, "does-not-fit") == ["--max-model-len"]
    text = message(judged, "does-not-fit")
    assert "32,768 tokens need 2.14 GiB" in text  # 32768 × 70272 / 2**30 = 2.1445
    assert "0.86 GiB is left" in text  # as the document has it from the log
    first = judged.better[0]
    assert "--decode-context-parallel-size 8" in " ".join(first.lines[0].argv)
    assert "× 8" in first.why
    assert "estimated, not measured" in first.why
    assert first.memory.fits
    assert first.memory.kv_tokens.value == 8 * 13120  # 0.86 GiB / 70,272 bytes = 13,140 tokens: 820 blocks of 16


def test_the_script_of_seed_0_is_judged_as_its_list() -> None:
    (judged,) = ask(seed("seed0-launch.sh"), "8xH100", "0.11.1")
    assert judged.fits is False
    assert judged.layout == Layout(tp=8)
    assert {"invalid-value", "dead-env", "does-not-fit"} <= codes([judged])
    # A variable with a default is read as the default.
    assert judged.settings is not None
    assert judged.settings.max_model_len == 262144


# --- seed 1: 16×H800 ---


def test_dp16_ep16_on_h800_is_refused_with_the_numbers() -> None:
    judged = deployments("seed1.md")[1]
    assert judged.layout == Layout(dp=16, ep=16)
    assert judged.cluster is not None
    assert judged.cluster.name == "2x8xH800"
    text = message(judged, "does-not-fit")
    assert "73.29 GiB" in text
    assert "67.30 GiB, 0.85 of 79.18 GiB" in text  # 0.85 × 79.18
    assert "TP8 PP2" in text  # the same guide's other layout is the way out
    assert not judged.better


def test_the_same_command_fits_on_h200() -> None:
    judged = deployments("seed4.md", "2x8xH200")[1]
    assert judged.layout == Layout(dp=16, ep=16)
    assert judged.fits is True
    assert judged.memory is not None
    assert judged.memory.weights_bytes / GIB == pytest.approx(73.29, abs=0.01)
    assert len(judged.sources) == 2  # both nodes are judged together


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.11.0", [("error", "illegal-layout", "--kv-cache-dtype")]),  # chooses Ray itself
        ("0.20.0", [("error", "illegal-layout", "--kv-cache-dtype"), RAY, NO_LOG_REQUESTS]),
        ("0.32.0", [RAY, NO_LOG_REQUESTS]),
        ("0.33.0", [RAY]),
    ],
)
def test_tp8_pp2_by_version(version: str, expected: list[Row]) -> None:
    judged = deployments("seed1.md", version=version)[0]
    assert judged.layout == Layout(tp=8, pp=2, dcp=8)
    assert [row for row in summary(judged) if row[0] == "error"] == sorted(expected)
    assert judged.fits is True  # what it would hold is said all the same


def test_of_rocm_without_a_device_nothing_is_guessed() -> None:
    """The document counts H800 and H200 elsewhere."""
    judged = deployments("seed1.md")[2]
    assert judged.cluster is None
    assert judged.fits is None
    assert "ROCm" in judged.unjudged
    assert deployments("seed1.md", "8xMI300X")[2].fits is True


# --- seed 2: one Atlas 800 A3 ---


def test_ascend() -> None:
    (judged,) = deployments("seed2.md")
    assert (judged.engine, judged.version) == ("vllm-ascend", "0.20.2rc1")
    assert judged.layout == Layout(tp=16, ep=16)
    assert judged.cluster is not None
    assert judged.cluster.name == "16xA3"
    assert judged.fits is True
    assert "--decode-context-parallel-size 16" in " ".join(judged.better[0].lines[0].argv)
    assert judged.better[0].lines[0].env["HCCL_BUFFSIZE"] == "1024"


# --- seed 3: 8×H200 ---


@pytest.mark.parametrize("version", ["", "0.11", "0.11.1", "0.11.1rc6", "0.20.0", "0.32.0"])
def test_the_two_commands_of_seed_3_are_clean(version: str) -> None:
    for judged in deployments("seed3.md", version=version)[:2]:
        assert judged.cluster is not None
        assert judged.cluster.name == "8xH200"  # "8x H200/H20": the first one
        worse = [finding for finding in judged.findings if finding.severity is not Severity.NOTE]
        # A candidate still has vllm-project/vllm#28526, which the release itself mends.
        reported = version == "0.11.1rc6" and judged.layout.dcp > 1
        assert {finding.code for finding in worse} == {Code.INSECURE, *([Code.KNOWN_REPORT] if reported else [])}
        assert judged.fits is True


@pytest.mark.parametrize("version", ["0.11", "0.11.0", "0.11.1"])
def test_seed_3_holds_what_its_log_says(version: str) -> None:
    """715,072 = 11,173 blocks of 64 tokens; with DCP 8 the log has 8 × 11,174 × 64 = 5,721,088."""
    plain, dcp = deployments("seed3.md", version=version)[:2]
    assert plain.memory is not None
    assert dcp.memory is not None
    assert (plain.memory.kv_tokens.value, dcp.memory.kv_tokens.value) == (715_072, 5_721_088)
    assert (plain.confidence, dcp.confidence) == ("measured", "measured")


def test_kimi_k2_as_a_reasoning_parser_came_after_0_11_0() -> None:
    for judged in deployments("seed3.md", version="0.11.0")[:2]:
        assert [row for row in summary(judged) if row[0] == "error"] == [
            ("error", "invalid-value", "--reasoning-parser")
        ]


# --- seed 4: all engines ---


def test_layouts_of_seed_4() -> None:
    shapes = [(judged.engine, judged.kind, judged.layout) for judged in deployments("seed4.md")]
    assert shapes == [
        ("vllm", "serve", Layout(tp=16)),
        ("vllm", "serve", Layout(dp=16, ep=16)),
        ("sglang", "serve", Layout(tp=16)),
        ("sglang", "prefill", Layout(dp=32, ep=32)),
        ("sglang", "decode", Layout(dp=96, ep=96)),
        ("ktransformers", "serve", Layout()),
        ("ktransformers", "serve", Layout()),
        ("tensorrt-llm", "serve", Layout(dp=16, ep=8)),
    ]


def test_large_scale_prefill_and_decode_are_legal_and_fit() -> None:
    prefill = deployments("seed4.md", "4x8xH200")[3]
    decode = deployments("seed4.md", "12x8xH200")[4]
    for judged in (prefill, decode):
        assert judged.fits is True
        assert at(judged, "illegal-layout") == at(judged, "conflict") == []
        assert judged.memory is not None
    assert decode.settings is not None
    assert decode.settings.redundant_experts == 96
    # 384 + 96 experts over 96 ranks are 5 a rank; 384 over 32 are 12: the decode rank holds 5/12 of the experts.
    experts = [judged.memory.weights["routed_experts"] for judged in (prefill, decode) if judged.memory]  # type: ignore[index]
    assert experts[1] / experts[0] == pytest.approx(5 / 12, rel=1e-6)
    assert decode.memory is not None
    assert decode.memory.context == 2176


def test_what_took_the_place_of_the_load_balancer() -> None:
    judged = ask(seed("seed4.md"))[5]
    assert " ".join(judged.commands[0].argv) == (
        "python -m sglang.srt.disaggregation.launch_lb --prefill http://${PREFILL_NODE0}:30000"
        " --decode http://${DECODE_NODE0}:30000"
    )
    assert " ".join(judged.corrected[0].argv) == (
        "sglang-router launch --pd-disaggregation --prefill http://${PREFILL_NODE0}:30000"
        " --decode http://${DECODE_NODE0}:30000 --port 8000"
    )
    before = ask(seed("seed4.md"), version="0.5.1.post3")[5]
    assert summary(before) == []
    assert before.corrected == before.commands


def test_the_dollar_that_is_too_many() -> None:
    judged = deployments("seed4.md")[3]
    assert "--dist-init-addr $PREFILL_NODE0$:5757" in " ".join(judged.commands[0].argv)
    assert "--dist-init-addr $PREFILL_NODE0:5757" in " ".join(judged.corrected[0].argv)


def test_what_took_the_place_of_ktransformers_main() -> None:
    plain, amx = deployments("seed4.md")[5:7]
    assert " ".join(plain.corrected[0].argv) == (
        "python -m sglang.launch_server --model-path <folder of the original weights> --trust-remote-code"
        " --kt-method LLAMAFILE --kt-num-gpu-experts 0 --kt-weight-path /path/to/K2 --context-length 30000"
        " --kt-cpuinfer <number of physical cores> --host 0.0.0.0 --tool-call-parser kimi_k2"
    )
    assert amx.corrected == plain.corrected  # the rules of the optimisation have no successor
    assert "kt run" in message(plain, "removed-flag")
