# ruff: noqa: E501 - programs in one line
"""Python programs that start engines: what is written is read, what only running them would tell is unknown."""

from __future__ import annotations

import contextlib
import json
import time

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.errors import UsageError
from tests.processor import in_time

K2 = "moonshotai/Kimi-K2-Instruct"


def judged(text: str) -> list[Judged]:
    return [each for each in judge(read_script(text), Question()) if each.layout is not None]


def one(text: str) -> Judged:
    (each,) = judged(text)
    return each


RUN = "import subprocess\nsubprocess.run(cmd)\n"


@pytest.mark.parametrize(
    "text",
    [
        f'from vllm import LLM\nllm = LLM(model="{K2}", tensor_parallel_size=8, pipeline_parallel_size=2)\n',
        f'import vllm\nllm = vllm.LLM("{K2}", tensor_parallel_size=8, pipeline_parallel_size=2)\n',
        f'llm = LLM(model="{K2}", tensor_parallel_size=8, pipeline_parallel_size=2, gpu_memory_utilization=0.9)\n',
        f'from vllm import AsyncEngineArgs as A\na = A(model="{K2}", tensor_parallel_size=8, pipeline_parallel_size=2)\n',
        f'import vllm\nkw = dict(tensor_parallel_size=8)\nkw["pipeline_parallel_size"] = 2\nvllm.LLM("{K2}", **kw)\n',
        f'engine_kwargs = {{"model": "{K2}", "tensor_parallel_size": 8, "pipeline_parallel_size": 2}}\nimport x\n',
        f'cmd = ["vllm", "serve", "{K2}", "-tp", "8"]\ncmd += ["-pp", "2"]\n{RUN}',
        f'cmd = ["vllm", "serve"]\ncmd.append("{K2}")\ncmd.extend(["-tp", str(4 * 2), *["-pp", str(2)]])\n{RUN}',
        f'TP = 8\ncmd = f"vllm serve {K2} -tp {{TP}} " + "-pp 2"\n{RUN}',
        f'import os\nos.system("vllm serve {K2} -tp 8 -pp 2")\n',
        f'import os\nM = os.environ.get("M", "{K2}")\nos.system(f"vllm serve {{M}} -tp 8 -pp 2")\n',
        f'import shlex\ncmd = shlex.split("vllm serve {K2} -tp 8 -pp 2")\n{RUN}',
        f'def build(m, tp, pp=2):\n    return ["vllm", "serve", m, "-tp", str(tp), "-pp", str(pp)]\ncmd = build("{K2}", 8)\n{RUN}',
        f'import asyncio\nasync def go():\n    await asyncio.create_subprocess_exec("vllm", "serve", "{K2}", "-tp", "8", "-pp", "2")\n',
        f'import os\ncmd = " ".join(["vllm", "serve", "{K2}", "-tp", "8", "-pp", "2"])\nos.system(cmd)\n',
        f'import x\nLARGE = True\ncmd = ["vllm", "serve", "{K2}", "-tp", "8"] + (["-pp", "2"] if LARGE else [])\n{RUN}',
        f'N = 16\ncmd = ["vllm", "serve", "{K2}", "-tp", "8"]\nif N > 8:\n    cmd += ["-pp", "2"]\n{RUN}',
        f"x = 1 << 3\nimport os\nos.system('''vllm serve {K2} \\\\\n  -tp 8 \\\\\n  -pp 2''')\n",
    ],
)
def test_what_is_written_is_read(text: str) -> None:
    each = one(text)
    assert each.layout_words == "TP8 PP2"
    assert each.checkpoint is not None
    assert each.checkpoint.name == K2
    assert not each.unknown


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f'def start(tp=8):\n    cmd = ["vllm", "serve", "{K2}", "-tp", str(tp)]\n    run(cmd)\n', "${tp}"),
        (f'import x\ncmd = ["vllm", "serve", "{K2}", "-tp", str(args.tp)]\n{RUN}', "${args.tp}"),
        (f'import x\nos.system(f"vllm serve {K2} -tp {{args.tp}}")\n', "${args.tp}"),
        (
            f'class S:\n    tp: int\n    def go(self):\n        LLM(model="{K2}", tensor_parallel_size=self.tp)\n',
            "${self.tp}",
        ),
        (f'import os\ncmd = ["vllm", "serve", "{K2}", "-tp", os.environ["TP"]]\n{RUN}', "${TP}"),
        (f'import x\ncmd = ["vllm", "serve", "{K2}"]\nif x.big():\n    cmd += ["-tp", "8"]\n{RUN}', "${if x.big()}"),
        (f'import x\nfrom vllm import LLM\nLLM("{K2}", **settings)\n', "settings"),
    ],
)
def test_what_only_running_it_would_tell_is_named(text: str, named: str) -> None:
    each = one(text)
    assert "tp" in each.unknown
    assert each.memory is None
    assert named in each.unjudged
    assert not each.corrected


def test_a_condition_that_changes_nothing_of_note_is_left_out() -> None:
    each = one(
        f'import x\ncmd = ["vllm", "serve", "{K2}", "-tp", "16"]\nif x.y:\n    cmd.append("--enforce-eager")\n{RUN}'
    )
    assert each.layout_words == "TP16"
    assert not each.unknown


@pytest.mark.parametrize(
    "added",
    [
        '    cmd.extend(["--api-key", token])\n',
        '    cmd += ["--served-model-name", token]\n',
        '    cmd.append("--host")\n    cmd.append(token)\n',
        '    cmd += ["--enforce-eager", "--port", str(token), "--chat-template", token]\n',
        '    cmd.append(f"--tool-call-parser={token}")\n',
    ],
)
def test_a_branch_that_adds_a_key_or_a_name_hides_nothing(added: str) -> None:
    start = f'import x\ndef go(token=None):\n  cmd = ["vllm", "serve", "{K2}", "-tp", "16"]\n  if token:\n'
    each = one(f"{start}{added}  run(cmd)\n")
    assert each.layout_words == "TP16"
    assert not each.unknown


@pytest.mark.parametrize(
    "added",
    [
        '    cmd.extend(["--quantization", token])\n',
        '    cmd += ["--api-key", "k2", token]\n',
        "    cmd.append(token)\n",
        '    cmd += ["--max-model-len", token]\n',
        '    cmd += ["--enforce-eager", token]\n',
        '    cmd += ["--port", "81", *token]\n',
    ],
)
def test_a_branch_that_may_add_any_option_is_not_known(added: str) -> None:
    start = f'import x\ndef go(token=None):\n  cmd = ["vllm", "serve", "{K2}", "-tp", "16"]\n  if token:\n'
    assert one(f"{start}{added}  run(cmd)\n").unknown


def test_branches_are_alternatives() -> None:
    text = (
        f'import x\nif x.big():\n    cmd = ["vllm", "serve", "{K2}", "-tp", "16"]\nelse:\n'
        f'    cmd = ["vllm", "serve", "{K2}", "-tp", "8", "-pp", "2"]\ncmd.append("--trust-remote-code")\n{RUN}'
    )
    each = one(text)
    assert each.layout_words == "TP16"
    assert [other.layout_words for other in each.alternatives] == ["TP8 PP2"]


RAY = """
from ray.serve.llm import LLMConfig
config = LLMConfig(
    model_loading_config={"model_id": "kimi", "model_source": "moonshotai/Kimi-K2-Instruct"},
    accelerator_type="H100",
    runtime_env={"env_vars": {"VLLM_USE_V1": "1"}},
    engine_kwargs={"tensor_parallel_size": 8, "pipeline_parallel_size": 2, "max_model_len": 16384},
)
"""


@pytest.mark.parametrize("text", [RAY, f"```python\n{RAY}```\n", RAY.replace("LLMConfig(", "dict(")])
def test_ray_serve(text: str) -> None:
    each = one(text)
    assert each.layout_words == "TP8 PP2"
    assert each.checkpoint is not None
    assert each.checkpoint.name == K2
    assert each.cluster is not None
    assert each.cluster.name == "2x8xH100"
    assert each.settings is not None
    assert each.settings.max_model_len == 16384
    assert each.sources[0].env["VLLM_USE_V1"].text == "1"
    assert not each.corrected, "a program is no command to copy"


def test_other_engines() -> None:
    sgl = one(f'import sglang as sgl\nengine = sgl.Engine(model_path="{K2}", tp_size=16, context_length=4096)\n')
    assert (sgl.engine, sgl.layout_words) == ("sglang", "TP16")
    trt = one(
        'from tensorrt_llm import LLM\nLLM("nvidia/Kimi-K2-Thinking-NVFP4", tensor_parallel_size=8, '
        "kv_cache_config=KvCacheConfig(free_gpu_memory_fraction=0.8))\n"
    )
    assert (trt.engine, trt.layout_words) == ("tensorrt-llm", "TP8")
    assert trt.settings is not None
    assert trt.settings.kv_free_fraction == 0.8


def test_modal_says_the_machines() -> None:
    text = (
        'import modal\nN = 8\n@app.cls(gpu=f"H100:{N}")\n@modal.experimental.clustered(size=2, rdma=True)\nclass S:\n'
        f'    def go(self):\n        subprocess.Popen(["vllm", "serve", "{K2}", "-tp", "8", "-pp", "2"])\n'
    )
    each = one(text)
    assert each.cluster is not None
    assert each.cluster.name == "2x8xH100"


def test_the_environment_that_it_sets() -> None:
    text = (
        'import os\nos.environ["VLLM_USE_V1"] = "1"\nenv = os.environ.copy()\nenv["NCCL_DEBUG"] = "INFO"\n'
        f'run(["vllm", "serve", "{K2}", "-tp", "16"], env=env)\n'
    )
    assert {name: word.text for name, word in one(text).sources[0].env.items()} == {
        "VLLM_USE_V1": "1",
        "NCCL_DEBUG": "INFO",
    }


@pytest.mark.parametrize(
    "text",
    [
        'from openai import OpenAI\nc = OpenAI()\nc.chat.completions.create(model="m", messages=[], max_tokens=3)\n',
        'import x\nx.train(model="moonshotai/Kimi-K2-Instruct", tensor_parallel_size=8)\n',
        'import x\nprint("vllm is a server")\n',
        "class LLM:\n    pass\nfrom mylib import LLM\nLLM(model='m', tensor_parallel_size=8)\n",
    ],
)
def test_what_starts_no_engine(text: str) -> None:
    assert judged(text) == []


HOSTILE = [
    "import x\na = ['vllm', 'serve', 'm']\n" + "a = a + a\n" * 60,
    "import x\na = 'vllm serve m'\n" + "a = a + ' ' + a\n" * 60,
    "import x\nd = {}\nd['x'] = d\nl = ['vllm', 'serve']\nl.append(l)\nfrom vllm import LLM\nLLM(hf_overrides=d, **d)\n",
    "import x\nx = " + "[" * 80 + "'vllm serve m -tp 2'" + "]" * 80 + "\n",
    "import x\nx = " + "f(" * 90 + "'vllm'" + ")" * 90 + "\n",
    "import x\nx = " + " + ".join(["'vllm serve m'"] * 5_000) + "\n",
    "import x\n"
    + "".join(f"def f{n}(a):\n    return f{n + 1}(a) + f{n + 1}(a)\n" for n in range(50))
    + "f0(['vllm'])\n",
    "import x\n" + "".join("    " * n + "if x:\n" for n in range(90)) + "    " * 90 + "y = ['vllm', 'serve', 'm']\n",
    "import x\n" + "cmd = ['vllm', 'serve', 'm', '-tp', '2']\n" * 3_000,
    "import x\nvllm = x" + ".a" * 20_000 + "\n",
    "import x\ny = x[" + ":" * 3 + "\n",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_programs_end(text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(UsageError):
        judge(read_script(text), Question())
    assert in_time(time.process_time() - began, 6.0)


CODE = f'from vllm import LLM\nllm = LLM(model="{K2}", tensor_parallel_size=16)\n'


@pytest.mark.parametrize(
    "text",
    [
        f"export NCCL_DEBUG=INFO\npython3 - <<'PY'\n{CODE}PY\n",
        f"export NCCL_DEBUG=INFO\ncat > serve.py <<'PY'\n{CODE}PY\npython serve.py\n",
        f"export NCCL_DEBUG=INFO\npython -c '{CODE}'\n",
        f"export NCCL_DEBUG=INFO\nmpirun -n 2 python3 - <<PY\n{CODE}PY\n",
    ],
)
def test_python_in_a_script(text: str) -> None:
    each = one(text)
    assert each.layout_words == "TP16"
    assert each.sources[0].line == text.count("\n", 0, text.index("llm = ")) + 1


HANDED = f'server, port = start_it("""\nvllm serve {K2} \\\n    -tp 16 --port 8123\n""")\n'
CALLED = f'start_it("""\nvllm serve {K2} \\\n    -tp 16 --port 8123\n""")\n'


@pytest.mark.parametrize(
    "cell", [CODE, "!pip install vllm\n%env A=1\n" + CODE, f"!vllm serve {K2} -tp 16\n", HANDED, CALLED]
)
def test_cells_of_a_notebook(cell: str) -> None:
    notebook = {"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)}], "nbformat": 4}
    assert one(json.dumps(notebook, indent=1)).layout_words == "TP16"


def test_a_file_that_is_not_run_starts_nothing() -> None:
    assert judged(f"cat > serve.py <<'PY'\n{CODE}PY\npython other.py\n") == []


@pytest.mark.parametrize(
    "given",
    [
        'subprocess.run(cmd, env={**os.environ, "VLLM_USE_V1": "0"})\n',
        'env = dict(os.environ, VLLM_USE_V1="0")\nsubprocess.Popen(cmd, env=env)\n',
        'env = os.environ.copy()\nenv["VLLM_USE_V1"] = "0"\nsubprocess.Popen(cmd, env=env)\n',
    ],
)
def test_variables_that_a_program_starts_the_engine_with_are_its(given: str) -> None:
    each = one(f'import os, subprocess\ncmd = ["vllm", "serve", "{K2}", "-tp", "8"]\n{given}')
    assert any(finding.where == "VLLM_USE_V1" for finding in each.findings)


SPEC = '{"method": "eagle3", "model": "a/b", "num_speculative_tokens": 3}'


@pytest.mark.parametrize(
    "text",
    [
        f"cmd = ['vllm', 'serve', '{K2}', '-tp', '8', '--speculative-config', '{SPEC}']\nos.system(shlex.join(cmd))\n",
        f"cmd = ['vllm', 'serve', '{K2}', '-tp', '8', '--speculative-config', '{SPEC}']\nprint(' '.join(cmd))\nrun(cmd)\n",
        f"cmd = ['vllm', 'serve', '{K2}', '-tp', '8', '--served-model-name', 'Kimi K2']\nlog(f'Run {{\" \".join(cmd)}}')\nrun(cmd)\n",
        f"cmd = ['vllm', 'serve', '{K2}', '-tp', '8']\nprint(*cmd)\nsubprocess.Popen(cmd)\n",
        f"s = json.dumps({SPEC})\ncmd = ['vllm', 'serve', '{K2}', '-tp', '8', '--speculative-config', s]\n"
        "subprocess.Popen(' '.join(shlex.quote(c) for c in cmd), shell=True)\n",
        f"cmd = 'vllm serve {{}} -tp {{n}}'.format('{K2}', n=8)\nprint('Running', cmd)\nos.system(cmd)\n",
        f"cmd = 'vllm serve %s -tp %d' % ('{K2}', 8)\nprint(f'Running {{cmd}}')\nos.system(cmd)\n",
        f"cmd = 'vllm serve MODEL -tp 8'.replace('MODEL', '{K2}')\nsubprocess.run(['bash', '-c', cmd])\n",
        f"o = {{'tensor_parallel_size': 8, 'trust_remote_code': True, 'seed': None}}\ncmd = ['vllm', 'serve', '{K2}']\n"
        "for key, value in o.items():\n    if value is None:\n        continue\n    cmd.append('--' + key.replace('_', '-'))\n"
        "    if not isinstance(value, bool):\n        cmd.append(str(value))\nsubprocess.run(cmd)\n",
        f"o = {{'--tensor-parallel-size': 8}}\ncmd = ['vllm', 'serve', '{K2}'] + [str(x) for kv in o.items() for x in kv]\nrun(cmd)\n",
        f"gpus = list(['0', '1', '2', '3', '4', '5', '6', '7'])\nrun(['vllm', 'serve', '{K2}', '-tp', str(len(gpus))])\n",
    ],
)
def test_texts_that_are_made_of_others(text: str) -> None:
    each = one("import os, shlex, subprocess\n" + text)
    assert each.layout is not None
    assert each.layout.tp == 8
    assert [finding for finding in each.findings if finding.severity == "error"] == []


def test_an_option_whose_name_is_not_known_may_be_any() -> None:
    text = "def start(**options):\n    cmd = ['vllm', 'serve', M]\n    for key in options:\n        cmd += [f'--{key}', '8']\n    run(cmd)\n"
    each = one(f"import subprocess\nM = '{K2}'\n{text}")
    assert "layout" in each.unknown or each.unknown
    assert not [finding for finding in each.findings if finding.severity == "error"]


@pytest.mark.parametrize(
    "text",
    [
        "l = ['a'] * 9\n" + "for a in l:\n" + " l += [a]\n",
        "l = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']\nx = [a for a in l" + " for b in l" * 12 + "]\n",
        "s = 'a'\n" + "s = '%s %s' % (s, s)\n" * 200,
        "s = 'a'\n" + "s = '{0} {0}'.format(s)\n" * 200,
        "s = 'aaaaaaaa'\n" + "s = s.replace('a', 'aaaaaaaa')\n" * 200,
        "s = 'vllm serve x'\n" + "s = s + ' --a'\n" * 4000,
        "d = {'a': 1}\n" + "for k, v in d.items():\n" + " d.update({k + 'b': v})\n",
    ],
)
def test_texts_that_grow_are_refused_or_read_in_time(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(UsageError):
        read_script(f"import subprocess\n{text}subprocess.run(['vllm', 'serve', '{K2}', *l])\n")
    assert in_time(time.process_time() - start, 5.0)


@pytest.mark.parametrize(
    "text",
    [
        f'raise RuntimeError("vllm serve {K2} needs more than one node")\n',
        'help = "vllm serve command string, e.g. vllm serve model --max-model-len 2000"\n',
        f'log(f"vllm serve {K2} exited with {{code}} before becoming healthy")\n',
        'def serve():\n    """Run vllm serve under a tracer. ``vllm serve <model> ...`` puts the model first."""\n',
        'print("vllm serve <model> ...")\n',
    ],
)
def test_sentences_in_a_program_are_no_commands(text: str) -> None:
    assert judged("import subprocess\n" + text) == []


def test_fences_in_a_text_of_a_program_are_read() -> None:
    text = f'import mo\nmo.md("""\n## Start\n\n```bash\nvllm serve {K2} \\\\\n  -tp 8\n```\nand then ask it.\n""")\n'
    assert one(text).layout.tp == 8  # type: ignore[union-attr]


def test_a_loop_that_goes_on_leaves_what_is_behind_it() -> None:
    loops = (
        "for line in open('x'):\n    if True:\n        continue\n    print(line)\n"
        "for line in open('x'):\n    continue\nwhile True:\n    continue\n"
        "if options:\n    for name in ('--a',):\n        if name == '--a':\n            continue\n        cmd.append(name)\n"
    )
    text = f"import os, subprocess\ncmd = ['vllm', 'serve', '{K2}', '-tp', '8']\n{loops}subprocess.run(cmd)\n"
    assert one(text).layout.tp == 8  # type: ignore[union-attr]
    assert judged(f"import os, subprocess\n{loops}cmd = ['vllm', 'serve', '{K2}', '-tp', '8']\nsubprocess.run(cmd)\n")
