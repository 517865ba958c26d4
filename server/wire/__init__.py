"""The frozen WebSocket contract: messages, close codes, limits, and the codec between bytes and them."""
