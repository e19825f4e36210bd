# ruff: noqa: E501 - programs in one line
"""Classes of Python programs: what their objects hold."""

from __future__ import annotations

import pytest

from .judging import only_server, reads_tp8

K2 = "moonshotai/Kimi-K2-Instruct"
GO = "    def go(self):\n        subprocess.Popen(['vllm', 'serve', self.model, '--tensor-parallel-size', str(self.tp)])\n"


@pytest.mark.parametrize(
    "text",
    [
        f"class S:\n    def __init__(self, model='{K2}', tp=8):\n        self.model = model\n        self.tp = tp\n{GO}",
        f"class S:\n    model = '{K2}'\n    tp = 8\n{GO}",
        f"class S:\n    tp = 4\n    def __init__(self, tp):\n        self.tp, self.model = tp, '{K2}'\n{GO}S(8).go()\n",
        f"@dataclass\nclass S:\n    model: str\n    tp: int = 4\n{GO}S('{K2}', tp=8).go()\n",
        f"@dataclass\nclass S:\n    model: str = '{K2}'\n    tp: int = field(default=8)\n{GO}",
        f"class A:\n    def __init__(self, tp):\n        self.tp = tp\n{GO}class B(A):\n    def __init__(self):\n        super().__init__(8)\n        self.model = '{K2}'\nB().go()\n",
        f"class C:\n    tp = 8\nclass S:\n    def __init__(self, c):\n        self.model = '{K2}'\n        self.tp = c.tp\n{GO}S(C()).go()\n",
        f"class S:\n    model = '{K2}'\n    @property\n    def tp(self):\n        return 8\n{GO}",
    ],
)
def test_attributes_are_read(text: str) -> None:
    assert reads_tp8(f"import subprocess\n{text}").checkpoint is not None


@pytest.mark.parametrize(
    "text",
    [
        f"class S:\n    def __init__(self, tp):\n        self.model, self.tp = '{K2}', tp\n{GO}",
        f"class S:\n    model = '{K2}'\n    tp = 8\n    def set(self):\n        if big():\n            self.tp = 16\n{GO}S().set()\n",
        f"class S:\n    def __init__(self, tp):\n        self.model, self.tp = '{K2}', tp\n{GO}S(8)\nS(16)\n",
        f"class S:\n    model = '{K2}'\n    tp = detect()\n{GO}",
        f"class S:\n    model: str = '{K2}'\n    tp: int = field(default_factory=count)\n{GO}",
    ],
)
def test_what_may_be_otherwise_is_unknown(text: str) -> None:
    assert "tp" in only_server(f"import subprocess\n{text}").unknown


def test_a_command_that_several_methods_start_is_one() -> None:
    text = (
        "class S:\n    def cmd(self):\n        c = ['llama-server', '-m', '/m/Kimi-K2-Q4.gguf', '-c', '8192']\n"
        "        return c\n    def start(self):\n        subprocess.Popen(self.cmd())\n"
        "    def restart(self):\n        subprocess.Popen(self.cmd())\n"
    )
    judged = only_server(f"import subprocess\n{text}")
    assert judged.settings is not None
    assert judged.settings.max_model_len == 8192


@pytest.mark.parametrize(
    "path",
    [
        "os.path.join(here, '../bin/llama-server')",
        "Path(here) / 'bin' / 'llama-server'",
        "os.path.join('/opt', 'llama.cpp', 'llama-server')",
    ],
)
def test_a_program_by_a_joined_path(path: str) -> None:
    assert (
        only_server(
            f"import subprocess\nsubprocess.run([str({path}), '-m', '/m/Kimi-K2-Q4.gguf', '-c', '8192'])\n"
        ).engine
        == "llama-cpp"
    )


@pytest.mark.parametrize(
    "text",
    [
        "CONFIGS = {'a': dict(tp=8), 'b': dict(tp=16)}\nclass S:\n    def __init__(self, name):\n        self.cfg = CONFIGS[name]\n"
        f"    def go(self):\n        subprocess.run(['vllm', 'serve', '{K2}', '-tp', str(self.cfg['tp'])])\nS('a').go()\n",
        f"@dataclass\nclass A:\n    model: str = '{K2}'\n    tensor_parallel_size: int = 8\ncmd = ['vllm', 'serve', A().model]\n"
        "for k, v in asdict(A()).items():\n    if k != 'model':\n        cmd += ['--' + k.replace('_', '-'), str(v)]\nsubprocess.run(cmd)\n",
    ],
)
def test_dictionaries_in_objects(text: str) -> None:
    judged = only_server(f"import subprocess\n{text}")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert "tp" not in judged.unknown
