"""Neural and graph algorithms on one training loop. Their modules import torch only when a model is trained."""
