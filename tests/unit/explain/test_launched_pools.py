"""Launch lines of pools, against the tables of their servers, against each other and against the proxy in front."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

LINE = (
    "python launch_online_dp.py --dp-size {size} --tp-size {each} --dp-size-local {local} --dp-rank-start {first} "
    "--dp-address {host} --dp-rpc-port {port} --vllm-start-port 7100\n"
)


def server(role: str, prefill: str = "4, 4", decode: str = "8, 4", name: str = "kimi") -> str:
    tables = ", ".join(
        f'"{part}": {{"dp_size": {text.split(", ")[0]}, "tp_size": {text.split(", ")[1]}}}'
        for part, text in (("prefill", prefill), ("decode", decode))
    )
    config = (
        f'{{"kv_connector": "MooncakeConnectorV1", "kv_role": "{role}", "kv_connector_extra_config": {{{tables}}}}}'
    )
    return (
        f"```shell\nvllm serve /weights/Mine-w8a8 --port $2 --data-parallel-size $3 --tensor-parallel-size $7 "
        f"--quantization ascend --served-model-name {name} --kv-transfer-config '{config}'\n```\n\n"
    )


def line(first: int = 0, host: str = "10.0.0.3", port: int = 12321, size: int = 8, each: int = 4) -> str:
    return LINE.format(size=size, each=each, local=4, first=first, host=host, port=port)


PREFILL = line(size=4, host="10.0.0.1")
LINES = f"```shell\n{PREFILL}{line()}{line(4)}```\n"
PROXY = (
    "```shell\npython load_balance_proxy_server_example.py --port 1999 --host 10.0.0.1 --prefiller-hosts 10.0.0.1 "
    "--prefiller-ports 7100 --decoder-hosts 10.0.0.3 {} --decoder-ports {}\n```\n"
)


def told(text: str, words: str) -> bool:
    return any(words in each.message for one in ask(text) for each in one.findings)


def test_the_table_of_a_pool() -> None:
    assert told(server("kv_producer", prefill="4, 8") + LINES, "prefill: 4 ranks of 8 devices, and the text starts")
    assert told(server("kv_producer", decode="16, 4") + LINES, "decode: 16 ranks of 4 devices")
    assert not told(server("kv_producer") + LINES, "and the text starts")
    assert not told(server("kv_producer", prefill="4, 8"), "and the text starts")
    plain = "```shell\nvllm serve /weights/Mine-w8a8 -dp 4 -tp 8 --quantization ascend\n```\n"
    with_table = plain.replace("\n```", ' --kv-transfer-config \'{"kv_role": "kv_producer"}\'\n```')
    assert not told(server("kv_producer", prefill="4, 8") + with_table + LINES, "and the text starts")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (line() + line(0), "is started twice"),
        (line() + line(4, host="10.0.0.4"), "where no line starts rank 0"),
        (line() + line(4, port=12322), "another 12321"),
    ],
)
def test_lines_that_do_not_meet(lines: str, words: str) -> None:
    assert told(f"{server('kv_consumer')}```shell\n{lines}```\n", words)


@pytest.mark.parametrize(
    "lines",
    [
        line() + line(4),
        line() + line(0, host="10.0.0.4"),
        line(host="$local_ip") + line(0, host="$local_ip"),
        line() + line(4) + "```\n\n```shell\n" + line() + line(4),
    ],
)
def test_lines_that_meet(lines: str) -> None:
    text = f"{server('kv_consumer')}```shell\n{lines}```\n"
    assert not any(told(text, words) for words in ("started twice", "starts rank 0", "meet at one port"))


def test_the_options_of_a_proxy() -> None:
    start = server("kv_consumer")
    assert told(start + PROXY.format("10.0.0.4", "7100"), "2 decoder hosts and 1 ports")
    assert not told(start + PROXY.format("10.0.0.4", "7100 7100"), "one port for each host")
    assert not told(start + PROXY.format("$HOSTS", "7100"), "one port for each host")
    wrong = PROXY.format("10.0.0.4", "7100 7100").replace("--decoder-hosts", "--decode-hosts")
    assert told(start + wrong, "has no --decode-hosts")
    short = PROXY.format("10.0.0.4", "7100 7100").replace("--prefiller-ports", "--prefiller-port")
    assert not told(start + short, "has no --")


def test_the_name_of_the_other_pool() -> None:
    both = server("kv_producer") + server("kv_consumer", name="kimi_k2")
    assert told(both, "this decode server is called kimi_k2, and the servers of the other pool kimi")
    assert not told(server("kv_producer") + server("kv_consumer"), "servers of the other pool")
    assert not told(server("kv_producer") + server("kv_consumer", name="$NAME"), "servers of the other pool")


def test_a_number_that_no_release_can_use() -> None:
    start = "pip install vllm-ascend==0.20.0rc1\nvllm serve Eco-Tech/Kimi-K2.6-W4A8 -tp 4 --quantization ascend "
    assert told(start + "--gpu-memory-utilization 92\n", 'does not take "92"')
    assert not told(start + "--gpu-memory-utilization 0.92\n", "does not take")


def test_a_variable_under_another_spelling() -> None:
    start = 'nic_name="eth0"\nexport GLOO_SOCKET_IFNAME=$nic_name\nexport HCCL_SOCKET_IFNAME=${}\n'
    start += "vllm serve Eco-Tech/Kimi-K2.6-W4A8 -tp 8 --quantization ascend\n"
    assert told(start.format("nic_nme"), "$nic_nme is set nowhere, and is empty: the text sets nic_name")
    assert not told(start.format("nic_name"), "is set nowhere")
    assert not told(start.format("nic_name2"), "is set nowhere")
    assert not told(start.format("nic_p0_name"), "is set nowhere")


def test_the_table_of_a_pool_that_is_started_elsewhere() -> None:
    alone = f"```shell\n{PREFILL}```\n"
    assert not told(server("kv_producer") + alone, "and the text starts")
    assert told(server("kv_producer", prefill="4, 8") + alone, "prefill: 4 ranks of 8 devices")
    both = server("kv_producer", decode="2, 8") + server("kv_consumer", decode="2, 8")
    assert told(both + alone, "decode: 2 ranks of 8 devices")


def _servers(text: str) -> list[Command]:
    return [command for command in read_script(text).commands if command.program == "vllm serve"]


def _addresses(text: str) -> list[str]:
    argvs = [[word.text for word in command.argv] for command in _servers(text)]
    return [argv[argv.index("--data-parallel-address") + 1] for argv in argvs if "--data-parallel-address" in argv]


def _templates(*roles: str) -> str:
    config = '{{"kv_connector": "MooncakeConnectorV1", "kv_role": "{}"}}'
    start = "vllm serve /weights/Mine-w8a8 --data-parallel-size $3 --data-parallel-address $5 --tensor-parallel-size $7"
    return "".join(f"```shell\n{start} --kv-transfer-config '{config.format(role)}'\n```\n\n" for role in roles)


def _starts(*hosts: str) -> str:
    start = "python launch_online_dp.py --dp-size 2 --tp-size 8 --dp-address {}\n"
    return "".join(f"```shell\n{start.format(host)}```\n\n" for host in hosts)


def test_each_script_gets_the_address_of_its_own_launcher() -> None:
    text = _templates("kv_producer", "kv_consumer") + _starts("10.0.0.1", "10.0.0.2")
    assert _addresses(text) == ["10.0.0.1", "10.0.0.2"]


def test_nodes_of_one_deployment_share_its_address() -> None:
    hosts = ("10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.2")
    assert _addresses(_templates("kv_producer", "kv_consumer") + _starts(*hosts)) == ["10.0.0.1", "10.0.0.2"]


def test_which_of_several_addresses_one_script_gets_is_not_known() -> None:
    assert _addresses(_templates("kv_producer") + _starts("10.0.0.1", "10.0.0.2")) == ["$5"]


def test_an_address_that_all_starts_of_a_layout_share_is_known() -> None:
    other = "python launch_online_dp.py --dp-size 16 --tp-size 1 --dp-address 10.0.0.3\n"
    text = _templates("kv_producer", "kv_consumer") + _starts("10.0.0.1", "10.0.0.2") + f"```shell\n{other}{other}```\n"
    assert _addresses(text) == ["$5", "10.0.0.3"]
