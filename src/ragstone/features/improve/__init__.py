"""A judge and labels -> a better judge: developed by hand, learnt, or fitted as a cascade."""
