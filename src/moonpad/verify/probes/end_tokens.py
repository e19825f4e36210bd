"""Both tokens that end an answer."""

from typing import Final

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask, greedy, tokenize
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

ENDS: Final = {"[EOS]": 163585, "<|im_end|>": 163586}
"""Of the family's vocabulary (special tokens of Kimi-K2's tokenizer_config.json)."""


async def run(api: Api) -> Outcome:
    for token in ENDS:
        number = await number_of(api, token)
        if number is None:
            return skipped(f"there is no /tokenize that knows {token}, so it cannot be forced")
        answer = await ask(api, greedy("Hello!", max_tokens=6, logit_bias={str(number): 100}))
        if isinstance(answer, Outcome):
            return answer
        tokens = answer.usage.completion_tokens if answer.usage else None
        if answer.finish_reason != "stop":
            message = f"the token {number} ({token}) does not end an answer: {tokens} tokens, {answer.finish_reason!r}"
            remedy = "list both ends in generation_config.json: eos_token_id = [163585, 163586] (smg#1112)"
            return failed(Code.WRONG_ANSWER, "generation_config.json", message, remedy)
        if token in answer.content:
            message = f"{token} is visible as text"
            return failed(Code.WRONG_ANSWER, "tokenizer_config.json", message, "use the model's own tokenizer files")
    return passed(f"{' and '.join(ENDS)}, forced by logit_bias, each end the answer and are not shown")


async def number_of(api: Api, token: str) -> int | None:
    document = await tokenize(api, prompt=token, add_special_tokens=False)
    tokens = document.get("tokens") if document else None
    return tokens[0] if isinstance(tokens, list) and len(tokens) == 1 and isinstance(tokens[0], int) else None


PROBE = Probe(
    id="end_tokens",
    proves="[EOS] and <|im_end|> both end an answer",
    matters="the models end turns by either; with one of them unknown an answer runs on into the next turn",
    mend=Mend(
        each="generation_config.json: eos_token_id = [163585, 163586]",
        vllm="--generation-config auto, which reads that file",
    ),
    known=("smg#1112",),
    run=run,
)
