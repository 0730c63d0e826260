"""Tests of the page Why this token?"""
