"""The lost points of a run -> the component that has to answer for each."""
