"""Does the engine compute what transformers computes?

`PYTHON -m training.kimi_k2_tiny.agreement --url URL --checkpoint DIR`

The engine writes greedily after a few prompts; transformers then reads the same tokens in one pass. Both give each
written token a log-probability, and the largest difference is what is reported. A silent error of a kernel
shows here long before it shows in the text.
"""

import argparse
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import DeepseekV3ForCausalLM

from .architecture import to_transformers
from .chats import scoring_chats
from .rendering import render
from .score import post


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="kimi-k2")
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--n", type=int, default=16)
    arguments = parser.parse_args()

    tokenizer = Tokenizer.from_file(str(arguments.checkpoint / "tokenizer.json"))
    prompts = [
        tokenizer.encode(render(chat.messages, chat.tools), add_special_tokens=False).ids
        for chat in scoring_chats(1, arguments.n)
    ]
    written = [write(prompt, arguments.url, arguments.model) for prompt in prompts]
    report = {"prompts": len(prompts), "tokens": sum(len(ids) for ids, _ in written)}
    for dtype in (torch.float32, torch.bfloat16):
        model = load(arguments.checkpoint, dtype)
        pairs = [read(model, prompt, ids, theirs) for prompt, (ids, theirs) in zip(prompts, written, strict=True)]
        report[str(dtype).removeprefix("torch.")] = {
            "largest_difference": round(max(pair[0] for pair in pairs), 4),
            "same_greedy_token": sum(pair[1] for pair in pairs),
        }
    print(json.dumps(report))


def load(checkpoint: Path, dtype: torch.dtype) -> DeepseekV3ForCausalLM:
    config = to_transformers(json.loads((checkpoint / "config.json").read_text()))
    return DeepseekV3ForCausalLM.from_pretrained(checkpoint, config=config, dtype=dtype).eval()


def write(prompt: list[int], url: str, model: str) -> tuple[list[int], list[float]]:
    """The engine's greedy continuation: token ids and their log-probabilities."""
    body = {"model": model, "prompt": prompt, "max_tokens": 60, "temperature": 0, "logprobs": 1}
    body |= {"return_token_ids": True, "skip_special_tokens": False}
    choice = post(f"{url.rstrip('/')}/v1/completions", body)["choices"][0]
    return choice["token_ids"], choice["logprobs"]["token_logprobs"]


def read(model: torch.nn.Module, prompt: list[int], ids: list[int], theirs: list[float]) -> tuple[float, int]:
    """The largest difference over the tokens, and how many of them transformers would have written too."""
    with torch.no_grad():
        logits = model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1].float()
    ours = logits.log_softmax(-1).gather(1, torch.tensor(ids)[:, None])[:, 0]
    difference = (ours - torch.tensor(theirs)).abs().max().item()
    return difference, int((logits.argmax(-1) == torch.tensor(ids)).sum())


if __name__ == "__main__":
    main()
