"""Prints an engine's own argument parser, action by action, as JSON. Run by the Python of an engine's environment.

    python ask.py PROGRAM SOURCE [STAND-IN ...]

SOURCE is an unpacked source tree, or "installed" for the engine that this Python has. Only the parser is built: no
model is read and nothing is served. A default that the parser takes from the machine is that of this one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType
from typing import Any, get_args

HERE = str(Path(__file__).resolve().parent)
sys.path[:] = [path for path in sys.path if str(Path(path).resolve()) != HERE]


def type_name(converter: Any) -> str:
    """`int`, `float`, `json` or `text`, from an argparse `type`; vLLM wraps them in functions, one inside the other."""
    if converter in (int, float):
        return str(converter.__name__)
    if converter is json.loads or not isinstance(converter, FunctionType):
        return "json" if converter is json.loads else "text"
    if "human_readable_int" in converter.__qualname__ or converter.__name__ in ("nullable_int", "positive_int"):
        return "int"
    if converter.__name__ in ("union_dict_and_str", "parse_dataclass") or "json" in converter.__name__:
        return "json"
    inside = {type_name(cell.cell_contents) for cell in converter.__closure__ or ()} - {"text"}
    return inside.pop() if len(inside) == 1 else "text"


def plain(value: Any) -> Any:
    if value is argparse.SUPPRESS or value is None or isinstance(value, (bool, int, float, str)):
        return None if value is argparse.SUPPRESS else value
    if isinstance(value, (list, tuple)) and all(isinstance(item, (bool, int, float, str)) for item in value):
        return list(value)
    if hasattr(value, "value") and isinstance(value.value, (int, float, str)):  # an Enum
        return value.value
    return "computed"


def negative(action: argparse.Action, name: str) -> bool:
    """Whether this spelling of a switch turns it off."""
    if hasattr(action, "negative_option_strings"):  # vLLM 0.33: --disable-x beside --no-enable-x
        return name in action.negative_option_strings
    return isinstance(action, argparse.BooleanOptionalAction) and name.startswith("--no-")


def described(action: argparse.Action, accepted: list[str]) -> dict[str, Any]:
    """`accepted` are the spellings that the parser takes; `action.option_strings` are those that its help shows."""
    choices = action.choices
    return {
        "names": [name for name in accepted if not negative(action, name)],
        "negations": [name for name in accepted if negative(action, name)],
        "dest": action.dest,
        "action": type(action).__name__,
        "nargs": action.nargs,
        "type": type_name(action.type),
        "choices": None if choices is None else [str(plain(choice)) for choice in choices],
        "default": plain(action.default),
        "hidden": action.help is argparse.SUPPRESS,
        "deprecated": bool(getattr(action, "deprecated", False)) or "Deprecated" in type(action).__name__,
    }


def answer_of(parser: argparse.ArgumentParser, version: str) -> dict[str, Any]:
    accepted: dict[int, list[str]] = {}
    for name, action in parser._option_string_actions.items():
        accepted.setdefault(id(action), []).append(name)
    marked = {id(action) for action in getattr(parser, "_deprecated", ())}
    actions = [
        described(action, accepted[id(action)]) | ({"deprecated": True} if id(action) in marked else {})
        for action in parser._actions
        if id(action) in accepted
    ]
    return {
        "version": version,
        "prefixes": parser.allow_abbrev,
        "positionals": [action.dest for action in parser._actions if not action.option_strings],
        "actions": actions,
        "values": {},
        "environment": [],
    }


def names_or_none(ask: Callable[[], Iterable[Any]]) -> list[str] | None:
    """The names of a register, None where this release keeps it elsewhere or has none."""
    with contextlib.suppress(ImportError, AttributeError, KeyError):
        return sorted(str(getattr(name, "name", name)) for name in ask())
    return None


def vllm_values() -> dict[str, list[str]]:
    def tool_parsers() -> Iterable[Any]:
        try:
            from vllm.tool_parsers import ToolParserManager
        except ImportError:
            from vllm.entrypoints.openai.tool_parsers import ToolParserManager
        listed = getattr(ToolParserManager, "list_registered", None)
        return listed() if listed else ToolParserManager.tool_parsers

    def reasoning_parsers() -> Iterable[Any]:
        from vllm.reasoning import ReasoningParserManager

        listed = getattr(ReasoningParserManager, "list_registered", None)
        return listed() if listed else ReasoningParserManager.reasoning_parsers

    def load_formats() -> Iterable[Any]:
        from vllm.model_executor.model_loader import _LOAD_FORMAT_TO_MODEL_LOADER

        return _LOAD_FORMAT_TO_MODEL_LOADER

    def attention_backends() -> Iterable[Any]:
        try:
            from vllm.v1.attention.backends.registry import AttentionBackendEnum as Backends
        except ImportError:
            try:
                from vllm.attention.backends.registry import AttentionBackendEnum as Backends
            except ImportError:
                try:
                    from vllm.attention.backends.registry import _Backend as Backends
                except ImportError:
                    from vllm.platforms.interface import _Backend as Backends
        return Backends

    def quantizations() -> Iterable[Any]:
        from vllm.model_executor.layers.quantization import QuantizationMethods

        return get_args(QuantizationMethods)

    questions = {
        "tool_call_parser": tool_parsers,
        "reasoning_parser": reasoning_parsers,
        "load_format": load_formats,
        "attention_backend": attention_backends,
        "quantization": quantizations,
    }
    return {dest: names for dest, ask in questions.items() if (names := names_or_none(ask))}


def vllm_parsers() -> tuple[Any, Any]:
    """The parsers of `vllm serve` and `vllm bench serve`."""
    try:
        from vllm.utils.argparse_utils import FlexibleArgumentParser
    except ImportError:
        from vllm.utils import FlexibleArgumentParser
    import vllm.entrypoints.cli.benchmark.main as bench
    import vllm.entrypoints.cli.serve as serve

    parser = FlexibleArgumentParser(prog="vllm")
    commands = parser.add_subparsers(dest="subparser")
    for command in serve.cmd_init() + bench.cmd_init():
        command.subparser_init(commands)
    for action in commands.choices["bench"]._actions:
        if action.dest == "bench_type":
            return commands.choices["serve"], action.choices["serve"]
    raise LookupError("no `bench serve`")


def ask_vllm() -> dict[str, Any]:
    sys.argv = ["vllm", "bench"]  # the parsers below `bench` are only built when it is asked for
    import vllm
    from vllm import envs

    serve, bench = vllm_parsers()
    answer = answer_of(serve, vllm.__version__)
    answer["environment"] = sorted(envs.environment_variables)
    answer["values"] = vllm_values()
    return {"vllm serve": answer, "vllm bench serve": answer_of(bench, vllm.__version__)}


def ask_sglang() -> dict[str, Any]:
    import sglang
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    answer = answer_of(parser, getattr(sglang, "__version__", ""))
    with contextlib.suppress(ImportError):
        from sglang.srt import environ

        answer["environment"] = sorted(name for name in vars(environ.Envs) if name.isupper() and name[0] != "_")
    return {"sglang": answer}


def ask_sglang_kt() -> dict[str, Any]:
    """A fork that installs the same package as SGLang."""
    return {"sglang-kt": ask_sglang()["sglang"]}


def ask_router() -> dict[str, Any]:
    from sglang_router.router_args import RouterArgs

    parser = argparse.ArgumentParser()
    RouterArgs.add_cli_args(parser, use_router_prefix=False)
    return {"sglang-router": answer_of(parser, "")}


def ask_vllm_router() -> dict[str, Any]:
    from vllm_router.router_args import RouterArgs

    parser = argparse.ArgumentParser()
    RouterArgs.add_cli_args(parser, use_router_prefix=False)
    return {"vllm-router": answer_of(parser, "")}


ASKED = {
    "vllm": ask_vllm,
    "sglang": ask_sglang,
    "sglang-kt": ask_sglang_kt,
    "sglang-router": ask_router,
    "vllm-router": ask_vllm_router,
}


def main() -> None:
    program, source, *stand_ins = sys.argv[1:]
    os.environ.update(VLLM_PLUGINS="", VLLM_LOGGING_LEVEL="ERROR")
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the engine prints is not the answer
    if source != "installed":
        prepare(source, stand_ins)
    try:
        answer = ASKED[program]()
    except ModuleNotFoundError as error:
        answer = {"missing": error.name}
    json.dump(answer, out)
    out.flush()
    os._exit(0)  # threads of what was imported do not matter


def prepare(source: str, names: list[str]) -> None:
    # Read before the stand-ins stand: these look for optional packages while they are imported.
    with contextlib.suppress(ImportError):
        import torch._dynamo  # noqa: F401
        from transformers import AutoConfig, AutoModelForCausalLM, AutoProcessor, AutoTokenizer  # noqa: F401
    sys.path.insert(0, HERE)
    import stand_ins

    sys.path.remove(HERE)
    stand_ins.install(str(Path(source).resolve()), names)


if __name__ == "__main__":
    main()
