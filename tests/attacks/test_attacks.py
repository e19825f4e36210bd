"""A few attacks of every kind; with -m slow a share of all, and specs, headers and options as Hypothesis draws them."""

from __future__ import annotations

import os
import subprocess
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.attacks import hostile_checkpoints as checkpoints
from tests.attacks.__main__ import outcome_of
from tests.attacks.attack import ANY, GOOD_SCRIPT, Attack
from tests.attacks.corpus import SPEC_VERBS, attacks
from tests.attacks.hostile_files import holding
from tests.attacks.hostile_specs import HEAD, ON
from tests.attacks.option_attacks import OPTIONS
from tests.attacks.runner import MOST_WALL_S, run_verb

ALL = {attack.name: attack for attack in attacks()}
SAMPLE = (
    "spec-plan-fifo", "spec-up-tty", "spec-plan-one-line", "spec-plan-digits-90000", "spec-plan-long-text",
    "file-explain-fifo", "file-vendor-sparse", "file-vendor-reference-brackets", "file-against-zero",
    "file-sharegpt-fifo", "file-lengths-digits", "file-name-compare-long", "header-show-quotes",
    "index-show-million-files", "index-show-keys", "gguf-show-array-strings", "out-name-junit-empty", "out-record-full",
    "run-compare-requests.jsonl-newlines", "state-status-json-runs/tiny-20260101-000000-abcd/events.jsonl-newlines",
    "state-logs-runs/tiny-20260101-000000-abcd/engine.log-sparse", "option-bench--requests-3", "sweep-0",
    "url-chat--url-18", "env-HOME-longest-verify", "key-fifo", "log-keys", "log-hints", "log-errors-no-device",
)  # fmt: skip
PARTS = 200


@pytest.mark.parametrize("name", SAMPLE)
def test_an_attack_gets_a_sentence(name: str) -> None:
    check(ALL[name])


def test_the_sample_can_fail(tmp_path: Path) -> None:
    """The oracle sees what a user must not see."""
    outcome = run_verb(("--version",), tmp_path)
    assert outcome.problems(frozenset({0})) == []
    assert outcome.problems() == ["exit 0, not one of [2, 3, 5]"]
    assert 10 < outcome.peak_mb < 200


def test_a_pipe_of_the_shell_is_read_and_a_silent_one_is_not_waited_for(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, GOOD_SCRIPT.encode())
    os.close(writer)
    outcome = run_verb(("explain", "--file", f"/dev/fd/{reader}"), tmp_path, pass_fds=(reader,))
    os.close(reader)
    assert (outcome.code, "Kimi-K2-Thinking" in outcome.out) == (0, True), outcome


def test_the_standard_input(tmp_path: Path) -> None:
    with (tmp_path / "s.sh").open("w+") as script:
        script.write(GOOD_SCRIPT)
        script.seek(0)
        outcome = run_verb(("explain", "--file", "-"), tmp_path, stdin=script.fileno())
    assert (outcome.code, "Kimi-K2-Thinking" in outcome.out) == (0, True), outcome


@pytest.mark.slow
def test_a_silent_pipe_is_given_up(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    outcome = run_verb(("explain", "--file", "-"), tmp_path, stdin=reader)
    os.close(reader)
    os.close(writer)
    assert (outcome.code, "after 10 s" in outcome.err) == (2, True), outcome


@pytest.mark.slow
@pytest.mark.drawn
@pytest.mark.parametrize("part", range(PARTS))
def test_all_attacks(part: int) -> None:
    for name, attack in ALL.items():
        if zlib.crc32(name.encode()) % PARTS == part:
            check(attack)


def check(attack: Attack) -> None:
    outcome = outcome_of(attack)
    if outcome.seconds > MOST_WALL_S and outcome.cpu_s < 1:
        outcome = outcome_of(attack)  # it waited, and may have waited for a busy machine
    assert not outcome.problems(attack.codes), (attack.name, outcome.problems(attack.codes), outcome.err[-2000:])


# --- drawn ------------------------------------------------------------------------------------------------------------

DRAWN = settings(max_examples=60, suppress_health_check=list(HealthCheck))
VALUES = st.one_of(
    st.integers(), st.integers(min_value=2**62), st.floats(), st.text(max_size=30),
    st.sampled_from(("[1]", "{a = 1}", "true", "2020-01-01", "'''", '"""', "[[", "0x", "1__0", "+nan", "\\u0000")),
)  # fmt: skip
KEYS = st.sampled_from(
    ("name", "model", "engine", "served_name", "settings.max_model_len", "settings.extra_args", "layout.tp", "hosts",
     "endpoint.port", "endpoint.api_key_file", "hardware.cluster", "launch.start_timeout", "gate.must_pass", "x.y")
)  # fmt: skip


def _written(value: object) -> str:
    return repr(value) if isinstance(value, int | float) else f'"{value}"'


@pytest.mark.slow
@DRAWN
@given(rows=st.lists(st.tuples(KEYS, VALUES, st.booleans()), max_size=8), head=st.booleans())
def test_any_spec(rows: list[tuple[str, object, bool]], head: bool) -> None:
    lines = (f"{key} = {_written(value) if quoted else value}" for key, value, quoted in rows)
    text = (HEAD if head else "") + "\n".join(lines) + ("\n" + ON if head else "")
    data = text.encode("utf-8", "surrogatepass")
    check(Attack("any spec", SPEC_VERBS["plan"], lambda folder: holding(lambda: data)(folder / "F.toml"), ANY - {6}))


@pytest.mark.slow
@DRAWN
@given(
    pieces=st.lists(
        st.sampled_from(
            (b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b'"dtype"', b'"BF16"', b'"shape"', b"-1", b"9")
        )
        | st.binary(max_size=20),
        max_size=30,
    ),
    times=st.integers(1, 200_000),
    length=st.none() | st.integers(0, 2**64 - 1),
)
def test_any_header(pieces: list[bytes], times: int, length: int | None) -> None:
    data = checkpoints.safetensors(b"{" + b"".join(pieces) * times, length=length)[: 40 * checkpoints.MB]
    prepare = checkpoints.with_file(checkpoints.SHARD, lambda: data)
    check(Attack("any header", ("checkpoint", "show", "c"), lambda folder: prepare(folder / "c"), ANY))


@pytest.mark.slow
@DRAWN
@given(words=st.sampled_from(sorted(OPTIONS.values())), value=VALUES)
def test_any_value_of_an_option(words: tuple[str, ...], value: object) -> None:
    text = str(value).replace("\0", "").encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        (Path(name) / "good.sh").write_text(GOOD_SCRIPT)
        (Path(name) / "good.toml").write_text(HEAD + ON)
        outcome = run_verb((*words, text), Path(name), stdin=subprocess.DEVNULL)
    assert not outcome.problems(ANY), (words, text, outcome)
