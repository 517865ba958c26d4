"""What outlives a session: profiles, subjects, productions."""
