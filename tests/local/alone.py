"""Imported before anything else here: no network, one thread, and a torchvision that can be imported."""

import os

import torch

os.environ["HF_HUB_OFFLINE"] = "1"
torch.set_num_threads(1)  # the models are too small to share

try:
    import torchvision
except RuntimeError:
    # A torchvision built for CUDA lacks its compiled operators beside a torch for CPUs. No processor uses
    # them, and it can be imported once the two that it looks for by name are declared.
    operators = torch.library.Library("torchvision", "DEF")
    for _name in ("nms", "qnms"):
        operators.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision  # noqa: F401
