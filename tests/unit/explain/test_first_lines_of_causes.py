"""The first line names the cause that the text lets one know, also where no release is named."""

from __future__ import annotations

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --reasoning-parser kimi_k2"
TRACE = 'Traceback (most recent call last):\n  File "/usr/bin/vllm", line 8, in <module>\n    sys.exit(main())\n'


def first(text: str, name: str = "input.txt") -> str:
    return verdict(judged(text, name))[0]


def judged(text: str, name: str = "input.txt") -> Judged:
    return ask(read_files([(name, text)]))[0]


def test_a_model_that_nobody_has_comes_before_what_is_not_known() -> None:
    text = 'vllm serve moonshotai/Kimi-K2-Thinking-Instruct --tensor-parallel-size 8 "$@"\n'
    assert first(text, "start.sh").startswith("Will likely fail: moonshotai/Kimi-K2-Thinking-Instruct")


def test_weights_that_no_device_holds_come_before_what_is_not_known() -> None:
    text = "python3 start_api.py --model-path moonshotai/Kimi-K2-Instruct --tensor-parallel-size 1\n"
    assert first(text, "start.sh").startswith("May not fit: --tp-size: unless the program")


def test_code_of_the_model_that_is_not_allowed_explains_a_traceback() -> None:
    one = judged(f"{SERVE}\n\n{TRACE}")
    assert verdict(one)[0].startswith("--trust-remote-code is missing: moonshotai/Kimi-K2.5 brings a tokenizer")
    assert "--trust-remote-code" in one.corrected[0].argv
    plain = judged(f"{SERVE}\n")
    assert verdict(plain)[0].startswith("No error")


def test_a_release_that_the_text_still_allows_needs_the_code_of_the_model() -> None:
    one = judged(f'pip install "vllm>=0.12"\n{SERVE}\n', "start.sh")
    assert "--trust-remote-code" in one.corrected[0].argv
    assert not any(
        "--trust-remote-code" in line.argv for line in judged(f'pip install "vllm>=0.30"\n{SERVE}\n').corrected
    )


def test_a_complaint_in_plain_words_brings_up_faults_of_its_kind() -> None:
    serve = (
        "sglang serve --model-path moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --data-parallel-size 8"
        " --enable-dp-attention --expert-parallel-size 8 --trust-remote-code\n"
    )
    one = judged(f"Our eight B300 serve Kimi K2.6 and all it writes is gibberish\n\n{serve}")
    told = [remark.finding.message for remark in one.remarks if remark.as_told]
    assert any("summed twice" in message for message in told)
    assert verdict(one)[0].startswith("Perhaps a fault of an older release")
    assert not any(remark.as_told for remark in judged(f"Our eight B300 serve Kimi K2.6 very well\n\n{serve}").remarks)


def test_a_complaint_of_another_kind_brings_up_others() -> None:
    serve = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --tensor-parallel-size 4 --trust-remote-code\n"
    told = {
        kind: {
            remark.finding.message
            for remark in judged(f"After some requests it {kind}\n{serve}").remarks
            if remark.as_told
        }
        for kind in ("crashes", "writes garbage")
    }
    assert any("crash while Kimi-Linear serves" in message for message in told["crashes"])
    assert not told["crashes"] & told["writes garbage"]


def test_sharing_the_cache_among_ranks_is_not_advised_on_amd_devices() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --max-num-seqs 128\n"

    def advised(on: str) -> bool:
        return any("decode context" in better.why for better in ask_one(text, on=on).better)

    assert advised("8xH200")
    assert not advised("8xMI325X")


TRITON = (
    "4x RTX PRO 6000 Blackwell\n\npython -m sglang.launch_server --model /models/Kimi-K2-Thinking --kt-method AMXINT4"
    " --kt-weight-path /models/amx --kt-cpuinfer 48 --kt-num-gpu-experts 100 --attention-backend triton --tp 4"
    " --trust-remote-code\n\n"
)


def out_of(need: int, have: int) -> str:
    error = "triton.runtime.errors.OutOfResources: out of resource: shared memory"
    return f"{error}, Required: {need}, Hardware limit: {have}.\n"


def test_a_report_with_the_figures_of_the_error_is_its_cause() -> None:
    one = judged(TRITON + out_of(106496, 101376))
    told = [remark for remark in one.remarks if "heads of 576" in remark.finding.message]
    assert [remark.complained for remark in told] == [True]
    argv = one.corrected[0].argv
    assert argv[argv.index("--attention-backend") + 1] == "flashinfer"


def test_another_error_of_the_same_kind_leaves_nothing_corrected() -> None:
    one = judged(TRITON.replace("--kt-method", "--kt-amx-method") + out_of(90000, 80000))
    assert not any(remark.complained for remark in one.remarks)
    assert not one.corrected


def test_what_a_log_calls_a_warning_is_not_why_it_stopped() -> None:
    serve = (
        "vLLM 0.27.1 on two nodes of 8x B300\n\nvllm serve moonshotai/Kimi-K3 --trust-remote-code -tp 16"
        " --enable-expert-parallel --nnodes 2 --node-rank 0 --master-addr $HEAD\n\n"
    )
    line = "08-13 11:22:00 [flashinfer_all_reduce.py:85] Failed to initialize a workspace: "
    line += "CUDA error code=2(b'CUDA_ERROR_OUT_OF_MEMORY').\n"
    hang = "The process hangs for an hour.\n"
    assert first(f"{serve}{hang}(Worker_TP8 pid=2019) WARNING {line}").startswith("Known fault (--nnodes)")
    assert first(f"{serve}{hang}(Worker_TP8 pid=2019) ERROR {line}").startswith("Stopped (line")
