"""An error of one release is none where that release was only guessed, and what mends it holds for each that takes the
text as it stands."""

from __future__ import annotations

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

OF_OLD = "--num-scheduler-steps 8 --max-seq-len-to-capture 8192"
FP8 = "vllm serve deepseek-ai/DeepSeek-R1 -tp 8 --max-model-len 16384 --kv-cache-dtype fp8"
GRAPHS = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --cuda-graph-max-bs 256"


def of_cache(text: str, version: str = "") -> Finding:
    (judged,) = ask(text, on="8xMI300X", version=version)
    return next(each for each in judged.findings if "holds such a KV cache" in each.message)


def test_an_error_of_a_guessed_release_is_a_warning_that_names_it() -> None:
    finding = of_cache(f"{FP8} {OF_OLD}")
    assert finding.severity is Severity.WARNING
    assert "this holds with 0.10.0, which is guessed" in finding.message


def test_nothing_is_changed_for_it() -> None:
    (judged,) = ask(f"{FP8} {OF_OLD}", on="8xMI300X")
    assert all(line.argv[line.argv.index("--kv-cache-dtype") + 1] == "fp8" for line in judged.corrected)


def test_of_a_release_that_is_named_it_is_an_error() -> None:
    assert of_cache(FP8, version="0.10.0").severity is Severity.ERROR


def test_what_newer_releases_do_not_take_is_told() -> None:
    (judged,) = ask(f"{FP8} {OF_OLD}", on="8xMI300X")
    assert judged.version_because.endswith("--num-scheduler-steps, which newer ones do not take")


def test_a_name_that_older_releases_lack_is_not_written_where_none_is_named() -> None:
    (judged,) = ask(GRAPHS)
    finding = next(each for each in judged.findings if each.where == "--cuda-graph-max-bs")
    assert finding.severity is Severity.WARNING
    assert "have no such option" in finding.remedy
    assert all("--cuda-graph-max-bs-decode" not in line.argv for line in judged.corrected)


def test_it_is_written_where_the_release_is_named() -> None:
    (judged,) = ask(GRAPHS, version="0.5.23")
    assert "--cuda-graph-max-bs-decode" in judged.corrected[0].argv
