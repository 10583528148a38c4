"""The words of the trade as frozen values: no I/O, no libraries, nothing that can fail at a distance."""
