"""The mathematics of attention. Imports torch and the standard library, nothing else."""
