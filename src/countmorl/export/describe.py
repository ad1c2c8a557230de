"""The README of a bundle: what it is, and how to ask it."""

from __future__ import annotations

import json

from countmorl.runtime.contract import Contract

TEXT = """# A policy for production

Made by countmorl {version} from a run of {algorithm} on the log `{dataset}`.

{judged}

## Ask it

From Python, with NumPy and nothing else installed:

```python
from runtime import load

bundle = load(".")
action, why = {call}
print(action, why.count, why.level, why.fell_back)
```

From the command line, `python runtime.py '{asked}'`. Over HTTP, where countmorl is installed:

```bash
countmorl serve . &
curl -s http://127.0.0.1:8000/act -H 'Content-Type: application/json' -d '{body}'
```
{onnx}
## What it takes

| number | unit | logged from | to |
|---|---|---|---|
{table}

{history}{far}
{unreadable}

## What it answers

{answers}

`why.count` is how often the log held such a pair of observation and action, `why.level` is covered,
thin{thin} or unseen, `why.fell_back` says whether the fall-back acted in the policy's place.

{guard}

`contract.json` has all of this for programs, `contract.schema.json` is its JSON schema, and
`sha256sum -c SHA256SUMS` tells whether every file is the one that was exported.
"""


def bundle_readme(contract: Contract, onnx: bool) -> str:
    """The text of a bundle's README."""
    asked, by_row = _example(contract)
    call = f"bundle.act({asked})"
    if by_row:
        call = f"bundle.act_row({asked})"
    if contract.history > 1:
        call = f"bundle.session().act_row({asked})" if by_row else f"bundle.session().act({asked})"
    text = json.dumps(asked)
    return TEXT.format(
        version=contract.origin.countmorl,
        algorithm=contract.origin.algorithm,
        dataset=contract.origin.dataset,
        judged=contract.judged.sentence if contract.judged else "Nobody has judged it yet.",
        call=call,
        asked=text,
        body=json.dumps({"row" if by_row else "obs": asked}),
        onnx=_graph(contract) if onnx else "",
        table="\n".join(
            f"| {each.name} | {each.unit} | {each.low:g} | {each.high:g} |"
            for each in contract.observation
        ),
        history=_history(contract),
        far=_far(contract),
        unreadable=_unreadable(contract),
        answers=_answers(contract),
        thin=f" (a count below {contract.thin:g})" if contract.thin is not None else "",
        guard=_guard(contract),
    )


def _example(contract: Contract) -> tuple[object, bool]:
    """Something to ask: a row in the log's words, or numbers from the middle of their ranges."""
    schema = contract.schema
    if schema is None:
        return [round((each.low + each.high) / 2, 3) for each in contract.observation], False
    ranges = {each.name: each for each in contract.observation}
    row: dict[str, object] = {}
    for column in schema.obs:
        known = ranges.get(column.name)
        middle = round((known.low + known.high) / 2, 3) if known else 0.0
        dates = {"hour": "2024-03-31T14:30:00", "weekday": "2024-03-31T14:30:00"}
        value = dates.get(column.kind, column.values[0] if column.values else middle)
        row[column.name] = bool(middle) if column.kind == "boolean" else value
    return row, True


def _graph(contract: Contract) -> str:
    kept = "obs -> action" if contract.counts is None else "obs -> action, count, level"
    return f"""
`policy.onnx` is the same policy as one graph ({kept}) for any ONNX runtime:
`obs` is float32 [n, {len(contract.observation)}] in the order below. Levels are 0 unseen, 1 thin,
2 covered. A graph refuses nothing and never falls back: what is no number or far from the log is
level 0.
"""


def _history(contract: Contract) -> str:
    if contract.history == 1:
        return ""
    return (
        f"An observation is made of the last {contract.history} rows: begin every episode with "
        "`session = bundle.session()`, and ask it once at every step.\n\n"
    )


def _far(contract: Contract) -> str:
    answer = "is refused" if contract.far == "refuse" else "counts as unseen, so the guard acts"
    return (
        f"A number that lies outside its range by more than {contract.reach:g} times its width "
        f"{answer}."
    )


def _unreadable(contract: Contract) -> str:
    answer = "is refused" if contract.unreadable == "refuse" else "is answered by the fall-back"
    return f"A row with a missing column, an unknown category or NaN {answer}."


def _answers(contract: Contract) -> str:
    if contract.discrete:
        return "One of " + ", ".join(f"`{each.name}`" for each in contract.action) + "."
    each = (f"`{one.name}` from {one.low:g} to {one.high:g} {one.unit}" for one in contract.action)
    return "; ".join(text.strip() for text in each) + "."


def _guard(contract: Contract) -> str:
    guard = contract.guard
    if guard is None:
        return "It has no guard: nothing acts in its place where the log has seen nothing."
    return (
        f"Where the policy's action was logged fewer than {guard.threshold:g} times, the fall-back "
        f"acts: {guard.fall_back}."
    )
