"""The command line: each command is derived from one function of `recassay.api`."""
