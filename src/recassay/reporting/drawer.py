"""A process that draws: specifications come in on its standard input, files go out on its standard output.

A request is a line of JSON, `[specification, formats]`; the answer is a line of JSON, the sizes of the files by format,
and then the files one after the other, or `{"error": "..."}`. It ends when its input does.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import BinaryIO

WARM_UP = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a", "type": "nominal"}}}


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one request after the other."""
    from recassay.reporting.drawing import draw_spec

    draw_spec(WARM_UP, ("svg",))  # while others still compute, the renderer starts
    for line in requests:
        spec, formats = json.loads(line)
        head: dict[str, int | str]
        try:
            files = draw_spec(spec, formats)
            head = {form: len(data) for form, data in files.items()}
        except Exception as error:
            files, head = {}, {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(head).encode() + b"\n")
        answers.writelines(files.values())
        answers.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked is interrupted, and then closes our input
    serve(sys.stdin.buffer, sys.stdout.buffer)
