"""`python -m recassay` is the command line."""

from recassay.cli.start import main

main()
