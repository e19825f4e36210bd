"""What later releases mended in what a command uses: data/mended_*.toml."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import chain

import pytest

from moonpad.catalog.hardware import hardware
from moonpad.catalog.mended_faults import ENGINES as WITH_FAULTS
from moonpad.catalog.mended_faults import MendedFault, mended_faults
from moonpad.catalog.options import option_set, versions
from moonpad.catalog.release_days import release_days
from moonpad.catalog.toml_rows import any_of
from moonpad.engines import ENGINES
from moonpad.explain.checks import command_checks
from moonpad.explain.checks.releases import mended_later
from moonpad.explain.checks.releases.told_faults import kinds_of
from moonpad.values.finding import Code, Finding
from moonpad.values.versions import order
from tests.drawn import some, step_of_the_day
from tests.unit.explain.judging import ask

ROWS = [(engine, row) for engine in WITH_FAULTS for row in mended_faults(engine)]
STARTS = {
    "vllm": "vllm serve {}",
    "vllm-ascend": "vllm serve {}",
    "sglang": "sglang serve --model-path {}",
    "ktransformers": "python -m sglang.launch_server --model {} --kt-weight-path /w",
}
GPT_OSS = "vllm serve openai/gpt-oss-20b"
USUAL = {"vllm-ascend": ("A2", "950DT")}
SPOKEN = {18979: "# ray.get(actor)\n"}
"""What a text says besides its command, by the pull requests of rows that ask for words."""
BELOW = {"<8.9": "A100-80G", "<9.0": "A100-80G", "<10.0": "H200", "<8.0": ""}


def device_of(engine: str, row: MendedFault) -> str:
    """The label of one that the row is about; "" for those that the catalogue does not have."""
    usual = next(each for each in USUAL.get(engine, ("H200",)) if each not in row.other_devices)
    labels = [BELOW[word] if word in BELOW else label_of(word) for word in row.devices] or [usual]
    return next(filter(None, labels), "")


def label_of(word: str) -> str:
    """Of the first device that it names, by platform, capability or label."""
    for each in hardware().values():
        if each.device and word in (each.device.platform, each.device.capability, each.label, each.id, *each.aliases):
            return each.label
    return ""


def told(text: str, on: str, version: str) -> list[Finding]:
    found = chain.from_iterable(judged.findings for judged in ask(text, on, version))
    return [finding for finding in found if finding.code is Code.MENDED_LATER]


def value_of(words: str, least: int, *, takes: bool) -> Iterator[str]:
    if least:
        yield str(least)
    elif words:
        yield shlex.quote(words.partition("|")[0])
    elif takes:
        yield "1"


def sample(engine: str, row: MendedFault, device: str) -> str:
    """A command of which the row is told."""
    part = next((part for group in row.groups for part in group.parts), "")
    name = "-".join((f"any{part}" if part.startswith("-") else f"any-{part}x", *row.formats[:1]))
    known = [option_set(ENGINES[engine].program, release) for release in versions(ENGINES[engine].program)]
    argv = [STARTS[engine].format(f"x/{name}")]
    for term, words, least in (
        *((term, words, 0) for term, words in row.options.items()),
        *((term, "", least) for term, least in row.at_least.items()),
    ):
        flag = any_of(term)[0]
        options = (options.named(flag) for options in known if options is not None)
        takes = any(option is not None and option.takes_value for option in options)
        argv.append("=".join((flag, *value_of(words, least, takes=takes))))
    variables = [f"{any_of(name)[0]}={words.partition('|')[0] or '1'}" for name, words in row.variables.items()]
    variables += ["VLLM_ROCM_USE_AITER=1"] if row.aiter and engine == "vllm" else []
    spoken = next(iter(row.devices), "").replace("<8.0", "7.0")
    said = "" if device else f"# on {spoken}\n" if spoken.startswith("gfx") else f"# of compute capability {spoken}\n"
    return SPOKEN.get(row.pull, "") + said + " ".join([*variables, *argv])


def release_before(engine: str, row: MendedFault) -> str:
    days = release_days()[engine].releases
    had = (release for release in days if order(row.since) <= order(release) < order(row.mended_in))
    return max(had, key=order, default=row.since)


FIRST, STEP = step_of_the_day()


@pytest.mark.parametrize(
    ("engine", "row"), some(ROWS)[FIRST - 1 :: STEP], ids=lambda value: getattr(value, "pull", value)
)
def test_a_fault_is_told_of_the_release_before_and_not_of_the_one_that_mends_it(
    engine: str, row: MendedFault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mended_later, "MOST", len(ROWS))
    monkeypatch.setattr(mended_later, "_is_reported", lambda row, case: False)
    monkeypatch.setattr(mended_later, "idle_options", lambda case: frozenset())
    monkeypatch.setattr(command_checks, "checks_of", lambda *_: (mended_later.mended_later,))
    device = device_of(engine, row)
    text, on, mark = sample(engine, row, device), f"8x{device}" if device else "", f"#{row.pull})"
    assert any(mark in finding.message for finding in told(text, on, release_before(engine, row)))
    assert not any(f"{row.fault}: " in finding.message for finding in told(text, on, row.mended_in))


def test_each_row_says_when_it_is_met() -> None:
    asked = ("models", "options", "at_least", "variables", "devices", "formats")
    assert [pair for pair in ROWS if not any(getattr(pair[1], name) for name in asked)] == []


def test_the_words_of_each_row_are_in_lower_case() -> None:
    of_models = {word for _, row in ROWS for group in row.groups for word in (*group.parts, *group.without)}
    of_values = {word for _, row in ROWS for word in (*row.options.values(), *row.variables.values())}
    others = {word for _, row in ROWS for word in (*row.not_models, *row.formats)}
    assert {word for word in of_models | of_values | others if word != word.casefold()} == set()


def test_the_sentence_of_each_row_is_one_that_reads_on() -> None:
    assert [
        row.pull for _, row in ROWS if len(row.fault) > 260 or row.fault.endswith(".") or "\N{EM DASH}" in row.fault
    ] == []


def test_the_flags_of_each_row_are_flags_of_its_engine() -> None:
    unknown = set()
    for engine in WITH_FAULTS:
        program = ENGINES[engine].program
        recorded = [option_set(program, version) for version in (*versions(program), None)]
        flags = {
            name
            for row in mended_faults(engine)
            for term in (*row.options, *row.at_least, *row.lacks)
            for name in any_of(term)
        }
        unknown |= {(engine, flag) for flag in flags if not any(each and each.named(flag) for each in recorded)}
    assert unknown == set()


MTP = """vllm serve deepseek-ai/DeepSeek-R1 --speculative-config '{"method": "deepseek_mtp"}'"""


def test_it_is_a_note_at_the_option_that_it_is_about() -> None:
    (finding,) = [each for each in told(MTP, "8xH200", "0.9.1") if "20022" in each.message]
    assert (finding.severity, finding.where) == ("note", "--speculative-config")
    assert finding.message.endswith("mended in vLLM 0.9.2 (vllm-project/vllm#20022)")
    assert finding.remedy == "take 0.9.2 or later"


@pytest.mark.parametrize("version", ["0.8.5", "0.9.2"])
def test_it_is_not_told_outside_of_its_range(version: str) -> None:
    assert not [each for each in told(MTP, "8xH200", version) if "20022" in each.message]


def test_where_no_release_is_named_only_what_agrees_in_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mended_later, "MOST", len(ROWS))
    assert [each for each in told(MTP, "8xH200", "") if "20022" in each.message]
    few = [row.fault for row in mended_faults("vllm") if row.particular < 3 and not row.by_name and not row.devices]
    assert not [each for each in told(MTP, "8xH200", "") if any(each.message.startswith(fault) for fault in few)]


def test_where_no_release_is_named_a_few_of_the_newest_are_about_the_model_alone() -> None:
    notes = told("vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct -tp 4", "8xH100", "")
    alone = {row.fault for row in mended_faults("vllm") if row.particular < 3 and row.by_name}
    about = [each for each in notes if each.message.partition(": mended in")[0] in alone]
    of_model = [each.remedy.split()[1] for each in about]
    ends = [row.fault for row in mended_faults("vllm") if "no start" in kinds_of(row.fault)]
    first = [each.remedy.split()[1] for each in about if each.message.partition(": mended in")[0] in ends]
    assert of_model[: len(first)] == first, "what ends a start comes first"
    assert of_model[len(first) :] == sorted(of_model[len(first) :], key=order, reverse=True)
    assert 0 < len(of_model) <= 6
    assert [each for each in notes if "40956" in each.message]


def test_of_devices_that_are_not_known_it_says_which_are_meant() -> None:
    text = "vllm serve RedHatAI/Kimi-K2-Thinking-FP8-Block --tensor-parallel-size 8"
    (finding,) = [each for each in told(text, "", "0.13.0") if "30823" in each.message]
    assert finding.message.startswith("on 10.0, 10.3, if the devices are of these: ")
    assert not [each for each in told(text, "8xH200", "0.13.0") if "30823" in each.message]


def test_a_device_that_is_only_spoken_of_is_the_one_that_a_fault_is_about() -> None:
    (finding,) = [each for each in told(f"Jetson AGX Thor\n\n{GPT_OSS}", "", "0.11.1") if "29339" in each.message]
    assert finding.message.startswith("triton_kernels is picked for MXFP4 experts")
    assert not [each for each in told(f"Tesla V100\n\n{GPT_OSS}", "", "0.11.1") if "29339" in each.message]


def test_where_no_release_is_named_what_was_mended_before_the_model_came_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mended_later, "MOST", len(ROWS))
    parsers = "--enable-auto-tool-choice --tool-call-parser glm47 --reasoning-parser glm45"
    of_new = [each.remedy for each in told(f"vllm serve zai-org/GLM-5.3-Flash -tp 8 {parsers}", "8xH200", "")]
    assert of_new
    assert all(order(remedy.split()[1]) >= order("0.30.0") for remedy in of_new)
    of_old = [each.remedy for each in told(f"vllm serve zai-org/GLM-4.7-FP8 -tp 8 {parsers}", "8xH200", "")]
    assert any(order(remedy.split()[1]) < order("0.30.0") for remedy in of_old)


def test_the_name_of_a_teacher_says_nothing_of_a_distilled_model() -> None:
    distilled = MTP.replace("DeepSeek-R1", "DeepSeek-R1-Distill-Qwen-32B")
    assert not [each for each in told(distilled, "8xH200", "0.9.1") if "20022" in each.message]


def test_a_value_that_only_a_shell_can_fill_in_says_nothing() -> None:
    text = 'vllm serve deepseek-ai/DeepSeek-R1 --speculative-config "$DRAFT"'
    assert not [each for each in told(text, "8xH200", "0.9.1") if "20022" in each.message]


def test_a_change_that_mends_two_faults_is_told_of_the_one_that_no_report_tells() -> None:
    text = "vllm serve zai-org/GLM-4.7-FP8 -tp 8 --tool-call-parser glm47 --reasoning-parser glm45"
    notes = told(f"{text} --enable-auto-tool-choice", "8xH200", "0.22.0")
    assert [each for each in notes if "45915" in each.message]


def test_a_fault_with_several_settings_is_told_once() -> None:
    serve = "vllm serve deepseek-ai/DeepSeek-V4-Flash -tp 4 --tokenizer-mode deepseek_v4 --enable-auto-tool-choice"
    (judged,) = ask(f"{serve} --tool-call-parser deepseek_v4 --kv-cache-dtype fp8", version="0.22.1")
    told = [each.message for each in judged.findings if "counts its added tokens twice" in each.message]
    assert len(told) == 1
