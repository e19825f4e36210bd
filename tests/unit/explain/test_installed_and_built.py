"""What an installer, a Dockerfile, a line of a shell and a unit of systemd do not take as it is written."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question

SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --port 8000\n"


def messages(text: str, name: str = "run.sh") -> list[str]:
    return [finding.message for each in judge(read_files([(name, text)]), Question()) for finding in each.findings]


def problems(text: str, name: str = "run.sh") -> list[str]:
    return [problem.code for problem in read_files([(name, text)]).problems]


def said(text: str, part: str, name: str = "run.sh") -> int:
    return sum(part in message for message in messages(text, name))


@pytest.mark.parametrize("name", ["pyproject.toml", "app/poetry.lock", "environment.yml", "Pipfile"])
def test_no_list_of_requirements(name: str) -> None:
    assert said(f"pip install -r {name}\n{SERVE}", "is not a list of requirements") == 1
    assert said(f"uv pip install -r {name}\n{SERVE}", "is not a list of requirements") == 0
    assert said(f"pip install -r requirements.txt\n{SERVE}", "is not a list of requirements") == 0


FEW = "https://flashinfer.ai/whl/cu121/torch2.1/"


@pytest.mark.parametrize("option", [f"-i {FEW}", f"--index-url {FEW}", f"--index-url={FEW}"])
def test_an_index_of_few(option: str) -> None:
    assert said(f"pip install transformers flashinfer {option}\n{SERVE}", "takes the place of PyPI") == 1


@pytest.mark.parametrize(
    "line",
    [
        f"pip install flashinfer -i {FEW}",
        f"pip install transformers --extra-index-url {FEW}",
        f"pip install transformers -i {FEW} --extra-index-url https://pypi.org/simple",
        "pip install transformers -i https://pypi.tuna.tsinghua.edu.cn/simple",
        "pip install torch torchvision --index-url https://download.pytorch.org/whl/cu128",
        f"export PIP_EXTRA_INDEX_URL=https://pypi.org/simple\npip install transformers -i {FEW}",
    ],
)
def test_an_index_that_has_it(line: str) -> None:
    assert said(f"{line}\n{SERVE}", "takes the place of PyPI") == 0


def test_a_redirect_into_an_option() -> None:
    line = "vllm serve moonshotai/Kimi-K2.5 -tp 8 > log 2>--port 8000\n"
    assert said(line, "writes into a file that is called --port") == 1
    assert said(line.replace("2>--port", "2>&1 --port"), "writes into a file") == 0


def test_options_of_torchrun() -> None:
    behind = "torchrun --nnodes 2 --nproc-per-node 8 generate.py --node-rank $RANK --master-addr $ADDR\n"
    before = "torchrun --nnodes 2 --nproc-per-node 8 --node-rank $RANK --master-addr $ADDR generate.py --out x\n"
    alone = "torchrun --nnodes 1 --nproc-per-node 8 generate.py --node-rank 0\n"
    assert said(behind + SERVE, "torchrun itself knows no other node") == 1
    assert said(before + SERVE, "torchrun itself") == said(alone + SERVE, "torchrun itself") == 0


@pytest.mark.parametrize("listed", ["docker ps -aq | grep -q vllm", 'docker ps -q | grep "$NAME"'])
def test_a_name_among_ids(listed: str) -> None:
    assert said(f"{listed} && docker rm -f vllm\n{SERVE}", "lists ids alone") == 1


@pytest.mark.parametrize(
    "listed",
    ["docker ps -a | grep vllm", "docker ps -aq -f name=vllm | grep .", 'docker ps -aq | grep "$CONTAINER_ID"'],
)
def test_a_list_that_holds_it(listed: str) -> None:
    assert said(f"{listed}\n{SERVE}", "lists ids alone") == 0


def test_a_module_one_letter_away() -> None:
    line = "python -m sglang.launch_sever --model-path moonshotai/Kimi-K2.5 --tp-size 8\n"
    other = SERVE + line
    assert said(other, "there is no module sglang.launch_sever") == 1
    assert said(other.replace("sever", "server"), "there is no module") == 0
    assert said("python -m sglang_router.launch_routher --help  # sglang\n" + SERVE, "launch_routher to start") == 1


DOCKERFILE = """ARG VLLM_VERSION=0.19.1
FROM nvidia/cuda:12.8.1-devel-ubuntu22.04
{}RUN pip install vllm==${{VLLM_VERSION}}
ENTRYPOINT ["vllm", "serve"]
"""


def test_an_argument_before_from() -> None:
    assert said(DOCKERFILE.format(""), "VLLM_VERSION is empty here", "Dockerfile") == 1
    for declared in ("ARG VLLM_VERSION\n", "ENV VLLM_VERSION=0.19.1\n"):
        assert said(DOCKERFILE.format(declared), "is empty here", "Dockerfile") == 0


def test_an_argument_of_the_stage_before() -> None:
    text = DOCKERFILE.format("").replace("ubuntu22.04\n", "ubuntu22.04 AS base\nARG VLLM_VERSION\nFROM base\n")
    assert said(text, "is empty here", "Dockerfile") == 0


def test_a_name_that_the_image_sets() -> None:
    text = "ARG CUDA_VERSION=12.8.1\nFROM nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04\nRUN echo ${CUDA_VERSION}\n"
    assert said(text + 'CMD ["vllm", "serve", "a/b"]\n', "is empty here", "Dockerfile") == 0


def test_a_command_as_one_word() -> None:
    text = 'FROM python:3.12\nRUN pip install vllm\n{}CMD ["vllm serve moonshotai/Kimi-K2.5 -tp 8"]\n'
    assert said(text.format(""), "executable file not found", "Dockerfile") == 1
    assert said(text.format('ENTRYPOINT ["bash", "-c"]\n'), "executable file not found", "Dockerfile") == 0
    parted = text.format("").replace('["vllm serve moonshotai/Kimi-K2.5 -tp 8"]', '["vllm", "serve", "a/b"]')
    assert said(parted, "executable file not found", "Dockerfile") == 0


def test_a_merge_of_a_router_alone() -> None:
    text = "# vLLM\n<<<<<<< HEAD\npython3 router.py --port 1\n=======\npython3 router.py --port 2\n>>>>>>> other\n"
    assert said(text, "an unresolved merge conflict") == 1


UNIT = """[Service]
ExecStart=/opt/bin/vllm serve moonshotai/Kimi-K2.5 {0}
    -tp 8 {0}
    --max-model-len ${{LENGTH}}
"""


def test_backslashes_of_a_unit_in_a_heredoc() -> None:
    doubled = UNIT.format("\\\\")
    assert "doubled-backslash" not in problems(f"cat > /etc/systemd/system/a.service <<EOF\n{doubled}EOF\n")
    assert "doubled-backslash" in problems(f"cat > /etc/systemd/system/a.service <<'EOF'\n{doubled}EOF\n")
    assert "doubled-backslash" in problems(doubled, "a.service")


def test_an_empty_line_in_a_unit() -> None:
    text = UNIT.format("\\")
    broken = text.replace("-tp 8 \\\n", "-tp 8 \\\n\n")
    assert problems(broken, "a.service") == ["missing-backslash"]
    assert problems(text, "a.service") == []
    assert problems(text.replace("${LENGTH}\n", "4096\n\nRestart=always\n"), "a.service") == []


@pytest.mark.parametrize("sign", [">", "<", "=="])
def test_signs_that_compare(sign: str) -> None:
    test = f'if [[ "$A" == "$B"* || "$A" {sign} "$B" ]]; then echo; fi\n'
    assert problems(test + SERVE) == []
    assert problems(f'if [[ "$A" "$B" ]]; then echo; fi\n{SERVE}') == ["syntax"]


INNER = """ssh gpu bash -c "
for RATE in 1 2; do
  vllm bench serve --model a/b --max-concurrency \\$RATE --request-rate {}RATE
done
"
"""


def test_a_variable_of_the_inner_script() -> None:
    assert said(SERVE + INNER.format("$"), "the shell around fills in $RATE") == 1
    assert said(SERVE + INNER.format("\\$"), "the shell around fills in") == 0
    assert said("RATE=4\n" + SERVE + INNER.format("$"), "the shell around fills in") == 0
    assert said(SERVE + INNER.format("$").replace('"', "'"), "the shell around fills in") == 0
    handed_in = INNER.format("$").replace("for RATE in 1 2; do", "RATE=$RATE; for N in 1 2; do")
    assert said(SERVE + handed_in, "the shell around fills in") == 0
