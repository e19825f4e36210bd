"""A title that names what its section is about sets no variable of the script below it."""

import pytest

from .judging import found

SCRIPT = """{title}

```bash
MTP=${{MTP:-3}}
python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1-0528 --tp-size 8 \\
  --speculative-algorithm NEXTN --speculative-num-steps "${{MTP}}" --speculative-eagle-topk 1 \\
  --speculative-num-draft-tokens 4
```
"""
OTHER = SCRIPT.format(title="### DeepSeek (MTP=3, TP=4)")


@pytest.mark.parametrize(
    ("title", "told"), [("### DeepSeek (TP=8, MTP=4)", False), ("We ran it with MTP=4 here.", True)]
)
def test_a_title_and_a_sentence(title: str, told: bool) -> None:
    assert bool(found(f"{SCRIPT.format(title=title)}\n{OTHER}", "beside this script")) is told
