"""Setting LaTeX as a writer would, where a TeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


def why_no_tex() -> str | None:
    """Why LaTeX cannot be set here; None where it can."""
    absent = [name for name in ("pdflatex", "bibtex", "kpsewhich") if shutil.which(name) is None]
    if not absent and subprocess.run(["kpsewhich", "siunitx.sty"], capture_output=True).returncode:
        absent = ["siunitx.sty"]
    packages = "texlive-latex-base, texlive-latex-recommended, texlive-science"
    return f"{' and '.join(absent)} not found ({packages})" if absent else None


needs_tex = pytest.mark.skipif(why_no_tex() is not None, reason=str(why_no_tex()))


def needs_tex_file(name: str) -> None:
    """Skip where TeX does not have a class or a package."""
    if subprocess.run(["kpsewhich", name], capture_output=True).returncode:
        pytest.skip(f"{name} not found (texlive-publishers)")


@dataclass(frozen=True, slots=True)
class SetPages:
    """What pdflatex made: how many pages, its log, and their text where pdftotext is installed."""

    pages: int
    log: str
    text: str | None

    @property
    def overfull(self) -> list[float]:
        """The points by which lines and tables stick out of their column."""
        return [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", self.log)]


def set_pages(folder: Path, *, references: bool = True, name: str = "main") -> SetPages:
    """Set `main.tex` until its references are known; an error of LaTeX is an error of the test."""
    tex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name]
    for command in [tex, ["bibtex", name], tex, tex] if references else [tex]:
        ran = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
        assert ran.returncode == 0, ran.stdout.decode("utf-8", "replace")[-1500:]
    log = (folder / f"{name}.log").read_text("utf-8", "replace").replace("\n", " ")
    found = re.search(r"Output written on \S+ \((\d+) pages?", log)
    assert found
    text = None
    if shutil.which("pdftotext"):
        read = subprocess.run(["pdftotext", "-layout", f"{name}.pdf", "-"], cwd=folder, capture_output=True, check=True)
        text = read.stdout.decode("utf-8")
    return SetPages(int(found[1]), log, text)
