"""What Numba must be taught to compile this package's functions for a GPU, and what to say where there is none.

This file and `kernels` alone know CUDA, and nothing imports them before a GPU is asked for.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba import types
from numba.misc.special import typeof

from prudent.compiled import Kernel, MachineCode, PolicyType, policy_type
from prudent.errors import PrudentError

NEEDS = "simulate: engine 'gpu' needs"
FIX = "take engine='auto', which needs no GPU"


def require() -> None:
    """An error that says what is missing, unless there is a GPU that Numba can use."""
    if find_spec("numba_cuda") is None:
        raise PrudentError(f"{NEEDS} numba-cuda, which is not installed; pip install 'prudent[gpu]'")
    teach()
    from numba.cuda.cudadrv.driver import driver
    from numba.cuda.cudadrv.error import CudaSupportError

    if not hasattr(driver, "lib"):
        raise PrudentError(f"{NEEDS} an NVIDIA driver, and this machine has none; {FIX}")
    try:
        count = driver.get_device_count()
    except CudaSupportError as error:
        reason = str(error).rpartition("Error at driver init:")[2].strip(" :\n")
        raise PrudentError(f"{NEEDS} an NVIDIA GPU, and the driver finds none ({reason}); {FIX}") from None
    if count == 0:
        raise PrudentError(f"{NEEDS} an NVIDIA GPU, and the driver finds none; {FIX}")


@cache
def teach() -> None:
    """Make kernels of this package known to the compiler for GPUs, and functions of NumPy that it lacks."""
    lacking = not hasattr(np, "row_stack")  # of NumPy 2.5, and numba-cuda 0.30 looks for it
    if lacking:
        np.row_stack = np.vstack  # type: ignore[attr-defined]
    try:
        import numba.cuda.np.arrayobj
    finally:
        if lacking:
            del np.row_stack  # type: ignore[attr-defined]
    from numba.cuda.core import config
    from numba.cuda.typing.typeof import typeof_impl
    from numba.cuda.ufuncs import ufunc_db

    config.CUDA_LOW_OCCUPANCY_WARNINGS = False  # there may be few runs
    typeof_impl.register(Kernel)(lambda value, _: _device_function(value))
    for function, plain in ((np.sqrt, math.sqrt), (np.exp, math.exp), (np.expm1, math.expm1), (np.log1p, math.log1p)):
        ufunc_db().setdefault(function, {"d->d": partial(_lower, plain)})


def _lower(function: Callable[[float], float], context: Any, builder: Any, signature: Any, args: Any) -> Any:
    from numba.cuda.mathimpl import get_unary_impl_for_fn_and_ty

    return get_unary_impl_for_fn_and_ty(function, signature.args[0])(context, builder, signature, args)


class DeviceFunction(types.Dispatcher):  # type: ignore[misc]
    """A kernel of this package as a function inside of the kernels of a GPU, in the form its arguments ask for."""

    def __init__(self, called: Kernel) -> None:
        super().__init__(called.inside)
        self._called = called

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        plain = [types.unliteral(each) for each in args]
        return types.Dispatcher(self._form(plain)).get_call_type(context, plain, kws)

    def get_overload(self, sig: Any) -> Any:
        return self._form(sig.args).get_overload(sig.args)

    def _form(self, args: Any) -> Any:
        return _compiled(self._called.form(args).py_func)


_device_function = cache(DeviceFunction)


@cache
def _compiled(function: Callable[..., Any]) -> Any:
    from numba import cuda

    return cuda.jit(device=True)(function)


def cached(function: Callable[..., Any]) -> Any:
    """A kernel of a GPU, whose machine code is kept on disk as that of other kernels is."""
    from numba import cuda

    compiled = cuda.jit(cache=True)(function)
    compiled._cache._cache_file = MachineCode(compiled._cache, "gpu")
    return compiled


def learn(value: Any) -> None:
    """Make the classes of a policy and its parts, or of laws, known to the compiler for GPUs."""
    if isinstance(typeof(value), PolicyType):
        _learn_class(type(value))
        for part in value:
            if hasattr(part, "_fields"):
                learn(part)


@cache
def _learn_class(kind: type) -> None:
    from numba.cuda.typing.typeof import typeof as device_typeof
    from numba.cuda.typing.typeof import typeof_impl

    typeof_impl.register(kind)(lambda value, _: policy_type(tuple(device_typeof(field) for field in value), kind))
