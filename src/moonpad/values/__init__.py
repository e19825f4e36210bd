"""The frozen types that travel between the stages. Nothing here touches the world."""
