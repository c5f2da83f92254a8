"""Published tables that the tests and `recassay reproduce` stand on, each with its source in `manifest.toml`."""
