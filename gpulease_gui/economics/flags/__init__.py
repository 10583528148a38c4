"""What in an offer should make a buyer ask: one red flag per file, found by looking in this folder."""
