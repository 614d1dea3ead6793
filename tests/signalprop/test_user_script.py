"""A script that annotates its numpy arrays and tensors passes mypy's strict mode."""

import subprocess
import sys

import pytest

SCRIPT = """
from typing import Any

import numpy as np
import torch

import signalprop as sp

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def make(width: int, runs: int, seed: sp.Stream) -> sp.Path:
    net = sp.Chain(width, sp.gaussian(), [sp.BatchNorm(center=False), torch.tanh], residual=0.5)
    return net.run(sp.inputs.nearly_parallel(n=4), 5, runs, seed)


path = make(16, 2, sp.Stream(0))
gap: Numbers = path.measure(sp.orthogonality_gap).values
rank: float = float(sp.rank(np.ones((2, 3))))
gram: Numbers = sp.gram([[1.0, 0.0], [0.0, 1.0]])
tensor: torch.Tensor = sp.layers.batch_norm(torch.randn(3, 16), eps=1e-5)
array: Numbers = sp.layers.rms_norm(np.ones((2, 3)))
relu: Numbers = sp.activations.relu(np.ones(3))
same: torch.Tensor = sp.activations.relu(torch.ones(3))
kernel: Numbers = sp.nngp(np.eye(2), sp.activations.tanh, depth=2)
tangent: torch.Tensor = sp.ntk(torch.eye(2), torch.relu, depth=range(1, 4), bias_variance=0.1)
q, w = np.linspace(0.5, 2.0, 4), torch.tensor([1.0, 2.0])
kappa = sp.KernelMap(sp.activations.tanh.normalized())
image: Numbers = kappa(q / 2)
listed: Numbers = kappa([0.0, 0.5])
drift: torch.Tensor = kappa.derivative(w / 2)
walk: Numbers = kappa.iterate(0.5, depth=3)
walks: torch.Tensor = kappa.iterate(w / 2, depth=3, layers=[0, 3])
gaps: torch.Tensor = kappa.iterate_complement(w / 2, depth=3)
below: Numbers = kappa.complement(q / 2)
curvature: Numbers = kappa.nonlinearity
lengths = sp.LengthMap(torch.nn.functional.mish, weight_variance=1.5)
longer: Numbers = lengths(q)
means: torch.Tensor = lengths.mean(w)
paths: Numbers = lengths.iterate([0.5, 2.0], depth=3)
pair: torch.Tensor = lengths.covariance(1.0, w, 0.5)
angle: Numbers = lengths.correlation(q, 1.0, 0.5)
chi: Numbers = sp.MeanField(sp.activations.tanh, weight_variance=q, bias_variance=0.1).chi
scale: torch.Tensor = sp.MeanField(torch.tanh, w, bias_variance=0.1).depth_scale
edge: torch.Tensor = sp.MeanField(torch.tanh, bias_variance=w).length
model = torch.nn.Sequential(torch.nn.Linear(16, 4), sp.RMSNorm(eps=1e-5))
with sp.probe(model, [sp.rank, sp.isometry_gap], gradients=True) as seen:
    model(torch.randn(3, 16)).sum().backward()
values: Numbers = sp.jacobian(model, torch.randn(3, 16)).singular_values()
exponents: Numbers = sp.Chain(4).jacobian(np.ones((1, 4)), depth=20).lyapunov_spectrum()
slope: float = sp.sweep(make, [8, 16, 32], sp.orthogonality_gap, runs=3).slope().value


def attention(h: torch.Tensor, dense: sp.Dense) -> torch.Tensor:
    q, k, v = dense(h), dense(h), dense(h)
    return dense(torch.softmax(q @ k.mT, dim=-1) @ v)


def law(rows: int, columns: int, generator: np.random.Generator) -> object:
    return generator.standard_normal((rows, columns))


net = sp.Chain(widths=[8, 8], weights=law, bias=sp.gaussian(0.1), residual=lambda layer: 1 / layer)
final: torch.Tensor = net.run(np.ones((2, 8))).final()
blocks = sp.Chain(8, branch=[attention], residual=1.0).run(torch.ones(2, 8), depth=3)
nets = [torch.nn.Linear(4, 2) for _ in range(2)]
group = sp.training.Group("linear", nets, seeds=[0, 1], rates=[0.1, 0.1])
"""


@pytest.mark.slow
def test_a_users_script_is_typed_and_runs(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    for command in (["-m", "mypy", "--strict", "--cache-dir", ".cache", "script.py"], [script]):
        run = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout + run.stderr
