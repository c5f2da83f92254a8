"""The tables that are judged: results and their labels, responses, strata, users, characteristics and facts."""
