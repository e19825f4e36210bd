"""`**Step 1: Create configuration file (`args.yaml`)**` above a block of YAML names it."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

SERVE = "```bash\ntrtllm-serve deepseek-ai/DeepSeek-R1 --config more.yaml\n```\n"
BLOCK = f"```yaml\nmoe_config:\n  backend: TRTLLM\n```\n\n{SERVE}"


@pytest.mark.parametrize(
    "line",
    [
        "**Step 1: Create configuration file (`more.yaml`)**",
        "2. Write the options file (more.yaml)",
        "step 3. Save your extra settings (**more.yaml**)",
        "Create more.yaml",
        "1) more.yaml",
    ],
)
def test_it_is_that_file(line: str) -> None:
    files = read_script(f"# Serve\n\n{line}\n\n{BLOCK}").files
    assert files["more.yaml"].text.startswith("moe_config:")


@pytest.mark.parametrize(
    "line", ["Compare with the file of the image (see more.yaml)", "Remove the old file (more.yaml)"]
)
def test_other_words_name_no_block(line: str) -> None:
    assert "more.yaml" not in read_script(f"# Serve\n\n{line}\n\n{BLOCK}").files
