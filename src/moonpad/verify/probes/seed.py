"""Sampling that can be repeated."""

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask
from moonpad.verify.mend import FIELDS
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

QUESTION = "Tell me about a town by the sea."
SEEDS = (1, 1, 2, 3, 4)


async def run(api: Api) -> Outcome:
    texts = []
    for seed in SEEDS:
        body = {
            "messages": [{"role": "user", "content": QUESTION}],
            "temperature": 1.0,
            "seed": seed,
            "max_tokens": 48,
        }
        answer = await ask(api, body)
        if isinstance(answer, Outcome):
            return answer
        texts.append(answer.reasoning + answer.content)
    if len(set(texts[1:])) == 1:
        message = f"the seeds {', '.join(map(str, SEEDS[1:]))} at temperature 1 give one text: nothing is sampled"
        return failed(Code.PARAMETER_IGNORED, "temperature", message, "ask the engine itself: a gateway may drop it")
    if texts[0] != texts[1]:
        return skipped("one seed gave two texts: the seed is ignored, or sampling varies with the batch and the cache")
    return passed(f"one seed gives one text; {len(set(texts[1:]))} texts of {len(SEEDS) - 1} seeds")


PROBE = Probe(
    id="seed",
    proves="a seed repeats a sampled answer, and others give others",
    matters="an experiment that cannot be repeated cannot be compared",
    mend=FIELDS,
    run=run,
)
