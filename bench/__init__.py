"""Benchmarks: ours beside a raw limit, measured in the same run, as ratios.

Never asserts a time: machines differ, ratios less so.
"""
