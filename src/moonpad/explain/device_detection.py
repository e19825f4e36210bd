"""On which devices a command line runs, and how we know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.engines.base import Engine, Reading
from moonpad.engines.foreign_names import BUILT_ELSEWHERE
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_generations import alike, by_full_names, of_generation, spoken_generation
from moonpad.explain.documents.device_mentions import (
    Mention,
    capability_of,
    cluster_named,
    mentions,
    named_by_names,
    platform_of,
)
from moonpad.explain.documents.device_nearness import (
    by_nearness,
    counted_often,
    has_titles,
    in_templates,
    of_layout,
    owned,
    sure_mentions,
    without_lists,
    without_origins,
)
from moonpad.explain.documents.devices_elsewhere import (
    without_examples,
    without_profiles,
    without_those_of_others,
)
from moonpad.explain.documents.devices_of_other_items import without_other_items
from moonpad.explain.documents.meant_devices import as_meant, of_selected_nodes, selected_at
from moonpad.explain.documents.mentioned_kinds import counted_apart, kinds_named, part_of
from moonpad.explain.documents.needed_devices import without_needed
from moonpad.explain.documents.other_devices import first_offered, least_beside, least_of_marked, offered
from moonpad.explain.documents.posts import of_other_person
from moonpad.explain.documents.recommended_devices import as_recommended
from moonpad.explain.documents.spoken_capabilities import other_maker, speaks_of_amd, written_capability
from moonpad.explain.documents.spoken_platform import ROCM_ENV, platform_spoken
from moonpad.explain.documents.spoken_tpus import TPUS, is_for_tpus
from moonpad.explain.documents.superchips import as_superchips
from moonpad.explain.documents.tabs import tab_labels
from moonpad.explain.documents.too_small_devices import without_too_small
from moonpad.explain.fewer_devices import all_there_are
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.kinds_too_small import is_far_too_small, largest_too_small
from moonpad.explain.meant_platform import is_for_ascend, speaks_of_npus_alone
from moonpad.explain.programs import is_server
from moonpad.explain.proposed_devices import (
    NO_AMD_DEVICE,
    NO_DEVICES,
    by_memory,
    in_place_of,
    is_of_gfx950,
    of_capability,
    of_far_smaller,
    of_small_machine,
    of_unknown_number,
)
from moonpad.explain.started_ranks import (
    on_all_nodes,
    on_counted_machines,
    on_one_machine,
    prefill_ways,
    ranks_of_mpi,
    used_by,
)
from moonpad.explain.target_detection import Question
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.plan import Layout, Platform

_NAMES: Final = "the text names "
_SAY_WHICH: Final = ": say which with --on"
_NOT_JUDGED: Final = ", which moonpad does not judge: --on 8xH200 names others"
_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_LIST: Final = 3
"""So many kinds without a number on one line are a list, of which none is meant alone."""


def leaves_number_open(engine: Engine, reading: Reading, command: Command) -> bool:
    """Whether the command says nothing of how many devices it uses, which is one then; the default of a variable says
    little."""
    place = reading.parsed.occurrence(engine.command_line.options.get("tp"))
    if reading.layout != Layout() or reading.replicas != 1:
        return False
    if place is None or not place.index + place.length <= len(command.argv):
        return True
    word = command.argv[place.index + place.length - 1]
    return word.end_column - word.column > len(word.text) + len("''")


def cluster_of(
    engine: Engine,
    reading: Reading,
    script: Script,
    commands: Sequence[Command],
    question: Question,
    checkpoint: Checkpoint | None = None,
    *,
    layout_known: bool = True,
) -> tuple[Cluster | None, str]:
    """The devices as `_cluster_of` finds them; where the layout is not known, as many of these machines as `mpirun` has
    ranks for; of several kinds none of which holds the weights the largest."""
    cluster, because = _cluster_of(engine, reading, script, commands, question, layout_known=layout_known)
    facts = engine.facts
    if cluster is not None and cluster.nodes > 1 and facts.one_machine and question.cluster is None:
        cluster, because = on_one_machine(cluster, because, reading)
    if cluster is not None and layout_known and question.cluster is None:
        hints = [machine for machine, _ in script.placed_hints]
        cluster, because = on_counted_machines(cluster, because, reading, hints)
    alone = layout_known and question.cluster is None and not (facts.host_experts or facts.gguf_only)
    alone = alone and not leaves_number_open(engine, reading, commands[0])
    alone = alone and not selected_at(script.lines, script.objects, commands[0].line)
    if alone and cluster is not None and is_far_too_small(cluster, because, reading, checkpoint):
        return None, of_far_smaller(cluster)
    used_here, on_each = used_by(reading, commands[0])
    counted = cluster is not None and because == f"{_NAMES}{cluster.name}"
    if layout_known and question.cluster is None and on_each in (None, used_here) and not counted:
        fewer = all_there_are(script, min(command.line for command in commands), cluster, used_here)
        if fewer is not None:
            return fewer, f"the text says that there is only {fewer.name}"
    if (
        cluster is None
        and layout_known
        and because.endswith(_SAY_WHICH)
        and (first := first_offered(script)) is not None
    ):
        named = because.removeprefix(_NAMES).removesuffix(_SAY_WHICH).split(" and ")
        offers_all = {*named} <= {each.rpartition("x")[2] for each in (first.name, *offered(first, script))}
        if offers_all and first.devices == used_by(reading, commands[0])[0]:
            cluster, because = first, f"the text names {first.name}"
    if cluster is None and layout_known and because.endswith(_SAY_WHICH):
        kinds, used = because.removeprefix(_NAMES).removesuffix(_SAY_WHICH), used_by(reading, commands[0])
        if (largest := largest_too_small(kinds.split(" and "), used, engine, reading, checkpoint)) is not None:
            cluster, because = largest, f"{_NAMES}{kinds}, and the weights fit on none of them"
    if cluster is not None and question.cluster is None and (others := offered(cluster, script)):
        because = f"{because}; the task may get {' or '.join(others[:_LIST])} as well"
    if layout_known or question.cluster is not None or cluster is None or cluster.nodes > 1:
        return cluster, because
    ranks, container = ranks_of_mpi(commands), commands[0].container
    whole = container is not None and container.devices == cluster.devices
    if not whole or ranks <= cluster.devices or ranks % cluster.devices:
        return cluster, because
    more = cluster_named(f"{ranks // cluster.devices}x{cluster.name}")
    return (more, f"{because}, mpirun starts {ranks} ranks") if more is not None else (cluster, because)


def _cluster_of(
    engine: Engine,
    reading: Reading,
    script: Script,
    commands: Sequence[Command],
    question: Question,
    *,
    layout_known: bool,
) -> tuple[Cluster | None, str]:
    """The devices and how they were found: as asked, as the text says; None, and why, where they are not known.

    A machine that the text counts goes before a kind that it only names, what stands above the command before what
    stands below it. A guide that speaks of another number than the command uses has the kind right.
    """
    if question.cluster is not None:
        return question.cluster, question.cluster_because
    if is_for_tpus(script, commands):
        return None, f"the text is about {TPUS}{_NOT_JUDGED}"
    # A build of the engine for Ascend, whose memory is not judged: its devices are known all the same.
    script.budget.work(script.steps_to_scan + 8 * len(script.placed_hints), "the text around its engine commands")
    npus = any(map(is_for_ascend, commands)) or (
        (engine.name, Platform.ASCEND.value) in BUILT_ELSEWHERE and speaks_of_npus_alone(script)
    )
    platforms = (Platform.ASCEND,) if npus else engine.platforms
    if platforms == (Platform.CPU,):
        return cluster_named("cpu"), f"{engine.name} runs on a CPU"
    used = used_by(reading, commands[0])
    first = min(command.line for command in commands)
    variables = (*ROCM_ENV, *engine.command_line.rocm_env)
    of_gfx950 = is_of_gfx950(reading.model)
    spoken = Platform.ROCM if of_gfx950 else platform_spoken(script, commands, first, variables)
    rocm = Platform.ROCM in platforms and spoken is Platform.ROCM
    allowed = (spoken,) if spoken in platforms else platforms
    named = [
        each
        for each in mentions(script.lines, script.placed_hints)
        if (not each.known or platform_of(each.kind) in allowed) and script.says_of(each.line, first)
    ]
    others = {command.line for command in script.commands if command.line != first and is_server(command.program)}
    named = [each for each in named if each.line not in others or (each.machine, each.line) not in script.asked]
    if not layout_known and commands[0].more and commands[0].arms:
        return None, NO_DEVICES  # a recipe for several kinds
    named = [each for each in named if not of_other_person(script.lines, each.line, first)]
    templates = in_templates(script.lines) if script.markdown else frozenset()
    named = [each for each in named if each.line not in templates or first in templates]
    named = [*as_superchips(without_origins(named, script.lines), script.lines)]
    named = [*of_selected_nodes(named, script.lines, script.objects, first)]
    in_words = bool(named)
    named = [*without_profiles(without_examples(named, script.lines, first), script.lines)]
    named = [*as_meant(named, script.lines, first, titled=script.markdown and not rocm)]
    if not rocm:
        named = [*without_lists(named, mentions(script.lines, script.placed_hints))]
    if of_gfx950:  # a text that compares names other devices too
        named = [each for each in named if capability_of(each.kind) == "gfx950"] or named
    images = [command.container.image.text for command in commands if command.container and command.container.image]
    named = [*owned(by_full_names(of_generation(named, script.lines, images)), script.lines)]
    named = [*without_needed(named, script.lines, document=script.markdown)]
    named = [*without_too_small(without_other_items(named, script.lines, reading.model), script.lines)]
    named = [*as_recommended(named, script.lines, first, used[0])]
    tab = tab_labels(script.lines, first)[0] if script.markdown else ""
    own = {each.kind for each in mentions((tab,), ()) if each.known}
    if len(own) == 1:
        named = [each for each in named if each.kind in own] or named
    granted = commands[0].container.devices if commands[0].container is not None else None
    small = {each.kind for each in named if each.known and not _holds(each.kind, granted or 1)}
    named = [each for each in named if not each.known or each.kind not in small]
    if layout_known:
        named = [*of_layout(named, script.lines, {"tp": reading.layout.tp, "pp": reading.layout.pp})]
    elsewhere = [each for each in named if rocm or platform_of(each.kind) is not Platform.ROCM]
    elsewhere = elsewhere if any(each.known for each in elsewhere) else named
    elsewhere = [*without_those_of_others(elsewhere, script.lines, reading.model)]
    script.budget.work(2 * len(named), "the text around its engine commands")
    whole = is_fragment(commands[0])  # of the machines that are named, whatever part of the layout it gives
    before = max(
        (other.line for other in script.commands if other.line < first and is_server(other.program)), default=0
    )
    sure = sure_mentions(named, script.asked, script.lines, before, first)
    document = script.markdown or has_titles(script.lines)
    copy = reading.layout.world_size
    if (ways := prefill_ways(reading)) > 1 and _are_counted(used[0] * ways, named):
        used = used[0] * ways, used[1] * ways if used[1] is not None else None
    for near in (*sure, *by_nearness(named, elsewhere, script.lines, first, document=document)):
        cluster, because = _of_mentions(near, used, copy, allowed, script.lines, layout_known=layout_known, whole=whole)
        if cluster is not None and not layout_known:
            return on_all_nodes(cluster, because, reading, granted)
        if cluster is None and because and layout_known and (good := least_of_marked(named, used[0], script.lines)):
            return good
        if cluster is not None or because:
            return cluster, because
    if layout_known and (often := counted_often(named, first)):
        cluster, because = _of_mentions(often, used, copy, allowed, script.lines, layout_known=True, whole=whole)
        if cluster is not None and cluster.devices == used[0]:
            return cluster, because
    if not in_words:
        file = script.file_name or script.place(first)[0]
        names = [each for each in named_by_names(script.lines, file, first) if script.says_of(each.line, first)]
        cluster, _ = _of_mentions(names, used, copy, allowed, script.lines, layout_known=layout_known, whole=whole)
        if cluster is not None and layout_known:
            return (
                cluster,
                f"a name in the text has {cluster.name.rpartition('x')[2]}, the command uses {cluster.devices}",
            )
        kind = spoken_generation(script.lines) if Platform.ROCM in platforms and not names and layout_known else ""
        if kind and (cluster := cluster_named(f"{used[0]}x{kind}")) is not None:
            return cluster, f"the text speaks of {capability_of(kind)}, as {kind} is, the command uses {used[0]}"
    first_near = sorted(named, key=lambda each: (each.line > first, abs(each.line - first)))
    nearest = (first_near, *by_nearness(named, elsewhere, script.lines, first, document=document))
    about = ([each for each in near if each.known and platform_of(each.kind) in allowed] for near in nearest)
    kinds = () if layout_known else next((one for near in about if len(one := kinds_named(near)) == 1), ())
    if len(kinds) == 1:
        return None, of_unknown_number(kinds[0])
    if rocm:
        return None, NO_AMD_DEVICE
    if maker := other_maker(script):
        return None, f"the text is about {maker}{_NOT_JUDGED}"
    if Platform.ROCM in platforms and speaks_of_amd(script):
        return None, NO_AMD_DEVICE
    if len(small) == 1 and not named:
        return None, of_small_machine(small.pop(), granted or 1)
    told = "" if named else by_memory(script.lines, platforms) or of_capability(written_capability(script))
    return None, told or NO_DEVICES


def _are_counted(devices: int, named: Sequence[Mention]) -> bool:
    """Whether the text counts just so many."""
    machines = (cluster_named(each.machine) for each in named if each.machine is not None and each.known)
    return any(machine is not None and machine.devices == devices for machine in machines)


def _holds(kind: str, devices: int) -> bool:
    """Whether one machine of that kind has so many: a container with three is on no GB10, which has one."""
    cluster = cluster_named(f"{devices}x{kind}")
    return devices == 1 or cluster is None or cluster.nodes == 1


def _of_mentions(
    near: Sequence[Mention],
    used: tuple[int, int | None],
    copy: int,
    allowed: Sequence[Platform],
    lines: Sequence[str],
    *,
    layout_known: bool,
    whole: bool,
) -> tuple[Cluster | None, str]:
    """Of mentions in the order of nearness; (None, "") where they say nothing. `copy`: devices of one whole copy."""
    devices, per_node = used
    machines = [
        (each, machine)
        for each in near
        if each.machine is not None and each.known and (machine := cluster_named(each.machine)) is not None
    ]
    counted = [(each, machine) for each, machine in machines if machine.device.platform in allowed]
    # Of several whole copies a text may count the devices of one, where they are meant to share them.
    fitting = devices if any(machine.devices == devices for _, machine in counted) else copy
    exact = [
        (each, machine)
        for each, machine in counted
        if machine.devices == fitting and per_node in (None, machine.per_node)
    ]
    if exact and (kinds := kinds_named([each for each, _ in exact])):
        if len(kinds) > 1:
            return None, _several(kinds)
        least, beside, judged = least_beside(exact[0][1], lines[exact[0][0].line - 1], {each.kind for each in near})
        return least, f"the text names {' or '.join((least.name, *beside))}{f': {judged}' if judged else ''}"
    kinds = kinds_named([each for each, _ in counted])
    if len(kinds) > 1:
        return None, _several(kinds)
    if (
        not exact
        and layout_known
        and len(apart := counted_apart([each for each in near if platform_of(each.kind) in allowed])) > 1
    ):
        return None, _several(apart)
    if counted and (devices == 1 or not layout_known or (whole and counted[0][1].devices >= copy)):
        return counted[0][1], f"the text names {counted[0][1].name}"
    firsts = {each.line: each for each in reversed(near)}  # `MI300X and MI300A` is the one that the catalogue has
    foreign = next(
        (each.kind for each in firsts.values() if not each.known and (each.machine or len(each.kind) > 3)), None
    )
    if foreign is not None and not counted:
        return None, in_place_of(foreign, devices, devices // per_node if per_node else None)
    if not layout_known:
        return None, ""
    if not kinds:
        uncounted = [each for each in near if each.known and platform_of(each.kind) in allowed]
        kinds = kinds_named(uncounted)
        listed = list(dict.fromkeys(each.kind for each in uncounted if each.line == uncounted[0].line))
        if len(kinds) == 1 and len(listed) >= _LIST and not alike(listed):
            kinds = listed  # `MI300X/MI325X/MI355X`
        sized = list(dict.fromkeys(each.kind for each in uncounted if each.sized and each.line == uncounted[0].line))
        if len(kinds) == 1 and len(sized) > 1:
            kinds = sized  # `H100 80GB: 11, H200 141GB: 7`
        if len(kinds) > 1:
            return None, _several(kinds)
    for kind in kinds:
        nodes = cluster_named(f"{devices // per_node}x{per_node}x{kind}") if per_node is not None else None
        nodes = nodes or cluster_named(f"{devices}x{kind}")
        if (cluster := nodes or part_of([machine for _, machine in counted], devices, kind)) is not None:
            line = next(each.line for each in near if each.kind == kind)
            least, beside, judged = least_beside(cluster, lines[line - 1], {each.kind for each in near})
            names = " or ".join(name.rpartition("x")[2] for name in (least.name, *beside))
            because = f"the text names {names}, the command uses {devices}"
            return least, f"{because}, and it is {judged}" if judged else because
    return None, ""


def _several(kinds: Sequence[str]) -> str:
    return f"the text names {' and '.join(kinds[:4])}{_SAY_WHICH}"
