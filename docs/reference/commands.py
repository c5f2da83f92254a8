"""The page of the command line: its grammar, then the help of every command, as the program prints it."""

from __future__ import annotations

import contextlib
import io

GRAMMAR = """# Command line

`recassay COMMAND THING [OPTIONS]`: what to do, what to do it to, and how.

- The thing is a results table (`results.csv`, several files, `published:kdd24`), the folder of a study, or a dataset.
  It comes first and has no option name.
- A command answers one question. Where a question has several methods, `--method` chooses one; where several models
  share a subject, the model is a second word (`recassay irt beta`).
- Options that mean the same have one name everywhere: `--metric` (or `--metrics`), `--out`, `--json`, `--split`,
  `--seed`, `--workers`.
- Lists have commas between them or repeat the option: `--methods mean,borda`. Shares are written `2%` or `0.02`, times
  `90s`, `30m` or `2h`.
- `--json` prints the whole answer on stdout and nothing else there. `--out` names the folder or file to write; what was
  written is said on stderr.
- The exit code is 0, 1 where something failed, or 2 where the input or an option is wrong: one line on stderr says what
  is wrong, where, and what to do.
- A name that was given up says what to type instead.
- `recassay --help` lists the commands that most people need, `recassay help --all` every one, `recassay help COMMAND`
  the options of one. Options that only an expert sets stand last, under "Advanced".
- `recassay --install-completion` completes commands and options with the Tab key (bash, zsh, fish).

Options are the arguments of the [Python functions](python.md), with hyphens for underscores.
"""


def command_line_page() -> str:
    """The grammar, and the help of every command in the order in which `recassay --help` lists them."""
    from recassay.cli.commands import PROGRAM
    from recassay.cli.program import Program

    def paths(program: Program, before: tuple[str, ...]) -> list[tuple[str, ...]]:
        found = [before]
        for name, command in program.known.items():
            if isinstance(command, Program):
                found += paths(command, (*before, name))
            else:
                found.append((*before, name))
        return found

    parts = [GRAMMAR]
    for path in [("help", "--all"), *paths(PROGRAM, ())]:
        words = path if path[:1] == ("help",) else (*path, "--help")
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            PROGRAM.main([*words], prog_name="recassay", standalone_mode=False, terminal_width=100)
        title = " ".join(["recassay", *path])
        parts.append(f"## {title}\n\n```text\n{shown.getvalue().strip()}\n```\n")
    return "\n".join(parts)
