"""The command line: an equal of the window on the same services, English, with stable exit codes."""
