"""The sections of `benchmarks/scale.py`: a module each, with `add_options(parser)` and `main(chosen)`."""
