"""The page of boards: places, cost, findings, and a card for every algorithm and dataset."""
