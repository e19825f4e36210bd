"""Options of an engine that are the keys of a mapping: files of FlagScale, recipes, Ray Serve, values of charts."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.catalog.options import OptionSet, option_set
from moonpad.engines import foreign_names as names
from moonpad.engines.start_names import OPTION_VARIABLE
from moonpad.explain.commands import HereFile, Word
from moonpad.explain.flag_lists import SIZES
from moonpad.explain.input_limits import NESTING
from moonpad.explain.manifests.chart_parts import ServerPart
from moonpad.explain.manifests.layout_keys import flag_of_size, name_of
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.explain.programs import named_by_image, served_by_image
from moonpad.explain.spelling import one_apart
from moonpad.values.records import replace

_MODEL: Final = ("model_source", "modelURL", "model_path", "checkpoint_path", "model_id", "model")
_NO_OPTION: Final = frozenset({"enabled", "name", "engine", "resources", "env", "envs", "env_vars", "environment"})
_LAYOUT: Final = frozenset({"--tensor-parallel-size", "--tp-size", "--tp", "--pipeline-parallel-size"})
_LONG: Final = 14
"""Signs of a name that no other name is like by accident."""
_LEAST: Final = 3
"""Options that a mapping has at least for it to be taken for those of an engine that nothing else names."""
_EXTRA: Final = names.EXTRA_KEY
"""Keys under which more options stand as a list."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,95}", re.ASCII)
_MODEL_KEY: Final = re.compile(r"(?=.*[A-Z])(?=.*[0-9])[A-Za-z][\w.]*-[\w.-]+")
"""`Kimi-K2.5-MXFP4`."""
_BARE_JSON: Final = re.compile(r"(?:^|[\s=])[\[{]+\"")
_QUOTED: Final = re.compile(r"'[^']*'")
_SHELLS: Final = re.compile(r"'[\[{][^']*[\]}]'")
"""JSON in the quotes of a shell: that of the line which a template makes."""
_NOT_GIVEN: Final = re.compile(r"-[0-9]{1,9}(?:\.0)?")
"""A number below zero, by which the values of a chart say that its template leaves the option out."""
_HUB: Final = re.compile(r"^(?:hf|huggingface)://")


class OptionMap(Struct, frozen=True):
    """The arguments, in the spelling of the program's command line. `chart`: a template makes a command of them."""

    program: str
    argv: Sequence[Word]
    image: Word | None = None
    chart: bool = False
    files: Mapping[str, HereFile] = field(default_factory=dict)
    """An option file whose keys stand beside the options."""


def option_commands(
    fields: Fields,
    source: YamlSource,
    model: Word | None = None,
    program_around: str = "",
    *,
    alone: bool = False,
    server: ServerPart | None = None,
) -> Iterator[OptionMap]:
    """For the options in the mapping; `model` and the program are what the keys around it name. `alone`: it is a whole
    file, which may be one of options. `server`: its part with the image."""
    if scalar(fields.get("enabled")).lower() in ("false", "no"):
        return
    image = image_of(fields, source) or (image_of(server.fields, source) if server is not None else None)
    engine = _engine_named(fields) or (_engine_named(server.named) if server is not None else "")
    by_image = served_by_image(image.text) or named_by_image(image.text) if image is not None else ""
    given: dict[str, Node] = {}
    lists: list[Node] = []
    known = by_image or program_around
    own_names = _options_among(fields, known)
    for name, node in fields.items():
        own = source.fields(node)
        if _snake(name) in names.OPTION_KEYS and own:
            given |= source.fields(own.get(engine or names.UNNAMED)) if name == "engine_args_specific" else own
        elif _EXTRA.fullmatch(name) and (items(node) or scalar(node).startswith("-")):
            lists.append(node)
        elif by_image and own and _mostly_options(own, by_image):
            given |= own
    lists += [node for name, node in given.items() if _EXTRA.fullmatch(name)]
    if not given and known and _mostly_options(own_names, known):
        given = own_names
    if given:
        program = names.PROGRAM_OF.get(engine) or by_image or program_around or _program_of(given)
        if engine and not by_image and not _options_among(given, program):
            return  # those of a router or another part beside the engine
    elif by_image and (
        scalar(fields.get("modelURL")) or (lists and _REPOSITORY.fullmatch(scalar(fields.get("model"))))
    ):
        program = by_image  # a model of the production stack's chart, without options, or of another with some more
    elif engine and any(_flag(name) in _LAYOUT for name in fields):
        program = names.PROGRAM_OF[engine]
        recorded = option_set(program)
        given = {name: node for name, node in fields.items() if recorded and recorded.named(_flag(name))}
    elif any(name.startswith("--") for name in fields):
        given, program = dict(fields), _program_of(fields)
    elif alone and _program_of(fields) not in ("", names.OF_ROLES):
        given, program = dict(fields), _program_of(fields)  # a file of options
    else:
        return
    if not program:
        return
    by_chart = by_image != ""
    if {"model", "modelPath"} <= given.keys():
        given = {name: node for name, node in given.items() if name != "model"}
    argv = [*option_words(given, source, program, only_known=by_chart or program_around != "")]
    argv += [word for node in lists for word in list_words(node, source)]
    loading = source.fields(fields.get("model_loading_config"))
    if not any(word.text in ("--model", "--model-path") for word in argv):
        called = [{_snake(name): node for name, node in each.items()} for each in (loading, fields, given)]
        models = (where[name] for where in (loading, fields, *called) for name in _MODEL if name in where)
        at = next((source.word(node) for node in models if scalar(node)), model)
        if at is not None:
            option = "--model-path" if program == names.MODEL_BY_PATH else "--model"
            at = from_hub(at)
            argv = [*((replace(at, text=option, pieces=()),) if program != names.OF_ROLES else ()), at, *argv]
    patched = _patch(fields, source) if argv and program == names.OF_ROLES else None
    files: dict[str, HereFile] = {}
    if patched is not None:
        at = replace(source.word(patched), pieces=())
        file = HereFile(f"{names.PATCH}.yaml", _text_of(patched, source), source.line_of(patched.start_mark))
        argv += (replace(at, text="--config"), replace(at, text=file.path))
        files = {file.path: file}
    if argv:
        chart = by_chart or bool(lists) or alone or program_around != ""
        yield OptionMap(program, argv, image, chart=chart and "modelURL" not in fields, files=files)


def _patch(fields: Fields, source: YamlSource) -> Node | None:
    """Keys of the option file that stand beside the options."""
    node = fields.get(names.PATCH)
    is_block = isinstance(node, MappingNode) and not node.flow_style
    return node if is_block and source.fields(node) else None


def _text_of(node: Node, source: YamlSource) -> str:
    """The lines of a block, without its blanks in front."""
    last = node.end_mark.line - (1 if node.end_mark.column == 0 or node.end_mark.line > node.start_mark.line else 0)
    lines = source.text.split("\n")[node.start_mark.line : last + 1]
    return textwrap.dedent("\n".join(lines))


def model_named(fields: Fields, source: YamlSource) -> Word | None:
    """The model that a mapping names for what stands in it: `model: {name: org/model}`, `model: org/model`,
    `modelArtifacts: {uri: …}`."""
    for key in ("modelURI", "modelURL", "modelUri", "hfModelId", "url", "storageUri"):
        if scalar(fields.get(key)).startswith(("hf://", "huggingface://")):
            return from_hub(source.word(fields[key]))
    for key in ("model", "modelArtifacts", "modelConfig", "model_metadata"):
        inner = source.fields(fields.get(key))
        for name in ("name", "uri", "path", "id", "repo", "repoId", "repo_id", "model_id", "modelId", "hfModelId"):
            value = scalar(inner.get(name))
            if "/" in value and not value.startswith(("pvc:", "s3:", "oci:")):
                return from_hub(source.word(inner[name]))
    beside = ("MODEL_NAME", "MODEL_ID", "MODEL") if any(OPTION_VARIABLE.fullmatch(name) for name in fields) else ()
    named = next((key for key in ("model", *beside) if _REPOSITORY.fullmatch(scalar(fields.get(key)))), None)
    return None if named is None else source.word(fields[named])


def named_by_key(key: str, node: Node, source: YamlSource) -> Word | None:
    """The model of a table by models: its folder in the cache of the hub, else the key, where it is called like one."""
    fields = source.fields(node)
    if not fields or not _MODEL_KEY.fullmatch(key):
        return None
    folder = next((value for value in map(scalar, fields.values()) if value.startswith("models--")), "")
    name = "/".join(folder.split("--")[1:3]) or key
    return replace(source.word(node), text=name, pieces=())


def from_hub(word: Word) -> Word:
    """Without `hf://`."""
    name = _HUB.sub("", word.text)
    return word if name == word.text else replace(word, text=name, pieces=())


def list_words(node: Node, source: YamlSource) -> Iterator[Word]:
    """The items of a list of options for a chart or a tool, which may hold a flag and its values in one; also a text
    of options."""
    if text := scalar(node).replace("\\\n", " "):
        at = source.word(node)
        yield from (replace(at, text=part, pieces=()) for part in shell_words(text))
    for item in items(node):
        word = source.word(item)
        flag, blank, rest = word.text.partition(" ")
        if flag.startswith("-") and blank and "=" not in flag and rest[:1] not in ("{", "[", "'", '"'):
            yield from (replace(word, text=part, pieces=()) for part in word.text.split())
        elif flag.startswith("-") and blank and "=" not in flag:
            yield from (replace(word, text=part, pieces=()) for part in (flag, rest.strip("'\"")))
        elif word.text:
            yield word


def has_bare_json(text: str) -> bool:
    """Whether JSON stands in it without the quotes of a shell around it."""
    return _BARE_JSON.search(_QUOTED.sub("''", text)) is not None


def shell_words(text: str) -> list[str]:
    """As a shell splits it, or at blanks where JSON in it is not quoted, or quotes are not closed."""
    if has_bare_json(text):
        return text.split()
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def image_of(fields: Fields, source: YamlSource) -> Word | None:
    """`image: a/b:tag`, `image: {repository: a/b, tag: x}`, or `repository:` and `tag:` side by side."""
    node = fields.get("image")
    if node is not None and scalar(node):
        return source.word(node)
    where = source.fields(node) or fields
    repository = where.get("repository") or where.get("name")
    if repository is None or "/" not in scalar(repository):
        return None
    tag = scalar(where.get("tag"))
    word = source.word(repository)
    return replace(word, text=f"{word.text}:{tag}", pieces=()) if tag else word


def _engine_named(fields: Fields) -> str:
    for key in ("engine", "backend", "backendFramework", "framework", "inference_engine", "llm_engine", "type"):
        if (name := scalar(fields.get(key)).casefold()) in names.PROGRAM_OF:
            return name
    if "model_loading_config" in fields:  # of Ray Serve
        return names.UNNAMED
    marks = {name: {f"{name}_args", f"{name}_config", f"{name}Config", f"{name}Args"} for name in names.MARKING}
    return next((name for name, keys in marks.items() if keys & fields.keys()), "")


def _options_among(fields: Fields, program: str) -> dict[str, Node]:
    """The keys that are options of the program, or sizes."""
    recorded = option_set(program)
    return {
        name: node
        for name, node in fields.items()
        if name not in _NO_OPTION
        and recorded
        and (_is_option(name, recorded) or _size(name) or _is_slip(_flag(name), recorded))
    }


def _mostly_options(options: Mapping[str, Node], program: str) -> bool:
    recorded = option_set(program)
    known = sum(bool((recorded and _is_option(name, recorded)) or _size(name)) for name in options)
    return (known >= _LEAST or any(map(_size, options))) and 2 * known > len(options)


def _is_option(name: str, recorded: OptionSet) -> bool:
    return recorded.named(_flag(name)) is not None or recorded.named(f"--{name}") is not None


def _size(name: str) -> str:
    """Our name of the size that a key of an engine's options is called after: `tp` too."""
    return name if name in SIZES else name_of(name)


def _program_of(options: Mapping[str, Node]) -> str:
    """The program that knows most of them, "" where none knows enough."""
    flags = [_flag(name) for name in options if name not in _NO_OPTION]

    def knows(program: str) -> int:
        recorded = option_set(program)
        return sum(recorded is not None and recorded.named(name) is not None for name in flags)

    best = max(names.GUESSED, key=knows)
    enough = knows(best) >= _LEAST and 2 * knows(best) > len(flags)
    return best if enough else ""


def _snake(name: str) -> str:
    """`serverArgs` as `server_args`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _flag(name: str) -> str:
    """`tensor_parallel_size` and `tensorParallelSize` are --tensor-parallel-size."""
    return name if name.startswith("-") else f"--{_snake(name).replace('_', '-')}"


def _spelled(name: str, program: str, recorded: OptionSet | None, *, of_chart: bool) -> str:
    """The option that a key stands for, "" where it is a key of a chart alone."""
    flag = _flag(name)
    if recorded is None or recorded.named(flag) is not None:
        return flag
    if recorded.named(f"--{name}") is not None:
        return f"--{name}"
    if size := _size(name) if of_chart else name_of(name):
        return flag_of_size(program, size)
    if "." in flag:  # what stands behind the first dot is a key of the object, whose underscores are its own
        first, dot, path = name.partition(".")
        flag = f"{_flag(first)}{dot}{path}"
    return "" if re.search(r"[a-z][A-Z]", name) else flag


def _is_slip(flag: str, recorded: OptionSet | None) -> bool:
    """Whether it is an option's name but for a letter, or for two that changed places: no chart has such keys."""
    return recorded is not None and len(flag) >= _LONG and any(one_apart(flag, name) for name in recorded.by_name)


def option_words(
    options: Mapping[str, Node], source: YamlSource, program: str, *, only_known: bool = False
) -> Iterator[Word]:
    """`only_known`: other keys are those of a chart."""
    recorded = option_set(program)
    for name, node in options.items():
        at = source.word(node)
        if name in _NO_OPTION or (not isinstance(node, ScalarNode | MappingNode) and not items(node)):
            continue
        flag = "" if _EXTRA.fullmatch(name) else _spelled(name, program, recorded, of_chart=only_known)
        if not flag:
            continue
        option = recorded.named(flag) if recorded is not None else None
        if option is None and only_known and not _is_slip(flag, recorded):
            continue
        value = scalar(node)
        if only_known and _NOT_GIVEN.fullmatch(value):
            continue
        key = replace(at, text=flag, pieces=())
        if isinstance(node, MappingNode):
            yield from (key, replace(at, text=as_json(node, source), pieces=()))
        elif items(node):
            yield from (key, *(source.word(item) for item in items(node)))
        elif value.lower() in ("true", "yes") and (option is None or option.nargs == "0"):
            yield key
        elif value.lower() in ("false", "no") and (option is None or option.nargs == "0"):
            continue
        elif value:
            yield from (
                key,
                replace(at, text=value[1:-1], pieces=()) if only_known and _SHELLS.fullmatch(value) else at,
            )
        elif option is not None and option.nargs == "0" and at.text == value:
            yield key


def as_json(node: Node, source: YamlSource) -> str:
    """A mapping as the text of JSON."""
    return json.dumps(_plain(node, source))


def _plain(node: Node, source: YamlSource, depth: int = 0) -> object:
    if isinstance(node, MappingNode) and depth < NESTING:
        return {name: _plain(value, source, depth + 1) for name, value in source.fields(node).items()}
    if isinstance(node, SequenceNode) and depth < NESTING:
        return [_plain(item, source, depth + 1) for item in items(node)]
    text = scalar(node)
    source.whole.budget.work(4, "its YAML")
    if node.tag.endswith((":int", ":float", ":bool", ":null")):
        try:
            return json.loads(text.lower() or "null")
        except ValueError:
            return text
    return text
