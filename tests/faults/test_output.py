"""Nothing that leaves the program holds a key, or a character that a terminal obeys; whoever sends it.

Each command is a process of its own with an empty home. What it prints and every file that it writes is searched for
the key in each of its spellings.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.drawn import some
from tests.faults.hostile_server import CODES, hostile, spellings

KEYS = {"plain": "sk-CanAry-93b1f0c7d2e84a56", "signs": "k~Q7\"<c>&'y/+%9=zQ7\\n8"}
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
MODES = ("answers", "error401", "error404", "error429", "error500", "sse-error", "broken", "cut")


@dataclass
class Canary:
    home: Path
    key: str
    leaks: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    def __call__(self, *argv: str, typed: str = "") -> subprocess.CompletedProcess[bytes]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "CANARY_KEY": self.key,
            **self.env,
        }
        done = subprocess.run(
            (sys.executable, "-m", "moonpad", *argv),
            env=env,
            cwd=self.home,
            input=typed.encode(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        name = " ".join(argv)[:60]
        for stream, data in (("stdout", done.stdout), ("stderr", done.stderr)):
            self.look(f"{stream} of {name}", data)
            if hidden := FORBIDDEN.findall(data.decode("utf-8", "surrogateescape")):
                self.leaks.append(f"{sorted(set(map(ascii, hidden)))} in {stream} of {name}")
        assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
        if "--json" in argv and done.stdout:
            json.loads(done.stdout, parse_constant=pytest.fail)
        return done

    def look(self, where: str, data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape").casefold()
        self.leaks += [f"{how} in {where}" for how, form in spellings(self.key).items() if form.casefold() in text]

    def files(self, *exceptions: str) -> list[Path]:
        """Looks into every file that was written; the files of these names hold the key by purpose."""
        files = [path for path in self.home.rglob("*") if path.is_file() and path.name not in exceptions]
        for path in files:
            self.look(
                str(path.relative_to(self.home)), path.read_bytes() + str(path).encode("utf-8", "surrogateescape")
            )
            if path.suffix == ".xml":
                ET.parse(path)  # noqa: S314 - of our own
            elif path.suffix == ".json":
                json.loads(path.read_bytes())
            elif path.suffix == ".jsonl":
                [json.loads(line) for line in path.read_bytes().splitlines()]
        return files


@pytest.fixture(params=KEYS)
def canary(request: pytest.FixtureRequest, tmp_path: Path) -> Canary:
    return Canary(tmp_path, KEYS[request.param])


def asked(canary: Canary, url: str, *, wide: bool) -> None:
    """The verbs that ask an endpoint, and those that read what they wrote."""
    at = ("--url", url, "--key-env", "CANARY_KEY")
    few = ("--input-tokens", "8", "--output-tokens", "4", "--requests", "2")
    canary("chat", *at, "--once", "hello")
    canary("verify", *at, "--only", "health", "chat", "--out", "verdict", "--junit", "junit.xml")
    canary("bench", *at, *few, "--warmup", "1", "--out", "a")
    canary("report", "a")
    if not wide:
        return
    canary("chat", *at, "--demo-tool", typed="one\n/nonsense\ntwo\n")
    canary("verify", *at, "--out", "all")
    canary("verify", *at, "--json", "--repeat", "2")
    canary("verify", *at, "--vendor", "own", "--out", "vendor.jsonl")
    canary("verify", *at, "--loop", "--out", "loop")
    canary("verify", *at, "--numerics")
    canary("verify", *at, "--numerics", "--record", "recording.json")
    canary("bench", *at, *few, "--json", "--out", "b")
    canary("bench", *at, "--resume", "b")
    canary("bench", *at, *few, "--sweep", "concurrency=1,2", "--out", "sweep")
    canary("bench", *at, *few, "--sweep", "concurrency=1,2", "--out", "sweep")
    canary("bench", *at, *few, "--repeat", "2", "--out", "repeat")
    for verb in (
        ("compare", "a", "b"),
        ("compare", "a", "b", "--json"),
        ("report", "sweep"),
        ("runs", "."),
        ("runs", ".", "--json"),
    ):
        canary(*verb)


def test_an_endpoint_that_sends_the_key_back(tmp_path: Path) -> None:
    canary = Canary(tmp_path, KEYS["signs"])
    with hostile("answers", canary.key) as url:
        asked(canary, url, wide=False)
    assert canary.files()
    assert canary.leaks == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", some(MODES))
def test_every_verb_at_every_fault(canary: Canary, mode: str) -> None:
    with hostile(mode, canary.key) as url:
        asked(canary, url, wide=True)
    assert canary.files()
    assert canary.leaks == []


# --- secrets in the words, the environment, a script, a spec ---------------------------------------------------------


def scripts(key: str) -> dict[str, str]:
    word = "'" + key.replace("'", "'\\''") + "'"
    serve = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"
    return {
        "option.sh": f"{serve} --api-key {word} --nonsense --max-model-len 4096\n",
        "equals.sh": f"{serve} --api-key={word} --nonsense\n",
        "variable.sh": f"export VLLM_API_KEY={word}\nHF_TOKEN={word} {serve} --nonsense\n",
        "curl.sh": f"{serve} --nonsense &\ncurl -H 'Authorization: Bearer '{word} http://me:{word}@h/v1/models\n",
        "compose.yaml": "services:\n  v:\n    image: vllm/vllm-openai\n    environment:\n      VLLM_API_KEY: "
        + json.dumps(key)
        + f"\n    command: {json.dumps(['--model', 'moonshotai/Kimi-K2-Thinking', '--nonsense', '--api-key', key])}\n",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", scripts("x"))
def test_a_script_with_a_key_in_it(tmp_path: Path, name: str) -> None:
    canary = Canary(tmp_path, "sk-CanAry-93b1f0c7d2e84a56", env={"CANARY_KEY": ""})
    text = scripts(canary.key)[name]
    (tmp_path / name).write_text(text)
    for argv in (("--file", name), ("--file", name, "--json"), ("--file", name, "--on", "8xH200")):
        assert canary("explain", *argv).returncode in (0, 3)  # an option that older releases may have is a warning
    assert canary("explain", "--file", "-", typed=text).returncode in (0, 2, 3)  # a compose file is known by its name
    if name == "option.sh":
        assert canary("explain", "--", *text.replace("'", "").split()).returncode in (0, 3)
    assert canary.leaks == []


KEYED = 'model = "moonshotai/Kimi-K2-Thinking"\nengine = "vllm"\n[hardware]\ncluster = "8xH200"\n[endpoint]\n'
WRONG = (
    'api_key = "{}"',
    'api_key_env = "{}"',
    'port = "{}"',
    "{} = 1",
    "'''{}",
    'api_key_file = "{}"\nport = 99999999',
)


@pytest.mark.slow
@pytest.mark.parametrize("line", WRONG)
def test_a_spec_with_a_key_in_it(tmp_path: Path, line: str) -> None:
    canary = Canary(tmp_path, "sk-CanAry-93b1f0c7d2e84a56")
    (tmp_path / "a.toml").write_text(KEYED + line.format(canary.key) + "\n")
    for verb in (
        ("plan",),
        ("plan", "--json"),
        ("render", "--to", "shell", "--out", "o"),
        ("up",),
        ("verify",),
        ("bench",),
    ):
        assert canary(verb[0], "a.toml", *verb[1:]).returncode in (2, 3)
    canary.files("a.toml")
    assert canary.leaks == []


@pytest.mark.slow
def test_a_key_among_the_words(canary: Canary) -> None:
    key = canary.key
    for argv in (
        ("plan", "--model", key, "--on", "8xH200"),
        ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", key),
        ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--set", f"tp={key}"),
        ("init", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "-o", "no/a.toml"),
        ("init", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200"),
        ("verify", "--api-key", key),
        ("bench", "--url", f"http://{key}/v1"),
        ("status", key),
        ("logs", key),
        (key,),
        ("runs", key),
        ("compare", key, key),
        ("engine", "install", key),
    ):
        canary(*argv)
    canary.files()
    assert canary.leaks == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["answers", "error401"])
def test_a_password_in_the_url(tmp_path: Path, mode: str) -> None:
    canary = Canary(tmp_path, "CanAry-93b1f0c7d2e84a56", env={"CANARY_KEY": ""})
    with hostile(mode, canary.key) as url:
        at = ("--url", url.replace("http://", f"http://me:{canary.key}@"))
        canary("chat", *at, "--once", "hello")
        canary("verify", *at, "--only", "health", "models", "--json", "--out", "verdict")
        canary("bench", *at, "--requests", "1", "--warmup", "0", "--output-tokens", "4", "--out", "a")
        canary("bench", *at, "--resume", "a")
    canary.files()
    assert canary.leaks == []


@pytest.mark.slow
def test_the_environment_is_known(tmp_path: Path) -> None:
    """Whatever echoes it: here the server, which is asked without a key."""
    names = ("MOONPAD_API_KEY", "OPENAI_API_KEY", "HF_TOKEN", "VLLM_API_KEY", "MY_PASSWORD")
    canary = Canary(tmp_path, "CanAry-93b1f0c7d2e84a56")
    with hostile("error500", canary.key) as url:
        for name in names:
            canary.env = {"CANARY_KEY": "", name: canary.key}
            canary("chat", "--url", url, "--once", "hello")
        canary.env = {"CANARY_KEY": "", "HTTPS_PROXY": f"http://me:{canary.key}@proxy"}
        canary("chat", "--url", url, "--once", "hello")
    assert canary.leaks == []


def test_a_key_that_is_too_short_is_said_so(tmp_path: Path) -> None:
    canary = Canary(tmp_path, "model")
    with hostile("error401", canary.key) as url:
        done = canary("chat", "--url", url, "--model", "m", "--key-env", "CANARY_KEY", "--once", "hello")
    assert b"Bearer ***" in done.stderr
    assert b"Bearer model" not in done.stderr
    assert b"so short, or so common a word" in done.stderr


# --- control characters ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_names_with_terminal_codes(tmp_path: Path) -> None:
    home = tmp_path / "h\x1b[31m\u202e\n[bold]"
    home.mkdir()
    canary = Canary(home, "sk-CanAry-93b1f0c7d2e84a56")
    name = CODES.replace("/", "_") + "\udcff"
    (home / f"{name}.toml").write_text(KEYED + 'name = "\\u001b[31m"\n')
    (home / "good.toml").write_text(KEYED.replace("[endpoint]\n", ""))
    (home / f"{name}.sh").write_text(f"vllm serve '{CODES}' --nonsense{CODES} x --tensor-parallel-size 8\n")
    (home / name).mkdir()
    for argv in (
        *(
            ("plan", f"{name}.toml"),
            ("plan", "--model", name, "--on", "8xH200"),
            ("plan", "--model", "a", "--on", name),
        ),
        *(("up", f"{name}.toml"), ("status", name), ("logs", name), ("down", name), ("verify", f"{name}.toml")),
        *(("explain", "--file", f"{name}.sh"), ("explain", "--file", f"{name}.sh", "--json"), ("runs", name)),
        *(("explain", "--", "vllm", "serve", CODES, f"--x{CODES}"), (name,), ("plan", f"--{name}"), ("report", name)),
        *(("checkpoint", "show", name), ("compare", name, name), ("engine", "install", name), ("bench", "--url", name)),
        ("init", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "-o", f"{name}/a.toml"),
        ("init", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "-o", f"{name}.2.toml", "--json"),
        ("render", "good.toml", "--to", "shell", "--out", f"{name}/o"),
    ):
        canary(*argv)
    assert canary.leaks == []


def test_a_command_to_copy_is_one_that_a_shell_reads_back(tmp_path: Path) -> None:
    canary = Canary(tmp_path, "sk-CanAry-93b1f0c7d2e84a56")
    name = "a b;$(touch x)\x1b[31m\u202e'\\\n\t\x85.toml"
    done = canary("init", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "-o", name)
    (line,) = [line for line in done.stderr.decode().splitlines() if line.startswith("Next: ")]
    quoted = line.partition("set `model` in ")[2].partition(" to the weights")[0]
    shell = subprocess.run(
        ("bash", "-c", f"printf %s {quoted}"), env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=True
    )
    assert shell.stdout.decode() == name
    assert (tmp_path / name).is_file()


def test_what_languages_write_stays(tmp_path: Path) -> None:
    text = "中文　👩🏽‍💻 🏳️‍🌈 می‌خواهم العربية हिन्दी क्‍ष é"
    canary = Canary(tmp_path, "sk-CanAry-93b1f0c7d2e84a56")
    done = canary("status", text)
    assert text in done.stderr.decode()
