"""`python -m recassay` is the command line."""

from recassay.cli.main import main

main()
