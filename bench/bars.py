# SPDX-License-Identifier: Apache-2.0
"""Prints what a run measured as the few figures one asks for first.

Usage: python3 bench/bars.py OP RESULTS, with RESULTS/h200-OP.json (split_summary.json) and
RESULTS/h200-OP-warm.json (bench/warm.py).
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path


def geomean(ratios: list[float]) -> float:
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios)) if ratios else math.nan


def show(title: str, rows: list[dict[str, float]]) -> None:
    """`rows` hold case, base, split and torch in microseconds."""
    against_torch = [(r["torch"] / r["split"], r["case"]) for r in rows if r["torch"] > 0]
    against_base = [(r["base"] / r["split"], r["case"]) for r in rows]
    base_torch = [r["torch"] / r["base"] for r in rows if r["torch"] > 0]
    if not rows:
        return
    split_torch = geomean([ratio for ratio, _ in against_torch])
    print(
        f"{title:<22} {len(rows):>3} cases  split {split_torch:.3f}x torch"
        f" (base {geomean(base_torch):.3f}x)  {geomean([r for r, _ in against_base]):.3f}x base"
        f"  worst {min(against_torch)[0]:.3f}x torch (case {min(against_torch)[1]})"
        f"  {min(against_base)[0]:.3f}x base (case {min(against_base)[1]})"
    )


def main(op: str, results: Path) -> None:
    summary = json.loads((results / f"h200-{op}.json").read_text())
    warm = json.loads((results / f"h200-{op}-warm.json").read_text())["us"]
    kinds = {case["case_idx"]: case["group_id"] or "no group" for case in summary["cases"]}
    cold = [{"case": c["case_idx"], **c["device_us"]} for c in summary["cases"]]
    host = [{"case": c["case_idx"], **c["host_us"]} for c in summary["cases"]]
    for title, rows in (("device, cold L2", cold), ("device, warm L2", warm), ("host", host)):
        show(title, rows)
        if op == "add":
            flat = [r for r in rows if "flat" in kinds[r["case"]]]
            show("  equal shapes", flat)
            show("  broadcast", [r for r in rows if r not in flat])
    for stage in summary["stages"]:
        print(f"stage {stage['stage']:<10} {stage['seconds']:8.1f} s")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
