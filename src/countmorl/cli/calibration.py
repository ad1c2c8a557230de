"""`countmorl calibration RUN`: do counts predict the model's error?"""

from __future__ import annotations

from countmorl.cli.output import RunFolder, print_json, print_table
from countmorl.configs import to_json
from countmorl.errors import printable
from countmorl.reports.figures import errors
from countmorl.runs.folder import Run


def calibration(run: RunFolder, json: bool = False) -> int:
    """Show whether counts predict the model's error: held-out error by count, in bins.

    Args:
        run: The folder of a run that counts; the figure goes there.
        json: Print JSON.
    """
    opened = Run.open(run)
    facts = opened.calibration()
    if json:
        print_json(to_json(facts))
        return 0
    print_table(
        ("count", "error", "rows"),
        ((f"{b.count:.1f}", f"{b.error:.4f}", str(b.rows)) for b in facts.bins),
    )
    print(printable(facts.verdict))
    swapped = facts.swapped_actions
    print(
        f"The median count of held-out pairs is {facts.median_count:.1f}; with other rows' "
        f"actions it is {swapped.median_count:.1f}, and the logged one of two such pairs "
        f"counts more in {100 * swapped.told_apart:.0f} % of cases."
    )
    if facts.jolted:
        print_table(
            ("noise on", "deviations", "told apart", "unseen", "median count"),
            (
                (
                    each.of,
                    f"{each.noise:g}",
                    f"{100 * each.told_apart:.0f} %",
                    f"{100 * each.unseen:.0f} %",
                    f"{each.median_count:.1f}",
                )
                for each in facts.jolted
            ),
        )
    if facts.held_out:
        print_table(
            ("tenth held out", "rows", "told apart", "unseen", "median count", "ordinary ones"),
            (
                (
                    {"return": "highest returns", "time": "last"}[each.by],
                    str(each.rows),
                    f"{100 * each.told_apart:.0f} %",
                    f"{100 * each.unseen:.0f} %",
                    f"{each.median_count:.1f}",
                    f"{100 * each.ordinary_unseen:.0f} % unseen, count {each.ordinary_count:.1f}",
                )
                for each in facts.held_out
            ),
        )
    if facts.verified:
        print_table(
            ("verified up to", "times", "clone's pairs left out", "held-out ones"),
            (
                (
                    f"{100 * each.quantile:g} %",
                    f"{each.times:g}",
                    f"{100 * each.imagined:.0f} %",
                    f"{100 * each.held_out:.0f} %",
                )
                for each in facts.verified
            ),
        )
    print(f"Figure: {errors(opened)}")
    return 0
