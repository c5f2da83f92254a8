"""Recommended lists that other tools wrote: tables, TREC runs, ranx, LensKit, Elliot, WarpRec, OmniRec."""
