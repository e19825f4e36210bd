"""`[router]`: what it refuses, with the line, and which port each process gets."""

from __future__ import annotations

import pytest

from moonpad.spec.loader import parse_spec
from moonpad.spec.router_table import metrics_port, replica_port, router_port
from moonpad.values.errors import SpecError

HEAD = 'name = "{name}"\nmodel = "m"\nengine = "vllm-cpu"\n[endpoint]\nport = {port}\n{endpoint}\n[router]\n'


def parse(table: str, *, name: str = "k2", port: int = 8000, endpoint: str = "") -> None:
    parse_spec(HEAD.format(name=name, port=port, endpoint=endpoint) + table, name=name)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            'name = "sglang-ruter"',
            ':8: name in [router] must be one of sglang-router, vllm-router, found "sglang-ruter"',
        ),
        (
            'name = "sglang-router"\npolicy = "kv_aware"',
            ":9: policy in [router] must be one of cache_aware, round_robin",
        ),
        ('name = "vllm-router"\nreplicas = 0', ":9: replicas in [router] must be a whole number from 1 to 64, found 0"),
        ('name = "vllm-router"\npolices = "x"', ':9: unknown key "polices" in [router]; did you mean "policy"?'),
        ('name = "vllm-router"\nreplica_port = 7999', ":7: [router] gives port 8000 to two processes"),
        ('name = "vllm-router"\nreplica_port = 65535', ":7: [router] needs port 65537, and the last one is 65535"),
        ('name = "vllm-router"\nextra_args = ["--api-key", "abcdef123"]', ":9: extra_args in [router]"),
        ("replicas = 2", ":7: name in [router] is missing"),
        (
            'name = "vllm-router"\n[prefill]\n[decode]',
            ":7: [router] and [prefill] with [decode] exclude one another",
        ),
        ('name = "vllm-router"\n[[hosts]]\naddress = "10.0.0.1"', ":7: [router] and [[hosts]] exclude one another"),
    ],
)
def test_what_is_refused(table: str, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse(table)
    assert message in refused.value.message


def test_a_name_that_is_too_long() -> None:
    with pytest.raises(SpecError, match="at most 52 characters"):
        parse('name = "vllm-router"', name="k" * 53)


def test_ports() -> None:
    """Of an endpoint that is exposed the front has the endpoint's, and the router the next one."""
    text = HEAD.format(name="k2", port=8000, endpoint="expose = true") + 'name = "vllm-router"\nreplicas = 3'
    spec = parse_spec(text, name="k2")
    assert spec.router is not None
    assert router_port(spec.endpoint) == 8001
    assert [replica_port(spec.endpoint, spec.router, number) for number in range(3)] == [8002, 8003, 8004]
    assert metrics_port(spec.endpoint, spec.router) == 8005
