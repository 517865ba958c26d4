"""The shell around the rules: one session's tasks, the ear, the voice, the socket."""
