"""The plain HTTP routes: subjects, productions, health, metrics."""
