"""Analyses that passes share. Each reads the IR and changes nothing."""
