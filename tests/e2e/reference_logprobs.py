"""Run in the engine's environment: what transformers, which shares no code with vLLM's model, says of the same tokens.

Reads {"checkpoint", "prompts": [[token id, …], …], "logits_to"?: a folder}; writes for every prompt the log-probability
of each token after the first and the most likely token at each position, in float32, its logits as `0.npy` …
"""

import json
import sys

import numpy
import torch
from transformers import DeepseekV3Config, DeepseekV3ForCausalLM


def main() -> None:
    job = json.load(sys.stdin)
    with open(f"{job['checkpoint']}/config.json") as file:  # noqa: PTH123
        config = DeepseekV3Config(**{**json.load(file), "model_type": "deepseek_v3"})
    model = DeepseekV3ForCausalLM.from_pretrained(job["checkpoint"], config=config, dtype=torch.float32).eval()
    answers = []
    for number, prompt in enumerate(job["prompts"]):
        with torch.no_grad():
            logits = model(torch.tensor([prompt])).logits[0].float()
        if folder := job.get("logits_to"):
            numpy.save(f"{folder}/{number}.npy", logits.numpy())
        scores = logits.log_softmax(-1)
        following = torch.tensor(prompt[1:])
        answers.append(
            {
                "logprobs": scores[:-1].gather(1, following[:, None])[:, 0].tolist(),
                "top": scores[:-1].argmax(-1).tolist(),
            }
        )
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
