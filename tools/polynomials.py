# SPDX-License-Identifier: Apache-2.0
"""Prints the polynomials of src/cpu/runtime/float_functions.h (needs mpmath, which torch brings).

Each is a least-squares fit on Chebyshev points, which is close to the best there is, under the
weight with which its error reaches the function's result. Coefficients are rounded to float from
the lowest degree up, and those above fitted again, so that rounding costs next to nothing.
"""

from __future__ import annotations

from typing import Callable

import mpmath as mp
import numpy as np

mp.mp.prec = 200
Function = Callable[[mp.mpf], mp.mpf]


def show(
    name: str, target: Function, weight: Function, low: float, high: float, degree: int
) -> None:
    points = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * (np.arange(400) + 0.5) / 400)
    values = np.array([float(target(mp.mpf(x))) for x in points])
    weights = np.array([float(weight(mp.mpf(x))) for x in points])
    powers = points[:, None] ** np.arange(degree + 1)
    left = values
    fixed: list[float] = []
    for power in range(degree + 1):
        system = powers[:, power:] * weights[:, None]
        lowest = np.linalg.lstsq(system, left * weights, rcond=None)[0][0]
        fixed.append(float(np.float32(lowest)))
        left = left - fixed[-1] * powers[:, power]
    print(f"{name}: error {np.abs(left * weights).max():.2g}")
    print("  " + ", ".join(value.hex().replace("0000000p", "p") + "f" for value in fixed))


show("exp:  (e^r - 1 - r) / r^2", lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: r**2,
     -0.3466, 0.3466, 4)  # fmt: skip
show("exp2: (2^r - 1) / r", lambda r: (2**r - 1) / r, lambda r: r, -0.5, 0.5, 5)
show("erf below 1: erf(sqrt s) / sqrt s - 1", lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1,
     lambda s: mp.mpf(1), 0, 1, 6)  # fmt: skip
show("erf from 1: -log2(erfc(t)) / t - 2.5", lambda t: -mp.log(mp.erfc(t), 2) / t - 2.5,
     lambda t: mp.erfc(t) * t * mp.log(2), 1, 3.95, 5)  # fmt: skip
show("erf from 1: (2^r - 1) / r", lambda r: (2**r - 1) / r, lambda r: r, -0.5, 0.5, 4)
