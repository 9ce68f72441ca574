"""Policies become code for a GPU, where numba-cuda and NVIDIA's compiler are installed; it takes no GPU."""

import logging
import os
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.errors import NumbaError

from prudent import Bandit, Bernoulli, Beta, FromDraw, Gaussian, PrudentError
from prudent.arms import encode
from prudent.arms.sampling import GaussianLaws
from prudent.compile.announce import Compiling, refusal
from prudent.engine.gpu import device, playing
from prudent.engine.gpu.loops import stream_of
from prudent.engine.record import Record
from prudent.policies.binding import bind, served_risk
from prudent.policies.contract import Arm, Setting, policies
from prudent.policies.scoring import compares, score_of
from prudent.policies.units import units_of

if find_spec("numba_cuda") is None:
    pytest.skip("numba-cuda is not installed, so that nothing is compiled for a GPU", allow_module_level=True)

device.teach()
from numba import cuda, types  # noqa: E402
from numba.cuda import dispatcher  # noqa: E402
from numba.cuda.cudadrv import nvvm  # noqa: E402
from numba.cuda.typing.typeof import typeof  # noqa: E402

from prudent.engine.gpu import kernels  # noqa: E402

if not nvvm.is_available():
    pytest.skip("NVIDIA's compiler (nvidia-nvvm) is not installed", allow_module_level=True)

HOPPER = (9, 0)
COINS = Bandit([Bernoulli(0.3), Bernoulli(0.5), Bernoulli(0.55)])
THREE = Bandit([Gaussian(0.1, 0.2), Gaussian(0.2, 0.1), Gaussian(0.3, 0.3)])


def bound(name, bandit):
    policy = policies.parse(name)
    return bind(policy, Setting.of(bandit, served_risk(policy), 1_000, units_of("auto", bandit)))


READY = {entry.name: bound(entry.name, COINS) for entry in policies.entries() if "arms" not in entry.facts}
SUPPORTED = [name for name, ready in READY.items() if not playing.obstacle(ready, 3, 1)]


@pytest.fixture(autouse=True)
def _without_a_gpu(monkeypatch):
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=HOPPER))


def score_once(policy, key, out):
    taken, spare = cuda.local.array(1, np.int32), cuda.local.array(1, np.float64)
    rng = stream_of(key, 0, 0, 0, taken, spare, 0)
    out[0] = score_of(policy, Arm(3, 0.5, 0.1), 0.2, 5, rng, None)


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_policy_compiles_for_a_gpu(name):
    device.learn(READY[name])
    code, _ = cuda.compile_ptx(score_once, (typeof(READY[name]), types.uint64, types.float64[::1]), cc=HOPPER)
    assert ".visible .entry" in code
    called = [line for line in code.split("call.uni")[1:] if "__internal_accurate_pow" not in line]
    assert called == []  # all in line: a call would keep the generator in memory


def whole(bandit, policy, lanes):
    ready, laws, n_arms = bound(policy, bandit), encode(bandit.arms), len(bandit)
    device.learn(ready)
    device.learn(laws)
    facts = playing.is_rescored(ready), type(laws) is GaussianLaws
    if lanes:
        kernel = kernels.of_lanes(n_arms, facts[0], compares(type(ready)), facts[1])
    else:
        kernel = kernels.of_threads(n_arms, facts[0], playing.equal_scores(laws, n_arms), facts[1])
    record = typeof(Record.empty(2, 1, n_arms))
    args = (typeof(ready), typeof(laws), types.int64[::1], record, types.uint64, types.int64, types.int64[::1])
    return cuda.compile_ptx(kernel.py_func, args, cc=HOPPER)[0]


def test_both_kernels_compile():
    assert "shfl.sync" not in whole(THREE, "mv-lcb", lanes=False)
    assert "shfl.sync" in whole(THREE, "mv-lcb", lanes=True)


def test_twins_compile_for_every_law():
    laws, record = encode(COINS.arms), typeof(Record.empty(2, 1, 3))
    args = (typeof(laws), types.int64, types.int64[::1], record, types.uint64, types.int64, types.int64[::1])
    assert ".visible .entry" in cuda.compile_ptx(kernels.of_twins().py_func, args, cc=HOPPER)[0]


def larger_of_two(rng):
    return max(rng.random(), rng.random())


def of_poisson(rng):
    return float(rng.poisson(3.0))


def test_laws_of_ones_own_compile_if_the_generator_has_their_methods():
    mine = Bandit([FromDraw(larger_of_two, 2 / 3, 1 / 18, (0.0, 1.0)), Beta(2.0, 3.0)])
    assert ".visible .entry" in whole(mine, "mv-lcb", lanes=False)
    other = Bandit([FromDraw(of_poisson, 3.0, 3.0), Beta(2.0, 3.0)])
    why = r"mv-lcb: must compile, but Numba refuses .*rng.poisson.*; of rng, a GPU has only beta, binomial, "
    with pytest.raises(PrudentError, match=why), playing.explained(), Compiling("mv-lcb"):
        whole(other, "mv-lcb", lanes=False)


def test_no_line_of_the_compiler_is_named_as_a_users():
    source = Path(find_spec("numba_cuda").origin).parent / "numba" / "cuda" / "builtins.py"
    report = f'File "{os.path.relpath(source)}", line 685:\n    if op(val, return_val):\n    ^\n'
    assert "Numba refuses what its methods take or return" in refusal(NumbaError(report))


def test_no_log_has_an_error_whenever_a_gpu_is_still_busy(caplog):
    log = logging.getLogger("numba.cuda.cudadrv.driver")
    log.error("Call to cuEventQuery results in CUDA_ERROR_NOT_READY")
    log.error("Call to cuEventQuery results in CUDA_ERROR_ILLEGAL_ADDRESS")
    assert [record.getMessage()[-15:] for record in caplog.records] == ["ILLEGAL_ADDRESS"]


def test_two_coins_compile():
    whole, table, layer = types.int64, types.float64[:, ::1], types.float32[::1]
    args = (layer, layer, types.int64[::1], whole, whole)
    assert ".visible .entry" in cuda.compile_ptx(kernels.of_rows().py_func, args, cc=HOPPER)[0]
    args = (layer, table, table, types.float64[::1], types.int64[::1], whole)
    assert ".visible .entry" in cuda.compile_ptx(kernels.of_last_rows().py_func, args, cc=HOPPER)[0]
