"""How much water a soil holds."""

# Millimetres of water that plants can use, for each metre of depth.
AVAILABLE_MM_PER_M = {"sand": 60, "loam": 170, "clay": 190}


def available_water_mm(soil: str, root_depth_m: float) -> float:
    """Return the millimetres of water that roots of this depth can reach in a soil.

    Raises ValueError for a soil that is none of sand, loam and clay.
    """
    if soil not in AVAILABLE_MM_PER_M:
        raise ValueError(f"unknown soil {soil!r}: take sand, loam or clay")
    return AVAILABLE_MM_PER_M[soil] * root_depth_m


def refill_point_mm(soil: str, root_depth_m: float) -> float:
    """Return how dry the soil may become before it is watered: half of what it holds is left."""
    return available_water_mm(soil, root_depth_m) / 2
