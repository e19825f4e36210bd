"""Writes tests/unit/stats/statistics_of_others.json: what statsmodels and scipy say of the same counts.

    python tests/oracle/record_statistics.py > tests/unit/stats/statistics_of_others.json

Run in a throwaway environment with statsmodels; none of it is imported by moonpad or its tests. The paired interval is
found from its definition alone: the likelihood of three counts is maximised numerically under each difference, and the
score of that fit is inverted. No formula of moonpad's is in here.
"""

from __future__ import annotations

import json
import math
import sys

import scipy
import statsmodels
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

SHARES = [(0, 1), (1, 1), (1, 2), (3, 7), (0, 20), (20, 20), (7, 200), (188, 200), (1242, 1319), (1115, 1319)]
TABLES = [(36, 12, 2, 0), (1200, 30, 12, 77), (150, 5, 5, 40), (90, 1, 8, 1), (1225, 17, 13, 64), (180, 0, 6, 14)]
PAIRS = [(1242, 1319, 1238, 1319), (188, 200, 171, 200), (10, 20, 15, 20)]


def fitted_score(n: int, lost: int, gained: int, delta: float) -> float:
    """(gained - lost - n delta) over its standard error, at the likeliest share of lost questions under `delta`."""
    same = n - lost - gained

    def minus_log_likelihood(share: float) -> float:
        terms = ((lost, share), (gained, share + delta), (same, 1 - 2 * share - delta))
        return -sum(count * math.log(max(p, 1e-300)) for count, p in terms if count)

    low, high = max(0.0, -delta), (1 - delta) / 2
    share = minimize_scalar(minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
    # Where a count is 0 the likeliest share may lie on the edge, which the search only comes near.
    share = min((low, share, high), key=minus_log_likelihood)
    return (gained - lost - n * delta) / math.sqrt(n * (2 * share + delta - delta * delta))


def paired_interval(both: int, lost: int, gained: int, neither: int) -> list[float]:
    n = both + lost + gained + neither
    z = norm.ppf(0.975)
    value = (gained - lost) / n
    ends = []
    for sign, edge in ((1, -1 + 1e-6), (-1, 1 - 1e-6)):
        ends.append(brentq(lambda d, s=sign: fitted_score(n, lost, gained, d) - s * z, edge, value, xtol=1e-12))
    return ends


def exact_power(n: int, discordance: float, delta: float) -> float:
    """Of the exact test at 5 %: summed over every number of changed verdicts and every way they may go."""
    power = 0.0
    up = (discordance + delta) / (2 * discordance)
    for changed in range(n + 1):
        weight = binom.pmf(changed, n, discordance)
        if weight < 1e-12:
            continue
        rejected = [k for k in range(changed + 1) if 2 * binom.cdf(min(k, changed - k), changed, 0.5) < 0.05]
        power += weight * sum(binom.pmf(k, changed, up) for k in rejected)
    return power


def main() -> None:
    rows = {
        "made_with": {
            "statsmodels": statsmodels.__version__,
            "scipy": scipy.__version__,
            "python": sys.version.split()[0],
        },
        "wilson": [[k, n, *map(float, proportion_confint(k, n, 0.05, "wilson"))] for k, n in SHARES],
        "mcnemar": [[b, c, float(mcnemar([[0, b], [c, 0]], exact=True).pvalue)] for _, b, c, _ in TABLES],
        "paired": [[*table, *paired_interval(*table)] for table in TABLES],
        # The hybrid score interval; statsmodels gives first - second.
        "unpaired": [
            [
                k1,
                n1,
                k2,
                n2,
                *(float(-x) for x in reversed(confint_proportions_2indep(k1, n1, k2, n2, method="newcomb"))),
            ]
            for k1, n1, k2, n2 in PAIRS
        ],
        "detectable_unpaired": [
            [
                share,
                n,
                float(NormalIndPower().solve_power(nobs1=n, alpha=0.05, power=0.8) * math.sqrt(share * (1 - share))),
            ]
            for share, n in [(0.94, 1319), (0.85, 1319), (0.9, 200), (0.5, 500)]
        ],
        "exact_power": [
            [n, discordance, delta, exact_power(n, discordance, delta)]
            for n, discordance, delta in [
                (1319, 0.04, 0.0154),
                (1319, 0.1, 0.0243),
                (500, 0.08, 0.0350),
                (200, 0.2, 0.0873),
            ]
        ],
    }
    json.dump(rows, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
