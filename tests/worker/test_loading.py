# SPDX-License-Identifier: Apache-2.0
"""Tasks, bases and candidates, good and bad."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import RULES, Failure, Operator, WorkerProcess


def load_error(worker: WorkerProcess, operator: Operator) -> dict[str, Any]:
    with pytest.raises(Failure) as failure:
        worker.load(operator.folder)
    return failure.value.error


def test_load_describes_parameters_and_cases(worker: WorkerProcess, operator: Operator) -> None:
    operator.task(
        "x, scale=float('inf'), *, axes=(0, -1): x * 2",
        "[[torch.zeros(3, 4, dtype=torch.float16).t()], [torch.zeros(7)[1:], 2.5]]",
    )
    loaded = worker.load(operator.folder)
    assert loaded["op_name"] == "my_op"
    assert loaded["parameters"] == [
        {"name": "x", "kind": "positional", "default": None},
        {"name": "scale", "kind": "positional", "default": "float('inf')"},
        {"name": "axes", "kind": "keyword_only", "default": "(0, -1)"},
    ]
    assert loaded["reference_runs_in_float64"] is True
    first, second = loaded["cases"]
    assert first["index"] == 1
    assert first["inputs"] == [
        {
            "name": "x",
            "kind": "tensor",
            "tensor": {
                "dtype": "float16",
                "shape": [4, 3],
                "strides": [1, 4],
                "storage_offset": 0,
                "alignment": 16,
                "contiguous": False,
            },
        },
        {"name": "scale", "kind": "constant", "value": {"float": "inf"}},
        {"name": "axes", "kind": "constant", "value": [0, -1]},
    ]
    tensor = second["inputs"][0]["tensor"]
    assert (tensor["storage_offset"], tensor["alignment"], tensor["contiguous"]) == (1, 4, True)
    assert second["inputs"][1]["value"] == 2.5


def test_get_inputs_is_one_case_and_op_name_can_be_set(
    worker: WorkerProcess, operator: Operator
) -> None:
    operator.task("x, mode='a': x", "[]")
    task = operator.folder / "task_desc.py"
    text = task.read_text().replace("get_input_groups", "get_inputs").replace("[]", "[None, 'b']")
    task.write_text(text + "\nop_name = 'Best Op!'\n")
    loaded = worker.load(operator.folder)
    assert loaded["op_name"] == "Best_Op"
    assert [i["value"] for i in loaded["cases"][0]["inputs"]] == [None, "b"]


def test_values_depend_on_the_seed_alone(worker: WorkerProcess, operator: Operator) -> None:
    base = operator.task("x: x * x", "[[torch.randn(2)], [torch.randn(6)]]")
    operator.candidate("x: x * 0")

    def worst(seed: int) -> Any:
        worker.load(operator.folder, seed=seed)
        file = str(operator.folder / "candidate.py")
        case = worker.ask("verify", file=file, cases=[2], rules=RULES)["cases"][0]
        return case["outputs"][0]["worst"]["expected"]

    assert worst(1) == worst(1)
    assert worst(1) != worst(2)
    assert worker.ask("verify", file=base, cases=[2], rules=RULES)["cases"][0]["error"] is None


def test_base_shares_the_references_parameters(worker: WorkerProcess, operator: Operator) -> None:
    body = """
        class {name}(nn.Module):
            def __init__(self, n):
                super().__init__()
                {extra}
                self.weight = nn.Parameter(torch.randn(n))

            def forward(self, x):
                return x * self.weight
    """
    head = "import torch\nfrom torch import nn\n"
    import textwrap

    task = head + textwrap.dedent(body.format(name="Model", extra="pass"))
    task += "\ndef get_init_inputs():\n    return [5]\n"
    task += "\ndef get_inputs():\n    return [torch.ones(5)]\n"
    operator.write("task_desc.py", task)
    # It draws once more than the reference: only loading the state makes them equal.
    base = head + textwrap.dedent(body.format(name="ModelNew", extra="torch.randn(3)"))
    path = operator.write("base_kernel.py", base)
    worker.load(operator.folder)
    outputs = worker.ask("verify", file=path, cases=[1], rules=RULES)["cases"][0]["outputs"]
    assert outputs[0]["bit_equal_native"] is True
    assert outputs[0]["golden_rms"] > 0


def test_candidates_are_cached_by_content(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x + 1", "[[torch.ones(4)]]")
    worker.load(operator.folder)

    def violations(forward: str) -> int:
        file = operator.candidate(forward)
        case = worker.ask("verify", file=file, cases=[1], rules=RULES)["cases"][0]
        return case["outputs"][0]["violations"]

    assert [violations("x: x + 1"), violations("x: x + 2"), violations("x: x + 1")] == [0, 4, 0]


def test_task_finds_its_files_whatever_the_working_directory(
    operator: Operator, tmp_path: Path
) -> None:
    operator.task("x: x + 1", "[torch.load_cases()]")
    operator.write("helper.py", "SIZE = 3\n")
    task = operator.folder / "task_desc.py"
    text = task.read_text().replace("[torch.load_cases()]", "[[torch.ones(json.load(open(PATH)))]]")
    head = "import json, os\nfrom helper import SIZE\n"
    head += "PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'cases.json')\n"
    task.write_text(head + text)
    operator.write("cases.json", "[3, 2]")
    worker = WorkerProcess(cwd=tmp_path)
    loaded = worker.load(operator.folder)
    assert loaded["cases"][0]["inputs"][0]["tensor"]["shape"] == [3, 2]
    assert worker.close() == 0


def test_missing_files_are_named(worker: WorkerProcess, operator: Operator) -> None:
    error = load_error(worker, operator)
    assert error["kind"] == "input-missing" and error["file"].endswith("task_desc.py")
    operator.task("x: x", "[[json_cases()]]")
    task = operator.folder / "task_desc.py"
    task.write_text(
        "def json_cases():\n    return open('/nowhere/cases.json')\n" + task.read_text()
    )
    error = load_error(worker, operator)
    assert error["kind"] == "input-missing"
    assert "/nowhere/cases.json" in error["message"] and error["line"] == 2
    (operator.folder / "base_kernel.py").unlink()
    error = load_error(worker, operator)
    assert error["kind"] == "input-missing" and error["file"].endswith("base_kernel.py")


BAD_TASKS = {
    "syntax": ("class Model(:\n", "no valid Python", 1),
    "no class": ("import torch\n", "class Model(torch.nn.Module)", None),
    "other class": ("class Modell:\n    pass\n", "its classes are Modell", None),
    "no module": ("class Model:\n    pass\n", "no subclass of torch.nn.Module", None),
    "import": ("x = 1\ny = x.z\n", "AttributeError", 2),
    "no cases": (
        "from torch import nn\nclass Model(nn.Module): pass\n",
        "get_input_groups()",
        None,
    ),
    "cases no list": (
        "from torch import nn\nclass Model(nn.Module): pass\ndef get_input_groups(): return 5\n",
        "list of argument lists",
        None,
    ),
    "case no list": (
        "from torch import nn\nclass Model(nn.Module): pass\ndef get_input_groups(): return [5]\n",
        "case 1, not a int",
        None,
    ),
    "too many arguments": (
        (
            "from torch import nn\nclass Model(nn.Module): pass\n"
            "def get_input_groups(): return [[1], [1, 2]]\n"
        ),
        "case 2 has 2 arguments",
        None,
    ),
    "raises": (
        (
            "from torch import nn\nclass Model(nn.Module): pass\n"
            "def get_input_groups():\n    raise ValueError('sorry')\n"
        ),
        "get_input_groups() fails: ValueError: sorry",
        4,
    ),
}


@pytest.mark.parametrize("name", list(BAD_TASKS))
def test_malformed_tasks(worker: WorkerProcess, operator: Operator, name: str) -> None:
    text, message, line = BAD_TASKS[name]
    operator.task("x: x", "[]")
    operator.write("task_desc.py", text)
    error = load_error(worker, operator)
    assert error["kind"] == "input-malformed"
    assert message in error["message"]
    assert error["file"].endswith("task_desc.py")
    assert error["line"] == line


def test_malformed_base_and_failing_reference(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x.no_such_method()", "[[torch.ones(9)], [torch.ones(2)]]")
    error = load_error(worker, operator)
    assert (error["kind"], error["case"], error["line"]) == ("reference-failed", 2, 7)
    operator.write("base_kernel.py", "class Model:\n    pass\n")
    error = load_error(worker, operator)
    assert error["kind"] == "input-malformed"
    assert "base_kernel.py must define `class ModelNew(torch.nn.Module)`" in error["message"]


@pytest.mark.parametrize("text", ["def broken(:\n", "import no_such_package\n", "x = 1\n"])
def test_candidates_that_do_not_load(worker: WorkerProcess, operator: Operator, text: str) -> None:
    operator.task("x: x", "[[torch.ones(2)]]")
    worker.load(operator.folder)
    with pytest.raises(Failure) as failure:
        file = operator.write("candidate.py", text)
        worker.ask("verify", file=file, cases=[1], rules=RULES)
    assert failure.value.error["kind"] == "candidate-failed"
    assert failure.value.error["file"].endswith("candidate.py")


def test_a_reference_without_float64(worker: WorkerProcess, operator: Operator) -> None:
    path = operator.task("x: x @ torch.ones(3, 3)", "[[torch.ones(2, 3)]]")
    assert worker.load(operator.folder)["reference_runs_in_float64"] is False
    case = worker.ask("verify", file=path, cases=[1], rules=RULES)["cases"][0]
    assert case["outputs"][0]["golden"] == "native"


def test_cases_outside_the_task(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x", "[[torch.ones(2)]]")
    worker.load(operator.folder)
    with pytest.raises(Failure, match="there is no case 2"):
        worker.ask("graph", case=2)
