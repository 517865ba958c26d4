"""The terminal's candidate: speaks the exam's WebSocket contract from the client's side. Never imports the exam."""
