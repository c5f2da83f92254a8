"""The notebooks of docs/notebooks as pages: text, code, and what each cell showed when it was run."""

from __future__ import annotations

import json
from pathlib import Path


def notebook_page(path: Path) -> str:
    """A notebook as Markdown; the tests run it and compare what it shows."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            text = "".join(output.get("data", {}).get("text/plain", output.get("text", [])))
            parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join([*parts, f"The notebook as a file: [{path.name}]({path.name})."]) + "\n"
