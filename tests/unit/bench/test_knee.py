"""The knee by hand: seed 2's own table, and each cause by what the server said."""

from __future__ import annotations

import pytest

from moonpad.bench.knee import Level, find_knee, level_of

# Seed 2's sweep on an Atlas 800 A3, with --max-num-seqs 12: tokens a second, mean TTFT and TPOT in ms.
SEED_2 = {
    1: (17.21, 473.71, 57.71),
    2: (32.83, 708.16, 60.29),
    4: (56.47, 956.11, 69.97),
    8: (90.28, 1361.85, 87.37),
    16: (52.97, 76766.84, 222.07),
}


def levels(**server: float | None) -> list[Level]:
    """The table; `server` is what it would have said at 16."""
    plain = {
        load: Level(load, *row, running_max=load, waiting_median=0.0, kv_usage_max=0.1) for load, row in SEED_2.items()
    }
    above = {"running_max": 12.0, "waiting_median": 4.0, "kv_usage_max": 0.3, **server}
    return [*(plain[load] for load in (1, 2, 4, 8)), Level(16, *SEED_2[16], **above)]  # type: ignore[arg-type]


def test_seed_2() -> None:
    knee = find_knee(levels())
    assert knee is not None
    assert (knee.below, knee.above) == (8, 16)
    assert knee.signs == ("output throughput -41%", "mean TTFT × 56.4", "4 requests wait in the server")
    assert knee.cause == "running stays at 12 while 4 wait, at 30% of the KV cache: max_num_seqs is reached"
    assert "raise max_num_seqs above 12" in knee.remedy


def test_without_the_server_the_cause_is_not_known() -> None:
    knee = find_knee(levels(running_max=None, waiting_median=None))
    assert knee is not None
    assert knee.cause.startswith("unknown")
    assert knee.above == 16


@pytest.mark.parametrize("more", [{"kv_usage_max": 0.97}, {"preemptions": 3.0}])
def test_a_full_cache(more: dict[str, float]) -> None:
    knee = find_knee(levels(**more))
    assert knee is not None
    assert knee.cause.startswith("the KV cache is full")


def test_a_device_at_its_limit() -> None:
    knee = find_knee([Level(8, 90.0, 100.0, 80.0, 8, 0), Level(16, 93.0, 210.0, 155.0, 16, 0)])
    assert knee is not None
    assert knee.cause == "all 16 run at once, and a token takes 1.9 times as long: the device is at its limit"


def test_a_client_at_its_limit() -> None:
    knee = find_knee([Level(8, 90.0, 100.0, 80.0, 8, 0), Level(16, 93.0, 210.0, 155.0, 16, 0, client_bound=True)])
    assert knee is not None
    assert knee.cause.startswith("the client is at its limit")


def test_no_knee_while_each_step_pays() -> None:
    assert find_knee([Level(load, 10.0 * load, 100.0, 50.0, load, 0) for load in (1, 2, 4, 8)]) is None
    assert find_knee([Level(4, 10.0, 1.0, 1.0)]) is None
    assert find_knee([]) is None


def test_a_queue_alone_is_a_sign() -> None:
    """12 of 16 run: the throughput still grows by a third, and four requests wait all the time."""
    knee = find_knee([Level(8, 90.0, 100.0, 80.0, 8, 0), Level(16, 120.0, 300.0, 85.0, 12, 4)])
    assert knee is not None
    assert knee.signs == ("4 requests wait in the server",)


def test_from_a_document() -> None:
    server = {"running": {"max": 12, "median": 12}, "waiting": {"median": 4, "max": 4}, "kv_usage": {"max": 0.2}}
    document = {"output_throughput": 5.0, "mean_ttft_ms": 1.0, "mean_tpot_ms": None}
    ours = {"server": {**server, "preemptions": None}, "client": {"client_bound": True}}
    assert level_of(16, {**document, "moonpad": ours}) == Level(16, 5.0, 1.0, None, 12, 4, 0.2, None, True)
    assert level_of(16, document) == Level(16, 5.0, 1.0, None)
