"""When a crop may be sown."""

from datetime import date, timedelta

# Degrees Celsius that the soil must have reached at a depth of five centimetres.
LOWEST_SOIL_TEMPERATURE = {"pea": 5, "maize": 10, "bean": 12, "pumpkin": 15}
FROST_MARGIN = timedelta(days=14)


def may_sow(crop: str, soil_temperature: float) -> bool:
    """Return whether the soil is warm enough for the seeds of a crop."""
    return soil_temperature >= LOWEST_SOIL_TEMPERATURE[crop]


def first_sowing_day(crop: str, last_frost: date) -> date:
    """Return the first day on which a crop is sown: peas before the last frost, others two weeks after it."""
    if crop == "pea":
        return last_frost - FROST_MARGIN
    return last_frost + FROST_MARGIN
