"""`$(NAME)` in the arguments and the env of a container: Kubernetes fills in what the container's own env has, in an$
env what stands above it, and nothing else; a shell's `$NAME` it leaves as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.engines.surrounding_names import GRAPH
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_NAMED: Final = re.compile(r"(?<!\$)\$\(([A-Z_][A-Z0-9_]*)\)")
_OF_SHELL: Final = re.compile(r"(?<![\$\\\w])\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*)(?![\w]))")
_FILLED_BEFORE: Final = re.compile(r"\benvsubst\b|\bgomplate\b|\bj2\b")
"""Programs that fill in a shell's variables before Kubernetes gets the file."""
_OF_OTHERS: Final = re.compile(
    r"_SERVICE_(?:HOST|PORT)(?:_\w+)?$|_PORT_\d+_|^(?:KUBERNETES|LWS|RBG|JOB|POD|RAY|PET|DYN|DYNAMO|GROVE|NATS|ETCD)_"
    r"|^(?:MODEL_EXPRESS_URL|PROMETHEUS_ENDPOINT|ENTRY_ADDRESS|GROUP_SIZE|WORKER_INDEX)$"
)
"""Variables that Kubernetes itself or a controller sets (the last three: Kthena's)."""
_GRAPH: Final = re.compile(rf"^kind:[ \t]*{GRAPH}\b", re.MULTILINE)
_OF_GRAPHS: Final = ("env", "envs")
"""Lists of a graph and of its services, which the operator puts into the env of each container below."""
_ENVS: Final = re.compile(r"^[ \t-]*envs[ \t]*:", re.MULTILINE)
_FROM_ELSEWHERE: Final = re.compile(
    r"\{\{|^[ \t-]*(?:envFrom|extraEnvs?|extraEnvVars|commonEnv|globalEnv|envFromSecret|envFromSecrets)[ \t]*:"
    r"|^kind:[ \t]*\w*Runtime\b|\bkserve\.io|\bargoproj\.io|\btekton\.dev|\bserving\.knative",
    re.MULTILINE,
)
"""What gives a container more variables than its env shows, and controllers that replace names themselves."""
_SHELL: Final = re.compile(r"(?:.*/)?(?:ba|z|da|a)?sh")
_SHOWN: Final = 5
_DEEPEST: Final = 40
_LARGEST: Final = 200_000


def variable_not_set(case: Case) -> Iterator[Remark]:
    """The program gets the letters themselves."""
    script = case.script
    if not script.objects or not is_first(case.commands, script):
        return
    for first, last in script.objects:
        text = "\n".join(script.lines[first - 1 : last])
        script.budget.work(len(text) // 100, "its YAML")
        if not (_NAMED.search(text) or _OF_SHELL.search(text)) or _FROM_ELSEWHERE.search(text) or len(text) > _LARGEST:
            continue
        graph = _GRAPH.search(text) is not None
        if not graph and _ENVS.search(text):
            continue
        script.budget.work(len(text) // 4, "its YAML")
        try:
            documents = list(yaml.compose_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        except (yaml.YAMLError, RecursionError):
            continue
        for document in documents:
            yield from _in_node(document, first, case, 0, frozenset() if graph else None)


def _in_node(node: Node | None, first: int, case: Case, depth: int, given: frozenset[str] | None) -> Iterator[Remark]:
    """`given`: what a graph gives to the containers below; none for every other object."""
    if depth > _DEEPEST:
        return
    if isinstance(node, SequenceNode):
        for item in node.value:
            yield from _in_node(item, first, case, depth + 1, given)
    elif isinstance(node, MappingNode):
        fields = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
        if "image" in fields and ("args" in fields or "command" in fields or "env" in fields):
            yield from _of_container(fields, first, case, given or frozenset())
        if given is not None:
            given = given.union(*(_names_in(fields.get(each)) for each in _OF_GRAPHS))
        for value in fields.values():
            yield from _in_node(value, first, case, depth + 1, given)


def _names_in(env: Node | None) -> set[str]:
    return {
        value.value
        for item in (env.value if isinstance(env, SequenceNode) else ())
        for key, value in (item.value if isinstance(item, MappingNode) else ())
        if isinstance(key, ScalarNode) and key.value == "name"
    }


def _of_container(fields: Mapping[str, Node], first: int, case: Case, given: frozenset[str]) -> Iterator[Remark]:
    program, arguments = _words(fields.get("command")), _words(fields.get("args"))
    env = fields.get("env")
    if env is not None and not isinstance(env, SequenceNode):
        return
    values, named = _values_in(env), _names_in(env) | given
    by_shell = any(_SHELL.fullmatch(word.value) for word in (*program, *arguments[:1]))
    yield from _of_env(values, first, case)
    yield from _as_in_shell(values, () if by_shell else (*program, *arguments), first, case)
    if by_shell:
        return  # a command in its place, for the shell
    missing: dict[str, ScalarNode] = {}
    for word in (*program, *arguments):
        for name in _NAMED.findall(word.value):
            if name not in named and not _OF_OTHERS.search(name):
                missing.setdefault(name, word)
    if not missing:
        return
    container, line = fields.get("name"), next(iter(missing.values())).start_mark.line
    of = f" of the container {shortened(container.value, 40)}" if isinstance(container, ScalarNode) else ""
    written = ", ".join(f"$({name})" for name in [*missing][:_SHOWN])
    is_are, it = ("is", "it") if len(missing) == 1 else ("are", "them")
    message = f"{case.script.where(first + line)}: {written} {is_are} not in the env{of}: Kubernetes leaves {it} as "
    message += "written, and the program gets these letters"
    remedy = f"add {', '.join([*missing][:_SHOWN])} to that env, or leave the option out"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, written, message, remedy)
    yield Remark(remark.finding, command=None)


def _values_in(env: Node | None) -> dict[str, ScalarNode | None]:
    """By the names of the variables, in their order; None for one that is taken from somewhere."""
    found: dict[str, ScalarNode | None] = {}
    for item in env.value if isinstance(env, SequenceNode) else ():
        pairs = item.value if isinstance(item, MappingNode) else ()
        fields = {key.value: value for key, value in pairs if isinstance(key, ScalarNode)}
        name, value = fields.get("name"), fields.get("value")
        if isinstance(name, ScalarNode):
            found[name.value] = value if isinstance(value, ScalarNode) else None
    return found


def _of_env(values: Mapping[str, ScalarNode | None], first: int, case: Case) -> Iterator[Remark]:
    """`value: $(POD_IP)` above POD_IP itself."""
    above: set[str] = set()
    for name, value in values.items():
        for asked in _NAMED.findall(value.value) if value is not None else ():
            if value is None or asked in above or asked == name or asked not in values:
                continue
            line = value.start_mark.line
            message = (
                f"{case.script.where(first + line)}: {name} asks for $({asked}), which stands below it: Kubernetes "
            )
            message += "fills in what stands above alone, and leaves these letters"
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, f"$({asked})", message, f"move {asked} above {name}"
            )
            yield Remark(remark.finding, command=None)
        above.add(name)


def _as_in_shell(
    values: Mapping[str, ScalarNode | None], words: Sequence[ScalarNode], first: int, case: Case
) -> Iterator[Remark]:
    """`$POD_IP` of a variable that the container itself has, where no shell reads it, and `/opt/bin:$PATH`. A file
    whose env has a variable of its own name as the whole value is filled in before."""
    own = {name: value.value if value is not None else "" for name, value in values.items()}
    if any(value.strip("${} ") == name for name, value in own.items()):
        return
    if any(_FILLED_BEFORE.search(line) for line in case.script.lines):
        return
    seen: set[str] = set()
    for word in (*words, *(value for value in values.values() if value is not None)):
        for name in _shell_names(word.value):
            if name not in own or name in seen:
                continue
            seen.add(name)
            place = case.script.where(first + word.start_mark.line)
            message = f"{place}: Kubernetes fills in no ${name}, and no shell reads this: the program gets the letters "
            message += shortened(word.value, 60)
            remedy = f"write $({name})"
            if word is values[name]:
                remedy = (
                    f"write its whole value, with what the image has, or set it in a shell: sh -c 'export {name}=…'"
                )
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"${name}", message, remedy)
            yield Remark(remark.finding, command=None)


def _shell_names(text: str) -> list[str]:
    return [first or second for first, second in _OF_SHELL.findall(text)]


def _words(node: Node | None) -> list[ScalarNode]:
    return [word for word in node.value if isinstance(word, ScalarNode)] if isinstance(node, SequenceNode) else []
