"""`runtime.py`: what loads a bundle and acts by it, in one file that needs NumPy alone.

It is made of the modules themselves, one behind the other: there is no second copy of any rule.
Their top-level names must therefore be different ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.resources import files

from countmorl.errors import RunError

MODULES = (
    "errors",
    "disk",
    "json_files",
    "configs",
    "files",
    "schema",
    "spaces",
    "runtime.base",
    "runtime.dates",
    "runtime.values",
    "runtime.actions",
    "runtime.named",
    "runtime.rows",
    "runtime.session",
    "runtime.checks",
    "runtime.files",
    "runtime.policy",
    "runtime.levels",
    "runtime.tabular",
    "runtime.load",
    "runtime.tables",
    "runtime.coding",
    "runtime.use",
    "runtime.added",
    "runtime.counts",
    "runtime.neighbours",
    "runtime.guard",
    "runtime.contract",
    "runtime.bundle",
)
"""What a bundle needs, each module behind those that it imports."""
HEAD = '''"""A policy in production: `load(DIR).act(obs)` gives action and why. Needs NumPy alone.

    from runtime import load
    action, why = load(".").act_row({...})

    python runtime.py '{"name": value, ...}'     # one row from the command line, as JSON

This file was made from countmorl, version %s, whose modules follow one another here unchanged.
"""

from __future__ import annotations

%s

'''
FOOT = '''
load = load_bundle


def main(arguments: list[str]) -> int:
    """Answer one row, or a list of numbers, given as JSON."""
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print("usage: python runtime.py JSON   (a row by name, or {'{'}} a list of numbers)")
        return 2
    try:
        asked = parse_text(arguments[0])
        bundle = load(Path(__file__).parent)
        action, why = bundle.act_row(asked) if isinstance(asked, dict) else bundle.act(asked)
    except (CountMorlError, ValueError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    said = action.tolist() if isinstance(action, (np.ndarray, np.generic)) else action
    print(json.dumps({"action": said, **to_json(why)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''.replace("{'{'}} ", "")


def single_file(version: str) -> str:
    """The text of `runtime.py`."""
    imports: dict[str, str] = {"sys": "import sys"}
    bodies: list[str] = []
    owners: dict[str, str] = {name: "runtime.py" for name in ("load", "main")}
    for module in MODULES:
        text = _source(module)
        lines: list[str | None] = list(text.splitlines())
        for node in ast.parse(text).body:
            for name in _names(node):
                _claim(owners, name, module)
            if _is_left_out(node):
                lines[node.lineno - 1 : node.end_lineno] = [None] * _length(node)
                for name, line in _imported(node):
                    _claim(imports, name, line)
        body = "\n".join(line for line in lines if line is not None).strip()
        bodies.append(f"# {'-' * 20} countmorl.{module}\n\n{body}\n")
    if both := sorted(set(imports) & set(owners)):
        raise RunError(f"{', '.join(both)}: imported and defined in one file.")
    head = HEAD % (version, "\n".join(sorted(set(imports.values()))))
    return head + "\n\n".join(bodies) + FOOT


def _source(module: str) -> str:
    *rooms, name = module.split(".")
    return files("countmorl").joinpath(*rooms, f"{name}.py").read_text(encoding="utf-8")


def _names(node: ast.stmt) -> Iterator[str]:
    """What a statement at the top of a module names."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        found = target.elts if isinstance(target, ast.Tuple) else [target]
        yield from (each.id for each in found if isinstance(each, ast.Name))


def _is_left_out(node: ast.stmt) -> bool:
    """The module's docstring, imports, and what type checkers alone read."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    first = node.lineno == 1 and isinstance(node, ast.Expr)
    return first and isinstance(node.value, ast.Constant)  # type: ignore[attr-defined]


def _imported(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Names that come from elsewhere than our modules, each with its own line."""
    if isinstance(node, ast.Import):
        for each in node.names:
            alias = f" as {each.asname}" if each.asname else ""
            yield each.asname or each.name, f"import {each.name}{alias}"
    elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
        ours = (node.module or "").split(".")[0] == "countmorl"
        if ours and any(each.asname for each in node.names):
            raise RunError(f"{ast.unparse(node)}: another name than its own is lost in one file.")
        for each in node.names if not ours else ():
            alias = f" as {each.asname}" if each.asname else ""
            yield each.asname or each.name, f"from {node.module} import {each.name}{alias}"


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _claim(owners: dict[str, str], name: str, owner: str) -> None:
    """Note whose a name is; two owners cannot share it."""
    if owners.setdefault(name, owner) != owner:
        raise RunError(
            f"'{name}' is of {owners[name]} and of {owner}: one file cannot hold both. Rename one."
        )
