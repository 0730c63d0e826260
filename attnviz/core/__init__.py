"""The mathematics of attention: torch and the standard library, nothing else."""
