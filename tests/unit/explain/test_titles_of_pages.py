"""Pages that were copied as text, whose titles end in the sign of a link: devices are those of the nearest title."""

from __future__ import annotations

import pytest

from .judging import ask

PAGE = """\
Deployment Guide for Kimi K2 Thinking#
Introduction#
A quickstart. For the large deployment see below.
Deploy Kimi K2 Thinking on DGX {first} through Docker#
Prepare the image#
make -C docker release_build
Launch the server#
cat << EOF > /tmp/config.yml
tensor_parallel_size: 8
trust_remote_code: true
cache_transceiver_config:
  backend: UCX
  max_tokens_in_buffer: 8448
EOF
trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --host 127.0.0.1 --config /tmp/config.yml
Deploy Kimi K2 Thinking on {second} NVL72 with disaggregated serving#
Launch the workers#
Write this file for the workers, and start them with it.
"""
ROLE = """\
  {name}:
    tensor_parallel_size: 4
    trust_remote_code: true
    cache_transceiver_config:
      backend: UCX
      max_tokens_in_buffer: 8448
"""
POOL = f"""\
slurm:
  partition: gpus
hardware:
  gpus_per_node: 4
  num_ctx_servers: 1
  num_gen_servers: 1
environment:
  model_path: nvidia/Kimi-K2-Thinking-NVFP4
worker_config:
{ROLE.format(name="gen")}{ROLE.format(name="ctx")}"""


@pytest.mark.parametrize(("first", "second"), [("B200", "GB200"), ("B300", "GB300"), ("GB200", "B200")])
def test_a_title_names_the_devices_of_what_follows(first: str, second: str) -> None:
    (judged,) = ask(PAGE.format(first=first, second=second))
    assert judged.cluster is not None
    assert judged.cluster.devices == 8
    assert judged.cluster.name.rpartition("x")[2] == first


def test_faults_of_pools_are_not_told_of_the_server_beside_them() -> None:
    server = PAGE.partition("Launch the server#\n")[2].partition("Deploy")[0]
    text = f"# One server\n\n```bash\n{server}```\n\n# A pool\n\n```yaml\n{POOL}```\n"
    alone, *pool = ask(text)
    apart = [["prefill and decode" in each.message for each in judged.all_findings] for judged in (alone, *pool)]
    assert {judged.kind for judged in pool} == {"prefill", "decode"}
    assert not any(apart[0])
    assert all(any(each) for each in apart[1:])


@pytest.mark.parametrize(("mark", "end"), [("## ", ""), ("", "#")])
def test_devices_above_a_title_that_names_others_are_not_of_the_command(mark: str, end: str) -> None:
    serve = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"
    fence = "```\n" if mark else ""
    titles = [f"{mark}{title}{end}\n" for title in ("Serving Kimi K2 Thinking", "Machines", "On B200")]
    text = f"{titles[0]}{titles[1]}8x H200\n{titles[2]}{fence}{serve}\n{fence}"
    (judged,) = ask(text)
    assert judged.cluster is not None
    assert judged.cluster.name == "8xB200"
