"""Types, names, errors and the registry: what every other room stands on."""
