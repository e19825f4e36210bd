"""The keys and words that a tree of pydantic classes takes, read from their source and not run.

A table is the path of the field whose class it is; one of several classes that a word tells apart is
`speculative_config:Eagle`. Only of classes that refuse a key they do not know.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

KINDS = ("decoding_type", "algorithm", "cp_type")
"""Fields whose word says which of several classes is meant."""
DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Class:
    bases: tuple[str, ...]
    fields: Mapping[str, ast.expr]
    names: Mapping[str, tuple[str, ...]]
    """By field what it is called in a file."""
    strict: bool
    members: Mapping[str, str]
    """Of an enum."""
    kinds: tuple[str, ...]
    prepared: frozenset[str]
    """Fields whose value is made over before it is checked."""


@dataclass(slots=True)
class Keys:
    keys: dict[str, set[str]] = field(default_factory=dict)
    values: dict[str, set[str]] = field(default_factory=dict)


def tables(text: str, root: str) -> Keys:
    tree = ast.parse(text)
    known = {node.name: _class(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    aliases = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    found = Keys()
    _add(found, "", root, known, aliases, _kinds_of_words(tree), 0)
    return found


def _add(
    found: Keys,
    path: str,
    name: str,
    known: Mapping[str, Class],
    aliases: Mapping[str, ast.expr],
    kinds: Sequence[Mapping[str, tuple[str, ...]]],
    level: int,
    kind: str = "",
) -> None:
    if not _is_strict(name, known) or level > DEEPEST:
        return
    fields, names = _fields(name, known), _names(name, known)
    prepared = {key for each in _line(name, known) for key in known[each].prepared}
    table = f"{path}:{kind}" if kind else path
    for key, annotation in fields.items():
        if key.startswith("_"):
            continue
        found.keys.setdefault(table, set()).update(names.get(key, (key,)))
        annotation = _unfolded(annotation, aliases)
        for spelled in names.get(key, (key,)):
            inside = f"{table}.{spelled}" if table else spelled
            words = None if key in prepared or "*" in prepared else _words(annotation, known)
            if words:
                found.values.setdefault(inside, set()).update(words)
            classes = [part for part in _named(annotation) if part in known and _fields(part, known)]
            for by_word in kinds:  # a word may mean a class that is made of one of these
                classes = list(dict.fromkeys((*classes, *by_word))) if by_word.keys() & set(classes) else classes
            for part in classes:
                words_of_kind = next((each[part] for each in kinds if part in each), _line_kinds(part, known))
                if len(classes) == 1 and not words_of_kind:
                    _add(found, inside, part, known, aliases, kinds, level + 1)
                    continue
                for word in words_of_kind:
                    _add(found, inside, part, known, aliases, kinds, level + 1, word)


def _class(node: ast.ClassDef) -> Class:
    fields, names, members, kinds, prepared, strict, by_name = {}, {}, {}, [], set(), False, False
    for decorator in node.decorator_list:
        strict |= "dataclass" in ast.unparse(decorator)
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            key, annotation = item.target.id, ast.unparse(item.annotation)
            if key in KINDS:
                kinds += _strings(item.annotation) or _strings(item.value)
            if "ClassVar" in annotation or _called(item.value) == "PrivateAttr" or key == "model_config":
                continue
            fields[key] = item.annotation
            if spelled := _aliases_of(item.value):
                names[key] = spelled
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            key = item.targets[0].id
            if key == "model_config":
                strict |= "forbid" in ast.unparse(item.value)
                by_name |= "by_name" in ast.unparse(item.value)
            elif isinstance(item.value, ast.Constant) and isinstance(item.value.value, str):
                members[key] = item.value.value
                kinds += [item.value.value] if key in KINDS else []
        elif isinstance(item, ast.ClassDef) and item.name == "Config":
            strict |= "forbid" in ast.unparse(item)
        elif isinstance(item, ast.FunctionDef):
            prepared |= set(_prepared(item))
    if by_name:
        names = {key: (key, *spelled) for key, spelled in names.items()}
    bases = tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)
    return Class(bases, fields, names, strict, members, tuple(kinds), frozenset(prepared))


def _prepared(function: ast.FunctionDef) -> Iterator[str]:
    for decorator in function.decorator_list:
        text = ast.unparse(decorator)
        if "mode='before'" not in text and "mode='plain'" not in text and "mode='wrap'" not in text:
            continue
        if isinstance(decorator, ast.Call) and text.startswith(("field_validator", "pydantic.field_validator")):
            yield from (str(arg.value) for arg in decorator.args if isinstance(arg, ast.Constant))


def _aliases_of(value: ast.expr | None) -> tuple[str, ...]:
    if not isinstance(value, ast.Call):
        return ()
    for keyword in value.keywords:
        if keyword.arg in ("alias", "validation_alias"):
            return tuple(_strings(keyword.value))
    return ()


def _strings(node: ast.expr | None) -> list[str]:
    parts = ast.walk(node) if node is not None else ()
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _called(node: ast.expr | None) -> str:
    return ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def _line(name: str, known: Mapping[str, Class]) -> Iterator[str]:
    """The class and all that it is made of, the farthest first."""
    for base in reversed(known[name].bases):
        if base in known:
            yield from _line(base, known)
    yield name


def _fields(name: str, known: Mapping[str, Class]) -> dict[str, ast.expr]:
    return {key: kind for each in _line(name, known) for key, kind in known[each].fields.items()}


def _names(name: str, known: Mapping[str, Class]) -> dict[str, tuple[str, ...]]:
    return {key: names for each in _line(name, known) for key, names in known[each].names.items()}


def _line_kinds(name: str, known: Mapping[str, Class]) -> tuple[str, ...]:
    return next((known[each].kinds for each in reversed(list(_line(name, known))) if known[each].kinds), ())


def _is_strict(name: str, known: Mapping[str, Class]) -> bool:
    return any(known[each].strict for each in _line(name, known))


def _kinds_of_words(tree: ast.Module) -> list[dict[str, tuple[str, ...]]]:
    """By class the words of each `config_classes = {"MTP": MTPDecodingConfig}`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "config_classes":
            of_class: dict[str, tuple[str, ...]] = {}
            for key, value in zip(node.value.keys, node.value.values, strict=True):  # type: ignore[attr-defined]
                name = ast.unparse(value)
                of_class[name] = (*of_class.get(name, ()), key.value)
            found.append(of_class)
    return found


def _unfolded(annotation: ast.expr, aliases: Mapping[str, ast.expr]) -> ast.expr:
    """With the names of unions replaced by what they stand for, also in quotes."""
    for _ in range(4):
        text = ast.unparse(annotation)
        annotation = _Unfold(aliases).visit(ast.parse(text, mode="eval").body)
        if ast.unparse(annotation) == text:
            break
    return annotation


class _Unfold(ast.NodeTransformer):
    def __init__(self, aliases: Mapping[str, ast.expr]) -> None:
        self.aliases = aliases

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.aliases.get(node.id, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node.value).rpartition(".")[2] == "Literal":
            return node
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        try:
            return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node
        except SyntaxError:
            return node


def _named(annotation: ast.expr) -> list[str]:
    """The names in an annotation, a list or a table of classes not among them."""
    if isinstance(annotation, ast.Name):
        return [annotation.id]
    if isinstance(annotation, ast.BinOp):
        return [*_named(annotation.left), *_named(annotation.right)]
    if isinstance(annotation, ast.Subscript):
        outer = ast.unparse(annotation.value).rpartition(".")[2]
        parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        if outer == "Annotated":
            return _named(parts[0])
        if outer in ("Optional", "Union"):
            return [name for part in parts for name in _named(part)]
    return []


def _words(annotation: ast.expr, known: Mapping[str, Class]) -> set[str] | None:
    """The words that it takes, where it takes no other text."""
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return set()
    if isinstance(annotation, ast.Name):
        each = known.get(annotation.id)
        is_enum = each is not None and any("Enum" in base for base in each.bases)
        return set(each.members.values()) if each is not None and is_enum else None
    if isinstance(annotation, ast.BinOp):
        return _joined([annotation.left, annotation.right], known)
    if not isinstance(annotation, ast.Subscript):
        return None
    outer = ast.unparse(annotation.value).rpartition(".")[2]
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if outer == "Literal":
        words = [part.value for part in parts if isinstance(part, ast.Constant)]
        return {str(word) for word in words} if len(words) == len(parts) else None
    if outer == "Annotated":
        return _words(parts[0], known)
    return _joined(parts, known) if outer in ("Optional", "Union") else None


def _joined(parts: list[ast.expr], known: Mapping[str, Class]) -> set[str] | None:
    words: set[str] = set()
    for part in parts:
        more = _words(part, known)
        if more is None:
            return None
        words |= more
    return words
