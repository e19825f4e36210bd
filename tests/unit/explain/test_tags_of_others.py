"""Images of others that are called after a release of the engine: `someone/amd:v0.5.8-rocm720-…`.

The release days are those of https://github.com/sgl-project/sglang/releases: 0.5.8 of January 2026, 0.5.9 and 0.5.10
behind it.
"""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

SGLANG = (
    "python -m sglang.launch_server --model moonshotai/Kimi-K2.5 --tp 8 --attention-backend aiter --trust-remote-code"
    " --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
)
MADE_FOR_IT = "docker pull someone/amdbuilds:v0.5.8-rocm720-mi30x-kimi-k2.5-20260224"
PLAIN = "docker pull someone/amdbuilds:v0.5.8-rocm720-mi30x"


def guide(pull: str, command: str = SGLANG) -> str:
    return f"```bash\n{pull}\n```\n\n```bash\n{command}\n```\n"


@pytest.mark.parametrize("pull", [MADE_FOR_IT, PLAIN])
def test_the_release_is_read_from_the_tag(pull: str) -> None:
    judged = ask_one(guide(pull), "8xMI300X")
    assert judged.version == "0.5.8"
    assert "someone/amdbuilds" in judged.version_because


def test_what_warns_up_to_a_later_release_is_not_proposed() -> None:
    judged = ask_one(guide(MADE_FOR_IT), "8xMI300X")
    assert not [better for better in judged.better if "fp8" in str(better)]


def test_what_its_release_lacks_may_be_in_an_image_that_was_made_for_the_model() -> None:
    judged = ask_one(guide(MADE_FOR_IT), "8xMI300X")
    heads = [each for each in judged.findings if "heads" in each.message and each.where == "--attention-backend"]
    assert [each.severity for each in heads] == [Severity.NOTE]
    assert not any("triton" in word for line in judged.corrected or () for word in line.argv)


@pytest.mark.parametrize(
    "pull",
    [
        "docker pull someone/amdbuilds:v0.5.99-rocm720-mi30x",  # no such release
        "docker pull someone/lmcache-server:0.5.8-cu128",
        "docker pull postgres:0.5.8",
        "docker pull someone/amdbuilds:0.5.8",  # may be its own number
        f"{MADE_FOR_IT}\ndocker pull someone/amdbuilds:v0.5.9-rocm720-mi30x",  # which of the two is not said
    ],
)
def test_other_tags_say_no_release(pull: str) -> None:
    assert ask_one(guide(pull), "8xMI300X").version_because.endswith("the newest")


def test_the_image_that_a_command_runs_in() -> None:
    text = f"docker run --ipc=host --device /dev/kfd --device /dev/dri someone/amd:v0.5.8-rocm720-mi30x {SGLANG}"
    assert ask_one(text, "8xMI300X").version == "0.5.8"


def test_a_release_that_the_text_names_goes_first() -> None:
    assert ask_one(f"SGLang 0.5.10\n\n{guide(MADE_FOR_IT)}", "8xMI300X").version == "0.5.10"


@pytest.mark.parametrize("image", ["our-sglang:0.5.8", "registry.internal/team/sglang_patched:v0.5.8"])
def test_an_image_that_is_called_after_the_engine(image: str) -> None:
    judged = ask_one(f'IMAGE="{image}"\ndocker run --gpus all "$IMAGE" {SGLANG}\n', "8xMI300X")
    assert judged.version == "0.5.8"
    assert image in judged.version_because


@pytest.mark.parametrize(
    "image", ["our-sglang:0.99.1", "team/sglang-router:0.5.8", "team/sglang-lmcache:0.5.8", "our-sglang:0.5.8-rebased"]
)
def test_images_whose_number_is_another_one(image: str) -> None:
    assert ask_one(f"docker run --gpus all {image} {SGLANG}\n", "8xMI300X").version != "0.5.8"


@pytest.mark.parametrize("file", ["our-sglang:0.5.8.sif", "sglang-rocm:v0.5.8-our-own-words-rocm720-mi30x.sif"])
def test_the_file_of_an_image(file: str) -> None:
    judged = ask_one(f"apptainer exec --rocm /images/{file} {SGLANG}\n", "8xMI300X")
    assert judged.version == "0.5.8"
