"""What a program's parser takes. `engines/option_grammar.py` reads command lines by it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from moonpad.catalog.toml_rows import Standing

Kind = Literal["flag", "int", "float", "text", "json", "choice"]


class Option(Struct, frozen=True):
    """One option. `default` is the parser's, as text; None is none, or one that the engine computes at start.

    `kind` "json" takes a JSON object or list (vLLM: some take plain text beside it). `choices` are empty where the
    parser takes any text: what the engine then does with it is another matter, see `values_of`.
    """

    names: tuple[str, ...]
    kind: Kind
    nargs: str
    negations: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    default: str | None = None
    dest: str = ""
    deprecated: bool = False
    hidden: bool = False

    @property
    def name(self) -> str:
        """The spelling to write: the first long one."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])

    @property
    def takes_value(self) -> bool:
        """Whether a value has to follow."""
        return self.nargs == "+" or (self.nargs.isdecimal() and self.nargs != "0")


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The options of a program in one release.

    `exact` says that `version` is the release that was asked for; otherwise it is the nearest recorded one, and an
    option that it lacks may exist. `passes_on` names the program that gets the options which this one does not know.
    `glues`: a value may stand at a short name (`-p8000`), as argparse and click read it. llama.cpp does not; it is
    known by short names of several letters (`-ngl`) in a parser that takes no beginnings of names.
    """

    program: str
    version: str
    options: tuple[Option, ...]
    exact: bool
    positionals: tuple[str, ...] = ()
    prefixes: bool = False
    underscores: bool = False
    dotted: bool = False
    passes_on: str = ""
    standing: Standing = "reported"
    source: str = ""
    checked: str = ""
    rewritten: Mapping[str, str] = field(default_factory=dict)
    by_name: Mapping[str, Option] = field(init=False, repr=False, compare=False)
    glues: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name = {name: option for option in self.options for name in (*option.names, *option.negations)}
        object.__setattr__(self, "by_name", by_name)
        glues = self.prefixes or not any(re.match(r"-[^-].", name) for name in by_name)
        object.__setattr__(self, "glues", glues)

    def named(self, flag: str) -> Option | None:
        """The option with exactly this spelling (a negated one too; `=value` is not part of it)."""
        return self.by_name.get(flag)
