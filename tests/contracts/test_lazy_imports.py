"""Imports inside functions are few, each for a reason, and names of modules are plain imports at the top."""

import ast
import re
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "roamkb"

#: Each command, hook or shell command waits for these; a package more would be felt.
_WAITED_FOR = {
    "__main__.py": 10,
    "boundary/store/kb_paths.py": 1,
    "fs/user_dirs.py": 5,
    "journal/store/glance.py": 1,
    "wall/launch.py": 1,
    "wall/places.py": 1,
}
#: Libraries that have one owner each, which the layers' linter sees by the import, or that may be missing.
_OF_OTHERS = {
    "core/gitignore.py": 1,
    "interfaces/cli/main.py": 6,
    "kb/search/semantic/models.py": 1,
    "kb/search/store/grep.py": 3,
    "org/from_markdown.py": 2,
    "org/orgparse_check.py": 1,
}
#: The standard library's, which one function needs, and most processes don't; or that not each system has.
_STANDARD = {
    "app/environment.py": 1,
    "app/log/curation.py": 1,
    "app/maintenance.py": 2,
    "app/operation_method.py": 2,
    "core/ids.py": 1,
    "core/startup/dataclasses.py": 1,
    "core/startup/standard_library.py": 1,
    "core/startup/typing.py": 1,
    "fs/files.py": 2,
    "fs/locks.py": 1,
    "fs/git_index.py": 1,
    "interfaces/cli/terminal.py": 2,
    "interfaces/output/render.py": 1,
    "kb/notes/node_names.py": 1,
    "kb/search/index/file.py": 2,
    "models/clients/language_model.py": 1,
    "org/syntax/links.py": 1,
    "org/syntax/syntax_table.py": 1,
    "pipeline/extract/payloads.py": 1,
}
#: The modules that name what they need late by `lazy_module`, which the linter of layers doesn't see.
_BY_NAME = {
    "boundary/store/remote_addresses.py",
    "guard/tool_calls.py",
    "harnesses/claude_code.py",
    "harnesses/codex.py",
    "harnesses/gemini_cli.py",
    "interfaces/cli/main.py",
    "interfaces/hooks/main.py",
    "interfaces/hooks/tool_calls.py",
    "journal/journal.py",
    "journal/store/look.py",
    "journal/store/tables.py",
    "kb/search/semantic/cache.py",
    "kb/search/semantic/minilm.py",
    "wall/broker.py",
}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def _modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def _imports_in_functions(tree: ast.Module) -> set[ast.stmt]:
    functions = (node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS))
    return {
        node for function in functions for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)
    }


def test_imports_inside_functions_have_a_reason() -> None:
    """Sixty at most; who adds one says above why a plain import of the module won't do, who drops one counts it off."""
    counted = {name: len(_imports_in_functions(tree)) for name, tree in _modules().items()}
    allowed = _WAITED_FOR | _OF_OTHERS | _STANDARD
    assert allowed == {name: count for name, count in counted.items() if count}
    assert sum(allowed.values()) <= 60


def test_modules_of_ours_are_imported_inside_functions_by_the_doors_alone() -> None:
    """Elsewhere `from package import module` at the top is as late."""
    theirs = Counter(
        name
        for name, tree in _modules().items()
        for node in _imports_in_functions(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("roamkb")
    )
    assert theirs.keys() <= {"__main__.py", "fs/user_dirs.py", "wall/places.py"}


def test_modules_are_named_as_texts_by_few() -> None:
    """What `lazy_module` names no linter of layers sees."""
    uses = re.compile(r"\blazy_module\(")
    assert _BY_NAME == {
        name
        for name in _modules()
        if name != "__init__.py" and uses.search((PACKAGE / name).read_text(encoding="utf-8"))
    }


def test_a_module_named_for_type_checkers_is_the_one_that_is_loaded() -> None:
    """Each `x = lazy_module("a.b")` stands in the else branch of an import of a.b as x."""
    for name, tree in _modules().items():
        for choice in (node for node in tree.body if isinstance(node, ast.If) and node.orelse):
            late = {
                node.targets[0].id: ast.literal_eval(node.value.args[0])
                for node in choice.orelse
                if isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and isinstance(node.value, ast.Call)
                and ast.unparse(node.value.func) == "lazy_module"
            }
            typed = {
                alias.asname or alias.name: f"{node.module}.{alias.name}"
                if isinstance(node, ast.ImportFrom)
                else alias.name
                for node in choice.body
                if isinstance(node, ast.Import | ast.ImportFrom)
                for alias in node.names
            }
            assert late.items() <= typed.items(), name
