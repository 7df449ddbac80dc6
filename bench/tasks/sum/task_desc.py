# SPDX-License-Identifier: Apache-2.0
"""torch.sum over one axis, on the cases of the file named by KSPLIT_CASES."""

import json
import os

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, dim, keepdim=False):
        return torch.sum(x, dim, keepdim)


def get_init_inputs():
    return []


def get_input_groups():
    path = os.environ.get("KSPLIT_CASES")
    if not path:
        raise FileNotFoundError("set KSPLIT_CASES to a file of cases, such as Sum.jsonl")
    with open(path, encoding="utf-8") as lines:
        return [[make_input(entry) for entry in json.loads(line)["inputs"]] for line in lines]


def make_input(entry):
    if entry["type"] == "attr":
        return entry["value"]
    return (torch.randn(entry["shape"]) + 1).to(getattr(torch, entry["dtype"]))
