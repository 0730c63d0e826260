"""Why a model said this token: what its parts add to a logit, and what a logit would be had they done otherwise."""
