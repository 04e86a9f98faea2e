"""Which rows are watered today, and for how long."""

from seedbed.soil import available_water_mm, refill_point_mm

LITRES_PER_MINUTE = 4.5  # of one drip line
LONGEST_RUN_MINUTES = 90  # the well is empty after that


def needs_water(soil: str, root_depth_m: float, stored_mm: float) -> bool:
    """Return whether the water that is left in the soil is below its refill point."""
    return stored_mm < refill_point_mm(soil, root_depth_m)


def run_minutes(soil: str, root_depth_m: float, stored_mm: float, area_m2: float) -> float:
    """Return for how many minutes the drip line runs until the soil is full, 90 at most.

    A millimetre on a square metre is a litre.
    """
    missing_mm = max(0.0, available_water_mm(soil, root_depth_m) - stored_mm)
    return min(LONGEST_RUN_MINUTES, missing_mm * area_m2 / LITRES_PER_MINUTE)
