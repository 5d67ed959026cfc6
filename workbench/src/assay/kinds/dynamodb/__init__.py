"""Tables of DynamoDB services, whose items the engine puts and gets by itself."""
