"""The programs, what they compute, and the tests that tell wrong from right."""
