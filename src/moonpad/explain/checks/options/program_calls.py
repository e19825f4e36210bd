"""Programs that use the engine as a library: arguments that its classes do not have, and what they leave out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set, releases_with
from moonpad.engines import library_names as library
from moonpad.explain.checks.check_case import Case, Check
from moonpad.explain.documents.engine_calls import EngineCall, EngineCalls, engine_calls
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import is_final

_LONGEST: Final = 500
_MESSAGES: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)[ ]*(?::[^=\n]{1,60})?=[ ]*\[+\s*\{\s*[\"']role[\"'][ ]*:")
_FIRST: Final = re.compile(
    r"\([ \n\t]*(?:prompts[ ]*=[ ]*)?(?:(?P<name>[A-Za-z_]\w*)|(?P<given>\[+\s*\{\s*[\"']role[\"']))"
)
_LEVEL_0: Final = re.compile(r"\([ ]*(?:level[ ]*=[ ]*)?0[ ]*[,)]")
_MAIN: Final = "__name__"
_NOTEBOOK: Final = re.compile(r"[ \t]*(?:[%!][a-z]|In \[|\"cell_type\"|>>> |\.\.\. )")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})")


def argument_of_sampling(case: Case) -> Iterator[Remark]:
    """`SamplingParams(max_new_tokens=512)`: names of other libraries."""
    calls = _calls(case)
    if calls is None:
        return
    for call in calls[0].sampling:
        name = next((name for name in call.arguments if name in library.NOT_OF_SAMPLING), "")
        if name:
            right = library.NOT_OF_SAMPLING[name]
            remedy = f"write {right}" if right else "leave it out"
            yield _told(case, call, name, f"SamplingParams has no argument {name}: TypeError", remedy)
            return


def argument_of_engine(case: Case) -> Iterator[Remark]:
    """`LLM(tensor_parallel=8)`, and options that the server alone has."""
    calls = _calls(case)
    if calls is None:
        return
    made = calls[1]
    for name in made.arguments:
        flag = f"--{name.replace('_', '-')}"
        message, remedy = f"{made.kind}() has no argument {name}: TypeError", "leave it out"
        if name in library.OF_SERVER:
            message = f"{made.kind}() has no argument {name}, which is an option of the server: TypeError"
        elif name in library.NOT_OF_ENGINE and not releases_with(case.engine.program, flag):
            meant = library.NOT_OF_ENGINE[name]
            remedy = f"write {meant}" if meant and meant not in made.arguments else remedy
        elif _is_gone(case, flag):
            message = f"{made.kind}() of {case.engine.facts.title} {case.version} has no argument {name}: TypeError"
        else:
            continue
        yield _told(case, made, name, message, remedy)
        return


def number_as_words(case: Case) -> Iterator[Remark]:
    """`LLM(max_model_len="32k")`: letters behind a number are read on a command line alone."""
    calls = _calls(case)
    if calls is None:
        return
    for name in library.WHOLE_NUMBERS:
        match = re.search(rf"\b{name}[ ]*=[ ]*[\"'](?P<value>\d[\d.,_]*[A-Za-z]+|\d+,\d[\d,]*)[\"']", calls[1].text)
        if match is not None:
            message = f'{name}="{match["value"]}" is not a whole number, which a program has to give'
            yield _told(case, calls[1], name, message, f"write {name} as a number, without quotes")
            return


def adapter_of_program(case: Case) -> Iterator[Remark]:
    """`llm.generate(…, lora_request=…)` of an engine that was made without adapters."""
    calls = _calls(case)
    if calls is None or calls[1].is_open or "enable_lora" in calls[1].arguments:
        return
    for call in calls[0].upon(calls[1], "generate", "chat"):
        if re.search(r"\blora_request[ ]*=[ ]*(?!None\b)", call.text):
            message = f"lora_request, and {calls[1].kind}() of {case.script.where(calls[1].line)} has no enable_lora: "
            yield _told(case, call, "lora_request", message + "LoRA is not enabled", "add enable_lora=True to it")
            return


def asleep_without_mode(case: Case) -> Iterator[Remark]:
    """`llm.sleep()` of an engine that was made without the memory that can be given back."""
    calls = _calls(case)
    if calls is None or calls[1].is_open or {"enable_sleep_mode", "enable_cumem_allocator"} & {*calls[1].arguments}:
        return
    for call in calls[0].upon(calls[1], "sleep"):
        if not _LEVEL_0.match(call.text):
            message = f"{calls[1].kind}() of {case.script.where(calls[1].line)} has no enable_sleep_mode: nothing is "
            yield _told(
                case, call, "sleep", f"{message}given back, or the call fails", "add enable_sleep_mode=True to it"
            )
            return


def asked_of_engine(case: Case) -> Iterator[Remark]:
    """`llm.generate(messages)`, `llm.generate(prompts, temperature=0)`."""
    calls = _calls(case)
    if calls is None or calls[1].kind != "LLM":
        return
    lines = [line[:_LONGEST] for line in case.script.lines]
    chats = {match["name"] for match in _MESSAGES.finditer("\n".join(lines))}
    case.script.budget.work(len(lines), "its Python")
    for call in calls[0].upon(calls[1], "generate", "chat"):
        name = next((name for name in call.arguments if name in library.OF_SAMPLING), "")
        if name:
            message = f"{call.kind}() has no argument {name}: TypeError"
            yield _told(case, call, name, message, f"write {call.kind}(…, SamplingParams({name}=…))")
            return
        first = _FIRST.match(call.text)
        if call.kind == "generate" and first is not None and (first["given"] or first["name"] in chats):
            message = "generate() takes prompts, and these are messages of a chat, which it refuses"
            yield _told(case, call, "generate", message, f"write {call.name}.chat(…), which applies the template")
            return


def spawned_anew(case: Case) -> Iterator[Remark]:
    """An engine that is made as the module is read, where each process that it starts reads the module again."""
    calls = _calls(case)
    if calls is None or calls[1].indent or calls[1].kind != "LLM":
        return
    variable, value = library.SPAWN
    env, lines = case.commands[0].env, case.script.lines
    if variable not in env or env[variable].text != value or library.NO_PROCESSES in env:
        return
    case.script.budget.work(len(lines), "its Python")
    if any(_MAIN in line or _NOTEBOOK.match(line) for line in lines):
        return
    message = (
        f"{variable}={value}: each process that is started reads this program again and would make an engine too: "
    )
    message += "RuntimeError, before the current process has finished its bootstrapping phase"
    remedy = 'write what makes and asks the engine below if __name__ == "__main__":'
    yield _told(case, calls[1], variable, message, remedy)


def _calls(case: Case) -> tuple[EngineCalls, EngineCall] | None:
    """Those of the text, and the one by which this engine is made."""
    command = case.commands[0]
    if not command.embedded or case.base != library.BASE or len(case.commands) > 1:
        return None
    case.script.budget.once("calls of the library", len(case.script.lines), "its Python")
    calls = engine_calls(case.script.lines)
    made = calls.made_at(command.line)
    return (calls, made) if made is not None else None


def _is_gone(case: Case, flag: str) -> bool:
    """Whether the release that the text names has dropped an option, its negation included, that others have."""
    recorded = option_set(case.engine.program, case.version) if case.version and is_final(case.version) else None
    if recorded is None or not recorded.exact or case.earliest or recorded.named(flag) is not None:
        return False
    judged_by_itself = any(word.text == flag for word in case.commands[0].argv)
    return not judged_by_itself and bool(releases_with(case.engine.program, flag))


def _told(case: Case, call: EngineCall, where: str, message: str, remedy: str) -> Remark:
    said = f"{case.script.where(call.line)}: {message}"
    return replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, where, said, remedy), command=None)


PROGRAM_CALLS: Final[tuple[Check, ...]] = (
    argument_of_sampling,
    argument_of_engine,
    number_as_words,
    adapter_of_program,
    asleep_without_mode,
    asked_of_engine,
    spawned_anew,
)
