"""The folders that a step of Slurm mounts into its container, against the place of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Word
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_MOUNTS: Final = "--container-mounts"
_IMAGE: Final = "--container-image"
_HOME: Final = "--container-mount-home"
_OF_HOME: Final = re.compile(r"/(?:home|root|users?|u)/|~")


def model_outside_of_step(case: Case) -> Iterator[Remark]:
    """`srun … --container-mounts /logs:/logs vllm serve /lustre/model`: only what is mounted is there."""
    command, model = case.commands[0], case.first.model
    step = next((wrapper for wrapper in command.wrappers if wrapper.kind == "srun"), None)
    if step is None or not model.startswith("/") or unresolved(model) or command.custom:
        return
    image, mounts = (_values(step.words, flag) for flag in (_IMAGE, _MOUNTS))
    if len(image) != 1 or len(mounts) != 1 or "$" in mounts[0]:
        return
    name = image[0].removeprefix("docker://").replace("#", "/")
    if around.WITHOUT_WEIGHTS.fullmatch(name) is None:
        return
    targets = [(part.split(":")[1:] or part.split(":"))[0] for part in mounts[0].split(",") if part]
    if any(word.text.partition("=")[0] == _HOME for word in step.words) and _OF_HOME.match(model):
        return
    if not targets or any(f"{model.rstrip('/')}/".startswith(f"{target.rstrip('/')}/") for target in targets):
        return
    if any(target.startswith(f"{model.rstrip('/')}/") for target in targets):
        return
    message = (
        f"{_MOUNTS} brings {', '.join(shortened(target, 40) for target in targets[:3])} into the container, and not "
    )
    message += (
        f"{shortened(model, 60)}: unless the cluster mounts it everywhere, the engine takes the path for the name of "
    )
    message += "a repository, and ends"
    folder = "/".join(model.split("/")[:2])
    remedy = f"add {folder}:{folder} to {_MOUNTS}, or write the path inside of the container"
    yield make_remark(Severity.WARNING, Code.CONFLICT, "model", message, remedy)


def _values(words: Sequence[Word], flag: str) -> list[str]:
    """Behind `--flag` or `--flag=`."""
    texts = [word.text for word in words]
    joined = [text.partition("=")[2] for text in texts if text.startswith(f"{flag}=")]
    return [
        value.strip("'\"") for value in (*joined, *(behind for before, behind in pairwise(texts) if before == flag))
    ]
