"""Specs of `moonpad.toml` that are long, deep, or of odd values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

HEAD = 'model = "moonshotai/Kimi-K2-Thinking"\nengine = "vllm"\n'
ON = '[hardware]\ncluster = "8xH200"\n'

SPECS: Mapping[str, Callable[[], str]] = {
    "tables-20000": lambda: HEAD + "".join(f"[a{number}]\n" for number in range(20_000)),
    "tables-8000": lambda: HEAD + "".join(f"[a{number}]\n" for number in range(8_000)),
    "hosts-6000": lambda: HEAD + "[[hosts]]\n" * 6_000,
    "keys-5000": lambda: HEAD + "".join(f"k{number} = 1\n" for number in range(5_000)),
    "setting-keys-5000": lambda: HEAD + "[settings]\n" + "".join(f"k{number} = 1\n" for number in range(5_000)),
    "digits-4000": lambda: HEAD + "[settings]\nmax_num_seqs = " + "9" * 4_000 + "\n",
    "digits-90000": lambda: HEAD + "[settings]\nmax_num_seqs = " + "9" * 90_000 + "\n",
    "digits-900000": lambda: HEAD + "[settings]\nmax_num_seqs = " + "9" * 900_000 + "\n",
    "hex": lambda: HEAD + "[settings]\nmax_num_seqs = 0x" + "f" * 90_000 + "\n",
    "fraction": lambda: HEAD + "[settings]\ngpu_memory_utilization = 0." + "9" * 90_000 + "\n",
    "exponent": lambda: HEAD + "[settings]\ngpu_memory_utilization = 1e" + "9" * 90_000 + "\n",
    "long-key": lambda: HEAD + "k" * 90_000 + " = 1\n",
    "long-text": lambda: HEAD + '[endpoint]\nserved_name = "' + "m" * 90_000 + '"\n',
    "long-model": lambda: f'model = "{"m" * 90_000}"\nengine = "vllm"\n',
    "long-cluster": lambda: HEAD + f'[hardware]\ncluster = "{"8x" * 40_000}"\n',
    "big-cluster": lambda: HEAD + f'[hardware]\ncluster = "{"9" * 30_000}xH200"\n',
    "surrogate-escape": lambda: HEAD + '[endpoint]\nserved_name = "\\ud800"\n',
    "deep-arrays": lambda: HEAD + "k = " + "[" * 40_000 + "]" * 40_000 + "\n",
    "deep-tables": lambda: HEAD + "k = " + "{a=" * 20_000 + "1" + "}" * 20_000 + "\n",
    "deep-900": lambda: HEAD + "k = " + "[" * 300 + "]" * 300 + "\n",
    "dotted": lambda: HEAD + ".".join("a" * 8_000) + " = 1\n",
    "dotted-15": lambda: HEAD + "".join(".".join(f"k{n}x{part}" for part in range(15)) + " = 1\n" for n in range(1200)),
    "open-string": lambda: HEAD + 'k = """' + "x\n" * 40_000,
    "open-array": lambda: HEAD + "k = [\n" + "1,\n" * 30_000,
    "wrong-last": lambda: HEAD + "".join(f"k{number} = 1\n" for number in range(8_000)) + "= 2\n",
    "wrong-type-after-array": lambda: HEAD + "k = [\n" + "1,\n" * 20_000 + "]\nport = 1\n",
    "comments": lambda: "#\n" * 45_000 + "model = 1\n",
    "nan": lambda: HEAD + ON + "[settings]\ngpu_memory_utilization = nan\n",
    "inf": lambda: HEAD + ON + "[settings]\nmax_model_len = inf\n",
    "negative": lambda: HEAD + ON + "[settings]\nmax_model_len = -9223372036854775809\n",
    "beyond-64": lambda: HEAD + ON + "[settings]\nmax_model_len = 18446744073709551616\n",
    "port": lambda: HEAD + ON + "[endpoint]\nport = 18446744073709551616\n",
    "date": lambda: HEAD + ON + "[settings]\nmax_model_len = 2020-01-01T00:00:00Z\n",
    "bad-date": lambda: HEAD + "k = 2020-99-99\n",
    "duration": lambda: HEAD + ON + '[launch]\nstart_timeout = "999999999h"\n',
    "nul-in-path": lambda: HEAD + ON + '[endpoint]\napi_key_file = "a\\u0000b"\n',
    "long-path": lambda: HEAD + ON + f'[endpoint]\napi_key_file = "{"p" * 5_000}"\n',
    "long-model-path": lambda: f'model = "/{"m" * 300}"\nengine = "vllm"\n' + ON,
    "deep-model-path": lambda: f'model = "{"m/" * 3_000}"\nengine = "vllm"\n' + ON,
    "home-model": lambda: 'model = "~nobodyatall/x"\nengine = "vllm"\n' + ON,
    "long-home": lambda: f'model = "~{"n" * 5_000}/x"\nengine = "vllm"\n' + ON,
    "extra-args": lambda: HEAD + ON + "[settings]\nextra_args = [" + '"--a",' * 15_000 + "]\n",
    "env": lambda: HEAD + ON + "[settings.env]\n" + "".join(f'K{number} = "1"\n' for number in range(5_000)),
    "long-name": lambda: f'name = "{"n" * 90_000}"\n' + HEAD,
    "engine-image": lambda: (
        'model = "moonshotai/Kimi-K2-Thinking"\n[engine]\nname = "vllm"\nimage = "' + "i" * 90_000 + '"\n'
    ),
    "engine-version": lambda: (
        'model = "moonshotai/Kimi-K2-Thinking"\n[engine]\nname = "vllm"\nversion = "' + "9." * 9_000 + '"\n'
    ),
    "engine-version-digits": lambda: (
        'model = "moonshotai/Kimi-K2-Thinking"\n[engine]\nname = "vllm"\nversion = "' + "9" * 9_000 + '"\n'
    ),
}
