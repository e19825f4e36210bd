"""Reading a spec: what it says, and that wrong bytes give SpecError and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.plan.request import parse_set
from moonpad.spec.loader import load_spec, parse_spec
from moonpad.spec.schema import Spec
from moonpad.values.errors import MoonpadError, SpecError
from moonpad.values.records import field_names
from moonpad.values.supervision import Policy

TOP = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n'

EXAMPLE = Path(__file__).parents[3] / "examples" / "tiny.toml"


def parse(text: str) -> Spec:
    return parse_spec(text, name="moonpad")


def refused(text: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        parse(text)
    return caught.value


def written(tmp_path: Path, text: str | bytes, name: str = "moonpad.toml") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_the_example() -> None:
    spec = load_spec(EXAMPLE).spec
    assert (spec.name, spec.model, spec.served_name) == ("tiny", "kimi-k2-tiny", "kimi-k2-tiny")
    assert (spec.engine.name, spec.endpoint.port, spec.endpoint.expose) == ("vllm-cpu", 8000, False)
    assert (spec.launch.start_timeout_s, spec.launch.stop_grace_s) == (None, 20.0)
    assert (spec.launch.drain_s, spec.launch.restarts, spec.launch.restart_on_stall) == (30.0, 3, True)
    assert not spec.endpoint.keyed


def test_everything_said() -> None:
    spec = parse(
        'name = "big"\nmodel = "~/models/Kimi-K2-Instruct/"\nserved_name = "kimi"\ngoal = "throughput"\n'
        '[engine]\nname = "vllm-cpu"\nversion = "0.32.0"\npython = "/venv/bin/python"\n'
        '[endpoint]\nport = 9000\nexpose = true\napi_key_env = "MY_KEY"\n'
        "[layout]\ntp = 2\npp = 3\ndp = 4\nep = 8\ndcp = 5\nexpert_parallel = true\n"
        "[settings]\nmax_model_len = 1\nmax_num_seqs = 2\nmax_num_batched_tokens = 3\ngpu_memory_utilization = 0.5\n"
        "kv_cache_bytes = 9000000000\nkv_cache_tokens = 7\n"
        'kv_cache_dtype = "auto"\nkv_cache_gib = 4\nenforce_eager = false\nextra_args = ["--seed", "-1"]\n'
        "option_file = { print_iter_log = true, moe_config = { backend = 'CUTLASS' } }\n"
        'prefix_caching = true\nattention_backend = "FLASHMLA"\nblock_size = 64\nkv_free_fraction = 1.0\n'
        "redundant_experts = 0\ngpu_experts = 0\nhost_expert_layers = 60\ndevice_layers = 62\n"
        'executor = "ray"\ntext_only = true\ndraft = "/models/draft"\ndraft_tokens = 5\n'
        'mm_encoder_tp_mode = "data"\nall2all_backend = "naive"\n'
        "max_loras = 2\nmax_lora_rank = 32\ncpu_offload_gib = 10\n"
        "kv_offload_size = 100.5\nkv_offload_ratio = 2\ncpu_binding = '0-3'\n"
        '[launch]\nstart_timeout = "2m"\nstop_grace = "500ms"\n'
    )
    assert (spec.name, spec.served_name, spec.engine.python) == ("big", "kimi", "/venv/bin/python")
    assert (spec.goal, spec.engine.version) == ("throughput", "0.32.0")
    assert (spec.endpoint.port, spec.endpoint.expose, spec.endpoint.keyed) == (9000, True, True)
    assert spec.layout.model_dump() == {"tp": 2, "pp": 3, "dp": 4, "ep": 8, "dcp": 5, "expert_parallel": True}
    assert spec.settings.model_dump() == {
        "max_model_len": 1,
        "max_num_seqs": 2,
        "max_num_batched_tokens": 3,
        "gpu_memory_utilization": 0.5,
        "kv_cache_dtype": "auto",
        "kv_cache_gib": 4,
        "kv_cache_bytes": 9_000_000_000,
        "kv_cache_tokens": 7,
        "enforce_eager": False,
        "prefix_caching": True,
        "attention_backend": "FLASHMLA",
        "block_size": 64,
        "kv_free_fraction": 1.0,
        "redundant_experts": 0,
        "executor": "ray",
        "text_only": True,
        "draft": "/models/draft",
        "draft_tokens": 5,
        "mm_encoder_tp_mode": "data",
        "all2all_backend": "naive",
        "max_loras": 2,
        "max_lora_rank": 32,
        "cpu_offload_gib": 10,
        "kv_offload_size": 100.5,
        "kv_offload_ratio": 2,
        "gpu_experts": 0,
        "host_expert_layers": 60,
        "device_layers": 62,
        "cpu_binding": "0-3",
        "extra_args": ("--seed", "-1"),
        "option_file": {"print_iter_log": True, "moe_config": {"backend": "CUTLASS"}},
    }
    assert (spec.launch.start_timeout_s, spec.launch.stop_grace_s) == (120.0, 0.5)


HOSTS = '[[hosts]]\naddress = "10.0.0.1"\n[[hosts]]\naddress = "10.0.0.2"\nssh = "far"\n'


def test_several_hosts() -> None:
    first, second = parse(TOP + HOSTS + 'port = 2222\njump = "gate"\nengine_folder = "/opt/vllm"\n').hosts
    assert (first.address, first.ssh) == ("10.0.0.1", None)
    assert (second.ssh, second.port, second.jump, second.engine_folder) == ("far", 2222, "gate", "/opt/vllm")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (HOSTS + "port = 0\n", "number 2 of [[hosts]]: port in [hosts] must be a whole number from 1 to 65535", 8),
        (HOSTS + 'sshh = "a"\n', 'number 2 of [[hosts]]: unknown key "sshh" in [hosts]; did you mean "ssh"?', 8),
        ('[[hosts]]\nssh = "a"\n', "number 1 of [[hosts]]: address in [hosts] is missing", 3),
        (HOSTS.replace('"far"', '"-oProxyCommand=x"'), 'must not start with "-", which would make it an option', 7),
        (HOSTS.replace('"far"', '"a b"'), 'must be a host, like "root@10.0.0.2"', 7),
        (HOSTS.replace('ssh = "far"\n', ""), "number 2 needs ssh", 3),
        ('[[hosts]]\naddress = "a"\nssh = "b"\n', "number 1 is this machine and takes no ssh", 3),
        ("hosts = 3\n", "[hosts] must be a list of tables, [[hosts]]", 3),
    ],
)
def test_wrong_words_on_hosts(text: str, message: str, line: int) -> None:
    error = refused(TOP + text)
    assert message in error.message
    assert error.line == line


def test_a_draft_proposes() -> None:
    assert "has draft_tokens but no draft" in refused(f"{TOP}[settings]\ndraft_tokens = 3\n").message


def test_how_a_run_is_kept_up() -> None:
    """What is not said is as the controller would have it; what is said reaches it under the same names."""
    assert policy_of(parse(TOP)) == Policy()
    spec = parse(
        TOP + '[launch]\nstart_timeout = "2m"\nrestarts = 0\nrestart_window = "10m"\nrestart_backoff = "250ms"\n'
        'restart_on_stall = false\nmin_healthy = "1s"\nstall_after = "2s"\nstall_probe = "3s"\ndrain = "0s"\n'
    )
    assert policy_of(spec) == Policy(120.0, 0, 600.0, 0.25, 1.0, 2.0, 3.0, restart_on_stall=False)
    assert spec.launch.drain_s == 0.0


def policy_of(spec: Spec) -> Policy:
    values = {name: getattr(spec.launch, name) for name in field_names(Policy)}
    return Policy(**{name: value for name, value in values.items() if value is not None})


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("restarts = -1", "restarts in [launch] must be a whole number of 0 or more, found -1"),
        ('restarts = "3"', 'restarts in [launch] must be a whole number of 0 or more, found the text "3"'),
        ("drain = 30", "drain in [launch] must be a duration with its unit, like 10s, 500ms or 2m"),
        ('restart_window = "1 hour"', "restart_window in [launch] must be written like 10s, 500ms or 2m"),
        ("restart_on_stall = 1", "restart_on_stall in [launch] must be true or false, found 1"),
        ("max_restarts = 3", 'unknown key "max_restarts" in [launch]; did you mean "restarts"?'),
        ('shutdown_timeout = "1s"', 'unknown key "shutdown_timeout" in [launch]; did you mean "drain"?'),
        ('backoff = "1s"', 'unknown key "backoff" in [launch]; did you mean "restart_backoff"?'),
        ('stable_after = "1s"', 'unknown key "stable_after" in [launch]; did you mean "min_healthy"?'),
        ('probe_timeout = "1s"', 'unknown key "probe_timeout" in [launch]; did you mean "stall_probe"?'),
        ('stall_aftre = "1s"', 'unknown key "stall_aftre" in [launch]; did you mean "stall_after"?'),
    ],
)
def test_wrong_words_on_restarts(written: str, message: str) -> None:
    error = refused(f"{TOP}[launch]\n{written}\n")
    assert message in error.message
    assert error.line == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[engine]\nname = "vllm-cpu"\nversion = "newest"\n', 'version in [engine] must be a version, like "0.11.0"'),
        ('engine = "vllm-cpu"\ngoal = "speed"\n', 'goal must be "latency", "throughput" or "context"'),
        ('engine = "vllm-cpu"\n[layout]\ntp = 2\nep = 8\nexpert_parallel = true\n', "ep = tp * dp = 2"),
        ('engine = "vllm-cpu"\n[settings]\ngpu_experts = -1\n', "a whole number of 0 or more, found -1"),
        ('engine = "vllm-cpu"\n[settings]\nkv_free_fraction = 0.0\n', "a number above 0, at most 1"),
        ('engine = "vllm-cpu"\n[hardware]\nclusters = "8xH200"\n', 'did you mean "cluster"?'),
    ],
)
def test_what_the_planner_reads_is_checked(text: str, message: str) -> None:
    assert message in refused(f'model = "m"\n{text}').message


def test_an_image_by_its_digest() -> None:
    digest = f"registry.example:5000/vllm/vllm-openai@sha256:{'0a' * 32}"
    assert parse(f'model = "m"\n[engine]\nname = "vllm-cpu"\nimage = "{digest}"\n').engine.image == digest


@pytest.mark.parametrize(
    ("model", "served_name"),
    [
        ("kimi-k2-tiny", "kimi-k2-tiny"),
        ("../models/Kimi-K2-Instruct/", "Kimi-K2-Instruct"),
        (
            "/hub/models--moonshotai--Kimi-K2-Thinking/snapshots/612681931a8c906ddb349f8ad0f582cb552189cd",
            "Kimi-K2-Thinking",
        ),
        ("unsloth/Kimi-K2-Instruct-GGUF:UD-TQ1_0", "Kimi-K2-Instruct-GGUF-UD-TQ1_0"),
        ("/", "model"),
        ("~", "model"),
        ("..", "model"),
        ("/models/--x", "model"),
    ],
)
def test_served_name_of_a_model(model: str, served_name: str) -> None:
    assert parse(f'model = "{model}"\nengine = "vllm-cpu"\n').served_name == served_name


@pytest.mark.parametrize(
    ("file", "name"),
    [("tiny.toml", "tiny"), ("My_run 2.toml", "my-run-2"), ("---.toml", "moonpad"), (f"{'a' * 80}.toml", "a" * 63)],
)
def test_name_of_a_file(file: str, name: str, tmp_path: Path) -> None:
    assert load_spec(written(tmp_path, TOP, file)).spec.name == name


def test_paths_are_relative_to_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    loaded = load_spec(written(tmp_path, TOP))
    assert loaded.resolve("models/a") == tmp_path / "models" / "a"
    assert loaded.resolve("/models/a") == Path("/models/a")
    assert loaded.resolve("~/a") == Path("/home/somebody/a")
    with pytest.raises(SpecError, match="no home folder"):
        loaded.resolve("~nobody-of-that-name/a")


def test_nothing_is_frozen_half() -> None:
    spec = parse(TOP)
    with pytest.raises(ValueError, match="frozen"):
        spec.layout.tp = 2  # type: ignore[misc]


def test_all_problems_at_once_and_the_first_line() -> None:
    error = refused(TOP + "[layout]\ntp = 0\n[settings]\nmax_model_len = 0\n")
    assert error.line == 4
    assert [line.split(": ")[0] for line in error.message.splitlines()] == ["moonpad.toml:4", "moonpad.toml:6"]


def test_many_problems_are_counted_not_all_shown() -> None:
    error = refused(TOP + "".join(f"zzz{number} = 1\n" for number in range(1000)))
    assert len(error.message.splitlines()) == 21
    assert error.message.endswith("and 980 more")


@pytest.mark.parametrize("name", ["gpu_memory_utilization", "kv_free_fraction"])
@pytest.mark.parametrize("written", ["0", "0.0", "-0.1", "1e-9", "0.5", "1", "1.0", "1.0000001", "2", "nan", "inf"])
def test_a_fraction_is_accepted_by_the_command_line_and_the_spec_alike(name: str, written: str) -> None:
    """What `init --set` takes, it writes; what it writes must load."""
    accepted = []
    for accept in (
        lambda: parse_set([f"{name}={written}"]),
        lambda: parse_spec(f"{TOP}[settings]\n{name} = {written}\n", name="a"),
    ):
        try:
            accept()
        except MoonpadError:
            accepted.append(False)
        else:
            accepted.append(True)
    assert accepted[0] == accepted[1] == (0 < float(written) <= 1)
