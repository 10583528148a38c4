"""Use cases: they own the threads and know no Qt; the window and the command line ask them and listen."""
