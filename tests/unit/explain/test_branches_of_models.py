"""A branch of the engine's source that is called as the model is a build from before the first release with it."""

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

SERVE = "python -m sglang.launch_server --model-path {} --tp-size 8 --trust-remote-code --reasoning-parser kimi_k3"


def only(text: str) -> Judged:
    (judged,) = [each for each in ask(text) if each.layout is not None]
    return judged


@pytest.mark.parametrize(
    "said",
    [
        "SGLang revision `ee560a2` (the tip of the public `kimi-k3` branch)\n\n",
        "Build SGLang from the branch kimi-k3.\n\n",
        "git clone -b kimi-k3 https://github.com/sgl-project/sglang\n",
    ],
)
@pytest.mark.parametrize("model", ["moonshotai/Kimi-K3", "/models/Kimi-K3", "/models/Kimi-K3-cdd2e49a"])
def test_build_is_from_before_the_first_release(said: str, model: str) -> None:
    judged = only(f"# Serve\n\n{said}\n```bash\n{SERVE.format(model)}\n```\n")
    assert judged.version == "0.5.16"  # SGLang 0.5.17 is the first with kimi_k3
    assert "0.5.17" in judged.version_because


@pytest.mark.parametrize(
    "said",
    [
        "SGLang 0.5.20, after the `kimi-k3` branch was merged\n",
        "See the `kimi-k2` branch.\n",
        "git clone -b main https://github.com/sgl-project/sglang\n",
        "Our service has a `kimi` branch.\n",
    ],
)
def test_releases_and_branches_of_other_names_are_no_such_build(said: str) -> None:
    judged = only(f"# Serve\n\n{said}\n```bash\n{SERVE.format('moonshotai/Kimi-K3')}\n```\n")
    assert judged.version != "0.5.16"
