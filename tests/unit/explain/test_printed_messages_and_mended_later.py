"""What a script prints where its start fails is no complaint, and what a build is compiled for is no device."""

import pytest

from tests.unit.explain.judging import ask_one, first_line

LINEAR = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --tensor-parallel-size 4 --trust-remote-code"
FAILS = "Server failed to start. Check vllm_server.log"


@pytest.mark.parametrize(
    "printed", ['echo "{}"', "wait || echo '{}'", "printf '{}\\n'", 'if ! wait; then echo "{}"; fi']
)
def test_a_message_of_the_script_is_no_complaint(printed: str) -> None:
    assert first_line(f"{LINEAR} >log 2>&1 &\n{printed.format(FAILS)}\n").startswith("No error")


@pytest.mark.parametrize(
    "printed",
    [
        'die_with() {{ exit 1; }}\nwait || die_with "{}"',
        'log_fatal "{}"',
        'wait || {{ echo >&2 "{}"; exit 1; }}',
        'why="{}"\nwait || exit_with "$why"',
        "cat <<EOF\n{}\nEOF",
        'echo "Giving up:\n{}"',
        'logger.error("{}")',
        'raise RuntimeError("{}")',
    ],
)
def test_other_ways_to_print_it_are_none_either(printed: str) -> None:
    assert first_line(f"{LINEAR} >log 2>&1 &\n{printed.format(FAILS)}\n").startswith("No error")


@pytest.mark.parametrize(
    "said",
    [
        f'why="{FAILS}"',  # and no command uses it
        f'echo "done"\n{FAILS}',
    ],
)
def test_words_beside_what_is_printed_are_a_complaint(said: str) -> None:
    assert not first_line(f"{LINEAR} >log 2>&1 &\n{said}\n").startswith("No error")


@pytest.mark.parametrize("said", [f"# {FAILS}", f"The {FAILS[0].lower()}{FAILS[1:]}"])
def test_a_sentence_is_one(said: str) -> None:
    assert not first_line(f"{LINEAR} >log 2>&1 &\n{said}\n").startswith("No error")


@pytest.mark.parametrize(
    ("build", "devices"),
    [("PYTORCH_ROCM_ARCH=gfx90a;gfx942;gfx950\n", "4xMI355X"), ("AMDGPU_TARGETS=gfx942,gfx950\n", "4xMI355X")],
)
def test_architectures_of_a_build_are_no_devices(build: str, devices: str) -> None:
    text = f"{build}\nRunning on **gfx950** fails:\n\n```bash\nvllm serve openai/gpt-oss-120b -tp 4\n```\n"
    judged = ask_one(text, "")
    assert judged.cluster is not None
    assert judged.cluster.name == devices
