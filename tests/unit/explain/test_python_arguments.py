# ruff: noqa: E501 - programs in one line
"""Options that Python programs take on their own command lines: defaults stand for them."""

from __future__ import annotations

import pytest

from .judging import only_server, reads_tp8

K2 = "moonshotai/Kimi-K2-Instruct"
PARSER = "import argparse, subprocess\np = argparse.ArgumentParser()\n"
RUN = f"args = p.parse_args()\nsubprocess.run(['vllm', 'serve', '{K2}', '--tensor-parallel-size', str(args.tp)])\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{PARSER}p.add_argument('--tp', type=int, default=8)\n{RUN}",
        f"{PARSER}TP = 8\np.add_argument('--tensor-parallel-size', '-tp', dest='tp', default=TP)\n{RUN}",
        f"import click, subprocess\n@click.command()\n@click.option('--tp', default=8)\ndef main(tp):\n    subprocess.run(f'vllm serve {K2} --tensor-parallel-size {{tp}}', shell=True)\n",
        f"import typer, subprocess\n@app.command()\ndef main(tp: int = typer.Option(8, '--tp')):\n    subprocess.run(f'vllm serve {K2} --tensor-parallel-size {{tp}}', shell=True)\n",
        f"{PARSER}p.add_argument('--tp', default=None)\nargs = p.parse_args()\nsubprocess.run(['vllm', 'serve', '{K2}', '--tensor-parallel-size', str(args.tp or 8)])\n",
    ],
)
def test_defaults(text: str) -> None:
    reads_tp8(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{PARSER}p.add_argument('--tp', type=int, required=True)\n{RUN}",
        f"{PARSER}p.add_argument('tp', type=int)\n{RUN}",
        f"{PARSER}p.add_argument('--tp', default=count())\n{RUN}",
        f"import typer, subprocess\n@app.command()\ndef main(tp: int = typer.Option(...)):\n    subprocess.run(f'vllm serve {K2} --tensor-parallel-size {{tp}}', shell=True)\n",
        f"import subprocess\ndef main(tp=8):\n    subprocess.run(f'vllm serve {K2} --tensor-parallel-size {{tp}}', shell=True)\n",
    ],
)
def test_what_the_caller_gives_is_unknown(text: str) -> None:
    assert "tp" in only_server(text).unknown


def test_an_option_that_is_not_given_adds_nothing() -> None:
    text = (
        f"{PARSER}p.add_argument('--eager', action='store_true')\np.add_argument('--ctx')\nargs = p.parse_args()\n"
        f"cmd = ['vllm', 'serve', '{K2}', '--tensor-parallel-size', '8']\nif args.eager:\n    cmd.append('--enforce-eager')\n"
        "if args.ctx:\n    cmd += ['--max-model-len', args.ctx]\nsubprocess.run(cmd)\n"
    )
    judged = only_server(text)
    assert not judged.unknown
    assert judged.settings is not None
    assert not judged.settings.enforce_eager
