"""Builds."""
