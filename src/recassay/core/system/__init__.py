"""The machine and its terminal: whole files, plugin files, compiled code, how things show themselves."""
