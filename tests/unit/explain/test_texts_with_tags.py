"""Threads and pages that were copied as HTML."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.markup import without_markup
from tests.unit.explain.judging import ask

LISTED = """<h2>Summary</h2>
<p>Serving moonshotai/Kimi-K3 on two 8x B200 nodes with <code>vllm serve</code> flags:</p>
<ul>
<li>{first} --trust-remote-code --load-format fastsafetensors<br>
--disable-custom-all-reduce --max-num-seqs 64<br/>
--gpu-memory-utilization 0.90</li>
</ul>
<p>It answers nonsense.</p>
"""
PAGE = """<h2>How I start it</h2>
<p>On one 8x H200 node:</p>
<div class="highlight"><pre><code class="language-sh">vllm serve moonshotai/Kimi-K2-Thinking \\
  --tensor-parallel-size 8 --trust-remote-code \\
  --served-model-name &quot;kimi &amp; co&quot; --max-num-seqs 16
</code></pre></div>
<p>and it fails.</p>
"""


@pytest.mark.parametrize("first", ["--tensor-parallel-size 16", "-tensor-parallel-size 16"])
def test_a_break_ends_no_command(first: str) -> None:
    (judged,) = ask(LISTED.format(first=first))
    assert judged.layout is not None
    assert judged.layout.tp == 16
    assert judged.settings is not None
    assert judged.settings.gpu_memory_utilization == pytest.approx(0.9)
    assert judged.settings.max_num_seqs == 64
    assert not any("backslash" in finding.message for finding in judged.findings)


def test_the_shell_has_nothing_to_say_of_tags() -> None:
    from moonpad.explain.script import read_script

    assert read_script(LISTED.format(first="-tensor-parallel-size 16")).problems == ()


def test_a_block_of_code_is_read_without_its_tags() -> None:
    (judged,) = ask(PAGE)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert [word.text for word in judged.sources[0].argv][-3:] == ["kimi & co", "--max-num-seqs", "16"]


def test_lines_keep_their_places() -> None:
    lines = without_markup(LISTED.format(first="-tensor-parallel-size 16")).split("\n")
    assert [len(line) for line in lines] == [
        len(line) for line in LISTED.format(first="-tensor-parallel-size 16").split("\n")
    ]
    assert lines[3].rstrip().endswith("\\")
    assert not lines[5].rstrip().endswith("\\")


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\ncat <<EOF\n<ul>\n<li>a<br>\n--tp 8</li>\n</ul>\nEOF\n",
        "# Guide\n\n```html\n<ul><li>a<br>\n--b</li></ul>\n<p>c</p>\n<p>d</p>\n```\n",
        '{"text": "<p>a<br>\n--b</p>"}\n<p>c</p>\n<li>d</li>\n<li>e</li>',
        "vllm serve <model> --port <port> > log 2>&1 && echo done\n",
        "| a<br>b | c |\n|---|---|\n",
    ],
)
def test_scripts_data_and_fences_stay(text: str) -> None:
    assert without_markup(text) == text
