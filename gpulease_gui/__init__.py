"""GPULease: what the supplier promised beside what the rented node measures."""

__version__ = "0.1.0"
