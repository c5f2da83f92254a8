"""dev.py without installing anything."""

from __future__ import annotations

import ast
import subprocess
import sys

from support.places import ROOT


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(ROOT / "dev.py"), *arguments], capture_output=True, text=True)


def test_help_and_unknown_commands():
    assert "python3 dev.py demo|check|test|lint|bench|docs|bounds|wheel|sbom" in run("--help").stdout
    wrong = run("frob")
    assert wrong.returncode == 2
    known = "demo, check, test, lint, bench, docs, bounds, wheel, sbom, soak, consistency"
    assert wrong.stderr.strip() == f"dev.py: there is no command 'frob'; there are: {known}"


def test_standard_library_only():
    tree = ast.parse((ROOT / "dev.py").read_text())
    names = {n.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names}
    names |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names)


def test_ci_calls_lint_and_test():
    text = (ROOT / ".ci" / "run").read_text()
    assert "python3 dev.py lint" in text
    assert "python3 dev.py test" in text
