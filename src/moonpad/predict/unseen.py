"""How many tokens at the beginning of an answer a chat does not show."""

from __future__ import annotations

import re
from typing import Final

from moonpad.predict.serving_plan import ServingPlan
from moonpad.values.workload import Workload

_OPENS: Final = re.compile(r"kimi-k2-(?:thinking|tiny)", re.IGNORECASE)


def unseen_in(plan: ServingPlan, workload: Workload) -> int:
    return unseen_in_chat(plan.configuration.checkpoint.name) if workload.chat else 0


def unseen_in_chat(model: str) -> int:
    """Kimi-K2-Thinking begins an answer with `<think>`, which the server's parser of reasoning takes out: the first
    words that a client sees are of the second token. The templates of Kimi-K2.5 and later have it in the prompt.

    Run here: kimi-k2-tiny, which has the form of Kimi-K2-Thinking, with vLLM 0.32; the cards of
    https://huggingface.co/moonshotai/Kimi-K2-Thinking and https://huggingface.co/moonshotai/Kimi-K2.5.
    """
    return 1 if _OPENS.search(model) else 0
