# SPDX-License-Identifier: Apache-2.0
"""torch.cumsum along one axis; the cases lie beside this file."""

import json
import os

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, dim):
        return torch.cumsum(x, dim)


def get_init_inputs():
    return []


def get_input_groups():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.jsonl")
    with open(path, encoding="utf-8") as lines:
        return [[make_input(entry) for entry in json.loads(line)["inputs"]] for line in lines]


def make_input(entry):
    if entry["type"] == "attr":
        return entry["value"]
    return torch.rand(entry["shape"]).to(getattr(torch, entry["dtype"]))
