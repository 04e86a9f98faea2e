"""Documents -> questions that can be trusted: written, checked, criticised, certified."""
