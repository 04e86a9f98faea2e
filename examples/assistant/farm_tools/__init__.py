"""The tools of the agricultural assistant: weather, a table of crops, a catalogue of videos."""
