"""Deployments of several shapes for the renderers, and the reading back of what they write."""

from __future__ import annotations

from moonpad.plan.from_spec import container_of
from moonpad.render.targets import deployment_of
from moonpad.spec.loader import parse_spec
from moonpad.values.deployment import Deployment, Image
from moonpad.values.records import replace
from tests.configurations import make_plan

DIGEST = f"sha256:{'0' * 64}"

SPECS = {
    "tiny": 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n',
    "keyed": 'model = "m/K2"\nengine = "vllm"\n[hardware]\ncluster = "8xH200"\n[layout]\ntp = 8\n'
    '[endpoint]\napi_key_env = "KIMI_KEY"\n',
    "exposed": 'model = "m/K2"\nengine = "vllm"\n[hardware]\ncluster = "8xMI300X"\n[layout]\ntp = 8\n'
    '[endpoint]\nexpose = true\napi_key_env = "KIMI_KEY"\n',
    "two-nodes": 'model = "m/K2"\nengine = "vllm"\n[hardware]\ncluster = "2x8xH800"\n[layout]\ntp = 8\npp = 2\n',
    "data-parallel": 'model = "m/K2"\nengine = "vllm"\n[hardware]\ncluster = "4x8xH20"\n[layout]\n'
    "dp = 32\nexpert_parallel = true\n",
    "sglang": 'model = "m/K2"\nengine = "sglang"\n[hardware]\ncluster = "2x8xH200"\n[layout]\ntp = 16\n'
    '[endpoint]\nexpose = true\napi_key_env = "KIMI_KEY"\n',
    "atlas": 'model = "m/K2"\nengine = "vllm-ascend"\n[hardware]\ncluster = "16xA3"\n[layout]\ntp = 16\n',
}


def contained(name: str, *, own_network: bool | None = None) -> Deployment:
    """The deployment of one of the specs in containers; `own_network` as pods have it, or as the plan has it."""
    spec = parse_spec(SPECS[name], name=name)
    plan = make_plan(spec, 0)
    image = container_of(spec, plan)
    if own_network is not None:
        image = replace(image, own_network=own_network)
    return deployment_of(spec, plan, image)


def of_argv(deployment: Deployment, *argv: str, **env: str) -> Deployment:
    """The same with other words in its first process."""
    (gang,) = deployment.gangs
    first = replace(gang.processes[0], argv=argv, env=env, runtime=Image(f"i@{DIGEST}", ("vllm",)))
    return replace(deployment, gangs=(replace(gang, processes=(first, *gang.processes[1:])),))
