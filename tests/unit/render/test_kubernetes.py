"""Kubernetes' own schemas, what its expansion makes of what we write, and what the objects promise."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.render.kubernetes import FILE, render_kubernetes
from moonpad.spec.schema import KubernetesTable
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from tests.unit.render.deployments import SPECS, contained, of_argv

LEADER_WORKER_SET = json.loads((Path(__file__).parent / "schemas" / "leaderworkerset-v1.json").read_text())
RELEASES = ("1.30.0", "1.37.0")


def objects(name: str, **options: str) -> list[dict[str, Any]]:
    return list(
        yaml.safe_load_all(render_kubernetes(contained(name, own_network=True), KubernetesTable(**options))[FILE].text)
    )


def templates(name: str, **options: str) -> list[dict[str, Any]]:
    spec = objects(name, **options)[0]["spec"]
    if group := spec.get("leaderWorkerTemplate"):
        return [group["leaderTemplate"], group["workerTemplate"]]
    return [spec["template"]]


def engine(template: Mapping[str, Any]) -> dict[str, Any]:
    (container,) = (container for container in template["spec"]["containers"] if container["name"] != "front")
    return dict(container)


def closed(schema: Any) -> Any:
    """The schema with every object closed, as `kubectl --validate=strict` reads it."""
    if isinstance(schema, dict):
        strict = {key: closed(value) for key, value in schema.items()}
        if isinstance(schema.get("properties"), dict) and "type" in schema:
            strict["additionalProperties"] = False
        return strict
    return [closed(each) for each in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("release", RELEASES)
def test_schemas(name: str, release: str) -> None:
    for document in objects(name, rdma_resource="rdma/hca"):
        if document["kind"] == "LeaderWorkerSet":
            jsonschema.validate(document, closed(LEADER_WORKER_SET))
            for template in templates(name, rdma_resource="rdma/hca"):
                deployment = {"selector": {"matchLabels": template["metadata"]["labels"]}, "template": template}
                document = {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "metadata": {"name": "a"},
                    "spec": deployment,
                }
                kubernetes_validate.validate(document, release, strict=True)
        else:
            kubernetes_validate.validate(document, release, strict=True)


def test_a_schema_can_refuse() -> None:
    (document, *_) = objects("two-nodes")
    document["spec"]["leaderWorkerTemplate"]["restartPolicy"] = "Never"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, closed(LEADER_WORKER_SET))
    (document, *_) = objects("tiny")
    document["spec"]["template"]["spec"]["containers"][0]["comand"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, RELEASES[0], strict=True)


@pytest.mark.parametrize("name", SPECS)
def test_twice_gives_the_same_bytes(name: str) -> None:
    first, second = (render_kubernetes(contained(name, own_network=True))[FILE].text for _ in range(2))
    assert first == second


def test_a_group_is_made_anew_as_a_whole() -> None:
    """Fault 31: ranks of several nodes cannot go on without one another."""
    group = objects("two-nodes")[0]["spec"]["leaderWorkerTemplate"]
    assert (group["size"], group["restartPolicy"]) == (2, "RecreateGroupOnPodRestart")
    leader, worker = (engine(template)["args"] for template in templates("two-nodes"))
    assert leader[leader.index("--master-addr") + 1] == "$(MOONPAD_POD_IP)"
    assert worker[worker.index("--master-addr") + 1] == "$(LWS_LEADER_ADDRESS)"
    for words in (leader, worker):
        assert words[words.index("--node-rank") + 1] == "$(LWS_WORKER_INDEX)"
    assert "--headless" in worker
    assert "--headless" not in leader


def test_start_ranks_are_counted_by_the_shell() -> None:
    """Four nodes of eight replicas: node 2 starts at 16. The words are run by a real shell."""
    container = engine(templates("data-parallel")[1])
    words = [expanded(word, {"LWS_WORKER_INDEX": "2"}) for word in (*container["command"], *container["args"])]
    words[words.index("vllm")] = "printf"
    words[words.index("serve")] = "%s\n"
    done = subprocess.run(
        words, env={"LWS_WORKER_INDEX": "2", "PATH": "/usr/bin:/bin"}, capture_output=True, check=True
    )
    printed = done.stdout.decode().splitlines()
    assert printed[printed.index("--data-parallel-start-rank") + 1] == "16"
    assert printed[0] == "/checkpoint"
    assert "--headless" in printed
    assert len(printed) == len(container["args"]) - 1 + 2, "all words, and the option that was computed"


def test_start_up_readiness_and_liveness_are_apart() -> None:
    container = engine(templates("keyed")[0])
    startup, ready, alive = (container[f"{kind}Probe"] for kind in ("startup", "readiness", "liveness"))
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 900
    assert startup["exec"]["command"][0] == "python3", "ready is the first token, not /health"
    assert ready["httpGet"] == alive["httpGet"] == {"path": "/health", "port": 8000}
    assert alive["periodSeconds"] * alive["failureThreshold"] == 300
    assert not [key for key in engine(templates("two-nodes")[1]) if key.endswith("Probe")], "rank 1 answers nothing"


def test_devices_shared_memory_and_rdma() -> None:
    (template,) = templates("keyed")
    container = engine(template)
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 8}
    shm = next(volume for volume in template["spec"]["volumes"] if volume["name"] == "shm")
    assert shm["emptyDir"] == {"medium": "Memory", "sizeLimit": "4096Mi"}
    assert engine(templates("exposed")[0])["resources"]["limits"] == {"amd.com/gpu": 8}
    assert engine(templates("atlas")[0])["resources"]["limits"] == {"huawei.com/Ascend910": 16}
    assert engine(templates("two-nodes", rdma_resource="rdma/hca")[0])["resources"]["limits"]["rdma/hca"] == 1


def test_the_key_is_a_reference_to_a_secret() -> None:
    for name in ("keyed", "sglang"):
        env = {each["name"]: each for each in engine(templates(name)[0])["env"]}
        assert env["MOONPAD_API_KEY"]["valueFrom"]["secretKeyRef"] == {"name": f"{name}-api-key", "key": "api_key"}
        using = [each["name"] for each in env.values() if "$(MOONPAD_API_KEY)" in each.get("value", "")]
        assert using == (["VLLM_API_KEY"] if name == "keyed" else ["MOONPAD_FILE_0"])
        order = list(env)
        assert order.index("MOONPAD_API_KEY") < order.index(using[0]), "expansion knows only what stands before"


def test_nothing_reaches_the_pods_unless_the_spec_exposes_them() -> None:
    """Faults 61 and 62: the sockets between ranks are unauthenticated, and so may be the API."""
    for name, exposed in (("keyed", False), ("two-nodes", False), ("exposed", True), ("sglang", True)):
        _, service, policy = objects(name)
        assert service["spec"]["type"] == "ClusterIP"
        spec = policy["spec"]
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        open_to_all = [rule for rule in spec["ingress"] if "from" not in rule]
        assert open_to_all == ([{"ports": [{"protocol": "TCP", "port": 8000}]}] if exposed else [])
        (own,) = (rule["from"] for rule in spec["ingress"] if "from" in rule)
        assert own == [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": name}}}]
        for template in templates(name):
            pod = template["spec"]
            assert pod["automountServiceAccountToken"] is False
            assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
            assert not any("hostPath" in volume for volume in pod["volumes"])
            assert not any(container["securityContext"]["allowPrivilegeEscalation"] for container in pod["containers"])
            assert template["metadata"]["labels"]["app.kubernetes.io/name"] == name


def test_a_tag_is_named_as_one() -> None:
    text = render_kubernetes(contained("keyed"))[FILE].text
    assert "is a tag, and a tag may move" in text
    assert "is a tag" not in render_kubernetes(of_argv(contained("keyed"), "serve"))[FILE].text


def test_a_name_that_leaves_no_room() -> None:
    with pytest.raises(UsageError, match="leaves room for 50"):
        render_kubernetes(renamed("a" * 51))


def renamed(name: str) -> Any:
    deployment = contained("tiny")
    return replace(deployment, gangs=(replace(deployment.gangs[0], name=name),))


def expanded(text: str, env: Mapping[str, str]) -> str:
    """Kubernetes' expansion, from its documentation: `$(NAME)` where NAME is defined, `$$` is a dollar, all else stays
    (https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/)."""
    return re.sub(
        r"\$\$|\$\(([^)]*)\)",
        lambda match: "$" if match[0] == "$$" else env.get(match[1], match[0]),
        text,
    )


HOSTILE = st.text(
    st.one_of(st.sampled_from("$(){}\"'`\\\n\t:#&*!|>%@-, "), st.characters(blacklist_categories=("Cs", "Cc"))),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(HOSTILE, HOSTILE)
def test_no_text_is_interpreted(word: str, value: str) -> None:
    """Fault 51: YAML, the expansion, and nothing else stands between our text and the engine."""
    rendered = render_kubernetes(of_argv(contained("keyed"), "serve", word, A=value))[FILE].text
    deployment, service, policy = yaml.safe_load_all(rendered)
    assert (service["kind"], policy["kind"]) == ("Service", "NetworkPolicy")
    container = engine(deployment["spec"]["template"])
    known = {"MOONPAD_API_KEY": "s3", "LWS_WORKER_INDEX": "1", "MOONPAD_POD_IP": "10.0.0.1"}
    assert [expanded(each, known) for each in container["args"]] == ["serve", word]
    assert [expanded(each["value"], known) for each in container["env"] if each["name"] == "A"] == [value]
