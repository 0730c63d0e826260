"""What the page Pictures computes."""
