"""The one script that samples GPUs where it runs: read as package data, imported by nobody."""
