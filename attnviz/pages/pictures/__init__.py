"""The page Pictures: attention of vision models over the patches of a picture."""
