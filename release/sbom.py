"""The software bill of materials of the installed RecAssay, as CycloneDX 1.5 JSON: python3 dev.py sbom [--out FILE]

It names RecAssay and every distribution that it needs, also indirectly, in the version that is installed here, with its
licence, where it comes from (a package URL) and who needs whom. Extras are left out unless named: --extra neural.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "recassay"


def normal(name: str) -> str:
    """The name of a distribution as indexes write it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(distribution: metadata.Distribution, extras: list[str]) -> list[str]:
    """The names of the distributions that one requires here; a marker that does not hold leaves its line out."""
    from packaging.requirements import Requirement

    found = []
    for line in distribution.requires or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            found.append(normal(requirement.name))
    return found


def closure(extras: list[str]) -> dict[str, tuple[metadata.Distribution, list[str]]]:
    """By name, every distribution that is needed and installed, and what it needs itself."""
    found: dict[str, tuple[metadata.Distribution, list[str]]] = {}
    waiting = [NAME]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        needs = needed(distribution, extras if name == NAME else [])
        found[name] = (distribution, needs)
        waiting += needs
    return found


def component(name: str, distribution: metadata.Distribution) -> dict[str, Any]:
    """A distribution as CycloneDX describes one."""
    told: dict[str, Any] = {
        "type": "application" if name == NAME else "library",
        "bom-ref": f"pkg:pypi/{name}@{distribution.version}",
        "name": name,
        "version": distribution.version,
        "purl": f"pkg:pypi/{name}@{distribution.version}",
    }
    licence = distribution.metadata.get("License-Expression")
    if licence:
        told["licenses"] = [{"expression": licence}]
    elif distribution.metadata.get("License"):
        told["licenses"] = [{"license": {"name": distribution.metadata["License"].strip().splitlines()[0][:120]}}]
    record = distribution.read_text("RECORD")
    if record and name != NAME:
        told["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(record.encode()).hexdigest()}]
    return told


def bill(extras: list[str]) -> dict[str, Any]:
    """The whole document; the same installation always gives the same one."""
    found = closure(extras)
    if NAME not in found:
        raise SystemExit("sbom: RecAssay is not installed in this environment; run it as: python3 dev.py sbom")
    parts = {name: component(name, distribution) for name, (distribution, _) in sorted(found.items())}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": parts[NAME]},
        "components": [part for name, part in parts.items() if name != NAME],
        "dependencies": [
            {
                "ref": parts[name]["bom-ref"],
                "dependsOn": sorted({parts[one]["bom-ref"] for one in found[name][1] if one in parts}),
            }
            for name in parts
        ],
    }


def main(arguments: list[str] | None = None) -> None:
    """Write the bill to a file, or print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--extra", action="append", default=[])
    options = parser.parse_args(arguments)
    text = json.dumps(bill(options.extra), indent=1) + "\n"
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
