"""Which model to ask for, where the user named none."""

from __future__ import annotations

from moonpad.load.fetch import Answer, fetch
from moonpad.load.target import Target
from moonpad.values.errors import CheckFailed, UsageError

TIMEOUT_S = 30.0


async def only_model(target: Target) -> str:
    """The one model of `GET /v1/models`.

    Raises:
        UsageError: the endpoint serves none, or several.
        CheckFailed: it refuses the question.
        RequestFailed: it does not answer.
    """
    answer = await fetch(target, target.get(f"{target.api_path}/models"), timeout_s=TIMEOUT_S)
    if answer.status in (401, 403):
        raise CheckFailed(f"the endpoint wants a key: HTTP {answer.status}", remedy="name its variable with --key-env")
    if answer.status != 200:
        raise CheckFailed(
            f"GET {target.api_path}/models answered HTTP {answer.status}: {answer.text[:200]}",
            remedy="name the model with --model, and check that the URL ends where /v1 begins",
        )
    names = _names(answer)
    if len(names) != 1:
        serves = f"{len(names)} models: {', '.join(names[:8])}" if names else "no model"
        raise UsageError(f"the endpoint serves {serves}", remedy="name one with --model")
    return names[0]


def _names(answer: Answer) -> list[str]:
    data = answer.json.get("data") if isinstance(answer.json, dict) else None
    rows = data if isinstance(data, list) else []
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
