"""The panels of the mask page: rules and paint, what follows from them, the traps, and training with a leak."""
