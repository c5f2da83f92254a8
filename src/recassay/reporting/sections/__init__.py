"""How our results are told, one file a word; each comes through the entry-point group `recassay.sections`."""
