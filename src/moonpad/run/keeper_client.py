"""Talks to a run's keeper over the socket in its folder."""

from __future__ import annotations

from typing import Any

from moonpad.run.keeper.control_socket import request
from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import ContactLost

ANSWER_LIMIT_S = 5.0


def tell(folder: RunFolder, do: str, timeout_s: float = ANSWER_LIMIT_S, **fields: object) -> dict[str, Any]:
    """The keeper's answer: `ok` is whether it will do it, `why` why not. Raises ContactLost: no keeper listens, or no
    answer came in time."""
    try:
        return request(folder.path, {"do": do, **fields}, timeout_s)
    except (OSError, ValueError) as error:
        raise ContactLost(
            f"the keeper of {folder.name} does not answer: {error}", remedy=f"moonpad status {folder.name}"
        ) from error
