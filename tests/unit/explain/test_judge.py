"""What the judge makes of single command lines: what they are about, what is said of them, where."""

from __future__ import annotations

import pytest

from moonpad.explain.mended_lines import mended
from moonpad.explain.results import Edit, Judged
from moonpad.values.errors import UsageError
from moonpad.values.plan import Layout
from tests.unit.explain.judging import ask, ask_one, at, refused, summary

K2T = "moonshotai/Kimi-K2-Thinking"
SERVE = f"vllm serve {K2T} --tensor-parallel-size 8"
PARSERS = "--enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"


def corrected(judged: Judged) -> str:
    return " ".join(judged.corrected[0].argv)


# --- version ---


def test_a_series_is_its_newest_release() -> None:
    assert ask_one(SERVE, version="0.11").version == "0.11.2"
    assert ask_one(SERVE, version="0.11.0").version == "0.11.0"
    assert ask_one("trtllm-serve x --tp_size 8", version="1.2").version == "1.2.1"


def test_an_unknown_version_makes_notes_of_unknown_flags() -> None:
    assert ("error", "unknown-flag", "--not-there") in summary(ask_one(f"{SERVE} --not-there 1", version="0.33.0"))
    assert ("note", "unknown-flag", "--not-there") in summary(ask_one(f"{SERVE} --not-there 1", version="0.99.0"))
    # Between 0.12.0, which has no --attention-backend, and 0.13.0, which has it.
    assert at(ask_one(f"{SERVE} --attention-backend FLASHMLA", version="0.13.0rc1"), "unknown-flag") == []
    assert at(ask_one(f"{SERVE} --attention-backend FLASHMLA", version="0.12.0"), "unknown-flag") == [
        "--attention-backend"
    ]


@pytest.mark.parametrize(
    ("version", "notes"),
    [
        ("0.33.0", []),
        ("0.33.0+kimi", []),
        ("0.20.0rc1", ["is not a release that moonpad knows: judged by 0.19.1, the nearest known release"]),
        ("99.0", ["is newer than every release that moonpad knows: judged by 0.33.0, the nearest known release"]),
        ("latest", ["is not a version number: judged by 0.33.0, the nearest known release"]),
    ],
)
def test_an_unknown_version_is_judged_by_the_nearest(version: str, notes: list[str]) -> None:
    findings = [remark.finding for remark in ask_one(SERVE, version=version).remarks]
    messages = [finding.message for finding in findings if finding.code == "unknown-version"]
    assert messages == [f"vllm {version} {note}" for note in notes]


def test_a_text_that_is_not_a_version_is_refused() -> None:
    with pytest.raises(UsageError, match="is not an engine version"):
        ask_one(SERVE, version="newest; rm -rf /")


# --- model ---


@pytest.mark.parametrize(
    ("heading", "written", "expected"),
    [
        ("", K2T, K2T),
        ("", "/data/models/Kimi-K2-Thinking", K2T),
        ("Kimi-K2-Thinking on our machines", "/models/snapshot", K2T),
        ("Kimi K2 Thinking", "$MODEL_PATH", K2T),
        ("Running Kimi-K2 with FP8", "<YOUR_MODEL_DIR>", "moonshotai/Kimi-K2-Instruct"),
        ("Kimi-K2.5", "./weights", "moonshotai/Kimi-K2.5"),
    ],
)
def test_a_folder_is_the_model_that_the_heading_names(heading: str, written: str, expected: str) -> None:
    text = f"# {heading}\n\n```bash\nvllm serve {written} --tensor-parallel-size 8\n```\n"
    judged = ask_one(text)
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == expected


def test_another_model_is_not_taken_for_kimi() -> None:
    judged = ask_one("# Kimi-K2\n\n```bash\nvllm serve meta-llama/Llama-3.1-8B\n```\n")
    assert judged.checkpoint is None
    assert "meta-llama/Llama-3.1-8B" in judged.unjudged
    assert at(judged, "missing-flag") == []  # no parsers of Kimi's
    for own in ("/models/DeepSeek-V2", "/path/to/Qwen3-30B-A3B", "/weights/dsv3", "./ember-v0.1"):
        assert ask_one(f"# Kimi-K2\n\n```bash\nvllm serve {own}\n```\n").checkpoint is None


def test_a_mistyped_model_is_asked_about() -> None:
    assert "did you mean moonshotai/Kimi-K2-Thinking?" in ask_one("vllm serve moonshotai/Kimi-K2-Thinkin").unjudged
    assert "did you mean" not in ask_one("vllm serve moonshotai/Kimi-VL-A3B-Instruct").unjudged, "another model"


def test_kimi_k3_has_parsers_of_its_own() -> None:
    unfit = ask_one("vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8", "8xH200")
    assert unfit.memory is not None
    assert not unfit.memory.fits  # 1,561 GB
    assert unfit.corrected == ()
    judged = ask_one("vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 16", "2x8xB200")
    assert "--tool-call-parser kimi_k3" in corrected(judged)
    assert "--reasoning-parser kimi_k3" in corrected(judged)


# --- devices ---


@pytest.mark.parametrize(
    ("text", "command", "expected"),
    [
        ("on 8x H200/H20", SERVE, "8xH200"),
        ("with 8xH100, or two machines: 2x8xH800", SERVE, "8xH100"),
        ("a cluster of 16xH800", SERVE, "8xH800"),  # a guide for more: the command uses eight
        ("on H200", f"vllm serve {K2T} --tensor-parallel-size 16", "2x8xH200"),
        ("on H200", f"vllm serve {K2T} --data-parallel-size 8 --data-parallel-size-local 4 -ep", "2x4xH200"),
        ("on H200", f"python -m sglang.launch_server --model {K2T} --tp-size 16 --nnodes 4", "4x4xH200"),
        ("on 8xH200 and on AMD MI300X", f"vllm serve {K2T} --tensor-parallel-size 8", "8xH200"),
        ("# ROCm\n\non 8xH200 or MI300X", SERVE, "8xMI300X"),
        ("on one Atlas 800 A3 (64G x 16)", f"HCCL_BUFFSIZE=1 vllm serve {K2T} --tensor-parallel-size 16", "16xA3"),
    ],
)
def test_devices_are_those_that_the_text_names(text: str, command: str, expected: str) -> None:
    judged = ask_one(f"# Guide\n\n{text}\n\n```bash\n{command}\n```\n", on="")
    assert judged.cluster is not None
    assert judged.cluster.name == expected


def test_what_stands_nearer_above_goes_first() -> None:
    near = f"# G\n\n8xH100\n\n```bash\n{SERVE}\n```\n\n8xH200\n\n```bash\n{SERVE} --seed 1\n```\n\n8xB200\n"
    assert [judged.cluster and judged.cluster.name for judged in ask(near)] == ["8xH100", "8xH200"]


def test_without_devices_flags_alone_are_judged() -> None:
    judged = ask_one(SERVE, on="")
    assert (judged.cluster, judged.memory, judged.fits, judged.confidence) == (None, None, None, None)
    assert "no devices are named" in judged.unjudged
    assert ("warning", "missing-flag", "--reasoning-parser") in summary(judged)


def test_the_devices_that_are_asked_for_decide_which_vllm_it_is() -> None:
    assert ask_one(SERVE, "8xH200").engine == "vllm"
    assert ask_one("vllm serve x", "cpu").engine == "vllm-cpu"
    assert ask_one("python -m sglang.launch_server --model-path x --device cpu", "cpu").engine == "sglang-cpu"
    assert (
        ask_one("SGLANG_USE_CPU_ENGINE=1 python -m sglang.launch_server --model-path x", "cpu").engine == "sglang-cpu"
    )
    assert ask_one("python -m moonpad_sglang_cpu --model-path x --device cpu", "cpu").engine == "sglang-cpu"
    assert ask_one(f"vllm serve {K2T} --tensor-parallel-size 16", "16xA3").engine == "vllm-ascend"


def test_too_few_devices() -> None:
    judged = ask_one(f"vllm serve {K2T} --tensor-parallel-size 16", "8xH200")
    assert judged.memory is None
    assert "16 ranks, and 8xH200 has 8 devices" in judged.unjudged
    assert refused(judged)


def test_whole_copies_of_the_model_share_the_devices() -> None:
    """SGLang's --dp-size without attention DP, which one machine has to hold."""
    nvfp4 = "nvidia/Kimi-K2-Thinking-NVFP4"
    judged = ask_one(f"python -m sglang.launch_server --model {nvfp4} --tp-size 4 --dp-size 2", "8xB300")
    assert judged.layout == Layout(tp=4)
    assert at(judged, "suboptimal") == ["memory"]  # no device is idle


# --- placeholders and lengths ---


def test_an_unknown_size_is_not_taken_for_one() -> None:
    judged = ask_one(f"vllm serve {K2T} --tensor-parallel-size $TP", "8xH200")
    assert judged.memory is None
    assert "--tensor-parallel-size $TP" in judged.unjudged
    assert at(judged, "does-not-fit") == at(judged, "suboptimal") == []


@pytest.mark.parametrize("length", ["auto", "-1", "$LENGTH"])
def test_an_automatic_or_unknown_length_does_not_have_to_fit(length: str) -> None:
    judged = ask_one(
        f"{SERVE} --gpu-memory-utilization 0.95 --max-num-seqs 1 --max-model-len {length}", "8xH100", "0.20.0"
    )
    assert at(judged, "does-not-fit") == []
    assert judged.memory is not None
    assert judged.memory.context < 262144


def test_the_model_s_own_length_has_to_fit_into_vllm_and_not_into_sglang() -> None:
    vllm = ask_one("vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8", "8xH200")
    assert at(vllm, "does-not-fit") == ["--max-model-len"]
    server = "python -m sglang.launch_server --model moonshotai/Kimi-K2-Instruct --tp-size 8 --mem-fraction-static 0.92"
    assert at(ask_one(server, "8xH200"), "does-not-fit") == []
    assert at(ask_one(f"{server} --context-length 131072", "8xH200"), "does-not-fit") == ["--context-length"]


# --- lists of flags ---


def test_flags_alone_are_for_all_devices() -> None:
    judged = ask_one("--max-num-seqs 16 --gpu-memory-utilization 0.9", "8xH200", model=K2T)
    assert judged.layout == Layout(tp=8)
    assert corrected(judged).startswith(f"vllm serve {K2T} --max-num-seqs 16")
    assert "--tensor-parallel-size 8" in corrected(judged)
    # A command says what it uses, and nothing is guessed of it.
    assert ask_one(f"vllm serve {K2T}", "8xH200").layout == Layout()


def test_flags_below_a_command_have_its_layout() -> None:
    text = (
        f"# G\n\n```bash\n{SERVE} -dcp 8\n```\n\nFor less:\n\n```bash\n--max-num-seqs 16\n--max-model-len 4096\n```\n"
    )
    _, judged = ask(text, "8xH200")
    assert judged.layout == Layout(tp=8, dcp=8)


# --- what a Kimi endpoint needs ---


def test_parsers() -> None:
    assert [row for row in summary(ask_one(SERVE)) if row[1] == "missing-flag"] == [
        ("note", "missing-flag", "--tool-call-parser"),
        ("note", "missing-flag", "--trust-remote-code"),
        ("warning", "missing-flag", "--reasoning-parser"),
    ]
    trusting = f"{SERVE} --trust-remote-code"
    assert at(ask_one(f"{trusting} {PARSERS}"), "missing-flag") == []
    assert at(ask_one(f"{trusting} --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"), "missing-flag") == [
        "--enable-auto-tool-choice"
    ]
    # K2-Instruct does not think aloud.
    instruct = ask_one("vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16", "2x8xH200")
    assert "--reasoning-parser" not in at(instruct, "missing-flag")


def test_a_parser_that_does_not_exist() -> None:
    judged = ask_one(f"{SERVE} --enable-auto-tool-choice --tool-call-parser kimi --reasoning-parser kimi_k2")
    assert at(judged, "invalid-value") == ["--tool-call-parser"]
    assert "--tool-call-parser kimi_k2" in corrected(judged)


def test_a_version_before_the_parser_says_since_when() -> None:
    judged = ask_one(SERVE, version="0.10.2")
    (finding,) = [finding for finding in judged.findings if finding.where == "--reasoning-parser"]
    assert "take 0.11.1 or later" in finding.remedy
    assert "--reasoning-parser" not in corrected(judged)


# --- security ---


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (SERVE, ["--host"]),
        (f"{SERVE} --host 127.0.0.1", []),
        (f"{SERVE} --host 0.0.0.0", ["--host"]),
        (f"VLLM_API_KEY=$KEY {SERVE} --host 0.0.0.0", []),
        (f"{SERVE} --api-key sk-1", ["--api-key"]),
        (f"{SERVE} --host 127.0.0.1 --trust-remote-code", ["--trust-remote-code"]),
        (f"{SERVE} --host 127.0.0.1 --trust-remote-code --revision 0123456789abcdef", []),
        (f"python -m sglang.launch_server --model {K2T} --tp-size 8", []),  # SGLang binds the loopback
        (f"docker run --network host img {SERVE}", ["--host"]),
        (f"docker run img {SERVE}", []),
        (f"docker run -p 8000:8000 img {SERVE}", ["-p 8000:8000"]),
        (f"docker run -p 127.0.0.1:8000:8000 img {SERVE}", []),
        (f"docker run --publish=0.0.0.0:80:8000 img {SERVE}", ["-p 0.0.0.0:80:8000"]),
        (f"docker run --privileged=false --cap-add SYS_PTRACE img {SERVE}", []),
        (f"docker run --privileged --cap-add=ALL img {SERVE}", ["--cap-add=ALL", "--privileged"]),
        (f"docker run --mount type=bind,source=/,target=/h img {SERVE}", ["--mount type=bind,source=/,target=/h"]),
        (f"docker run -v /:/host:ro img {SERVE}", ["-v /:/host:ro"]),
        (f"docker run -v /data:/data --device /dev/kfd img {SERVE}", []),
    ],
)
def test_insecure(command: str, expected: list[str]) -> None:
    judged = ask_one(command)
    assert sorted(at(judged, "insecure")) == expected
    assert all(severity == "warning" for severity, code, _ in summary(judged) if code == "insecure")


def test_a_warning_is_no_refusal() -> None:
    assert not refused(ask_one(f"{SERVE} --trust-remote-code"))


# --- how words are read ---


def test_a_dash_of_a_word_processor_is_read_as_meant() -> None:
    judged = ask_one(f"vllm serve {K2T} –tensor-parallel-size 8", "8xH200")
    assert judged.layout == Layout(tp=8)
    assert at(judged, "invalid-value") == ["--tensor-parallel-size"]
    assert "–tensor-parallel-size" in judged.commands[0].argv
    assert "--tensor-parallel-size" in judged.corrected[0].argv


@pytest.mark.parametrize(
    ("written", "code", "right"),
    [
        ("--tensor-parallel-siz 8", "prefix-flag", "--tensor-parallel-size 8"),
        ("--tensor-parallel-siz=8", "prefix-flag", "--tensor-parallel-size=8"),
        ("-tp 8 --max-num-seq 64", "prefix-flag", "--max-num-seqs 64"),
        ("-tp 8 --load-format compressed-tensors", "invalid-value", ""),
        ("-tp=8 --max-model-len=12x", "invalid-value", None),
        ("-tp 8 --enforce-eager=1", "invalid-value", "-tp 8 --enforce-eager --"),
    ],
)
def test_spellings(written: str, code: str, right: str | None) -> None:
    judged = ask_one(f"vllm serve {K2T} {written}", "8xH200", "0.33.0")
    assert code in {finding.code for finding in judged.findings}
    if right is None:
        assert judged.corrected == (), "what was meant is not known"
    else:
        assert right in corrected(judged)
    assert judged.layout == Layout(tp=8)


def test_the_model_goes_behind_serve() -> None:
    judged = ask_one(f"vllm serve --tensor-parallel-size 8 --model {K2T}")
    assert at(judged, "renamed-flag") == ["--model"]
    assert judged.corrected[0].argv[:3] == ("vllm", "serve", K2T)
    assert "--model" not in judged.corrected[0].argv
    module = ask_one(f"python -m vllm.entrypoints.openai.api_server --model {K2T} -tp 8")
    assert at(module, "renamed-flag") == []  # there it is the only way


def test_what_the_parser_refuses_is_said_once() -> None:
    judged = ask_one(f"python -m sglang.launch_server --model {K2T} --tp-size 8 --kv-cache-dtype fp8")
    assert at(judged, "invalid-value") == ["--kv-cache-dtype"]


def test_commands_that_start_no_engine() -> None:
    assert ask("ls -la\npip install vllm\ncurl http://localhost:8000/v1/models\n") == ()
    assert ask("docker run --rm ubuntu ls") == ()
    (router,) = ask(
        "sglang-router launch --pd-disaggregation --prefill http://a:1 --decode http://b:1 --no-such-flag 1"
    )
    assert summary(router) == [("warning", "unknown-flag", "--no-such-flag")]


def test_edits() -> None:
    words = ("--a", "1", "--b", "2", "--c")
    edits = (Edit(2, 2, ("--x", "2")), Edit(2, 2, ()), Edit(0, 0, ("M",)), Edit(5, 0, ("--y",)), Edit(5, 0, ("--y",)))
    assert mended(words, edits) == ("M", "--a", "1", "--x", "2", "--c", "--y")
    assert mended(words, (Edit(4, 1, ()),)) == words[:4]
    assert mended((), (Edit(0, 0, ("--z",)),)) == ("--z",)


def test_options_of_python_in_front_of_the_program() -> None:
    python = " ".join(f"-X option{n}" for n in range(6))
    (judged,) = ask(f"python {python} -m sglang.launch_server --kt-method RAWINT4 --model-path m --tp 8 --bogus 1\n")
    assert judged.engine == "ktransformers"
    places = {remark.finding.where: remark.at for remark in judged.remarks}
    assert (places["--tp"], places["--bogus"]) == (4, 6)
