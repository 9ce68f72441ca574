"""What Numba must be taught to compile this package's functions for a GPU, and what to say where there is none.

This file and `kernels` alone know CUDA, and nothing imports them before a GPU is asked for.
"""

import math
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from logging import getLogger
from typing import Any

import numpy as np
from numba import types
from numba.misc.special import typeof

from prudent.base.errors import PrudentError
from prudent.compile.types import Kernel, MachineCode, PolicyType, in_line, policy_type

NEEDS = "simulate: engine 'gpu' needs"
FIX = "take engine='auto', which needs no GPU"


def require() -> None:
    """An error that says what is missing, unless there is a GPU that Numba can use."""
    if find_spec("numba_cuda") is None:
        fix = "install the extra gpu, in a clone: python -m pip install '.[gpu]'"
        raise PrudentError(f"{NEEDS} numba-cuda, which is not installed; {fix}")
    teach()
    from numba.cuda.cudadrv.driver import driver
    from numba.cuda.cudadrv.error import CudaSupportError

    if "lib" not in vars(driver):
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
    lacking = "row_stack" not in dir(np)  # in NumPy 2.5 it is gone, and numba-cuda 0.30 looks for it once
    if lacking:
        vars(np)["row_stack"] = np.vstack
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy 2.5, whose user here is numba-cuda
            import_module("numba.cuda.np.arrayobj")
    finally:
        if lacking:
            del vars(np)["row_stack"]
    from numba.cuda.core import config
    from numba.cuda.extending import overload
    from numba.cuda.typing.typeof import typeof_impl
    from numba.cuda.ufuncs import ufunc_db

    for function, choose in in_line:
        overload(function, strict=False)(choose)
    config.CUDA_LOW_OCCUPANCY_WARNINGS = False  # there may be few runs
    # That a GPU is still busy is written down as an error whenever it is asked, hundreds of times a second.
    getLogger("numba.cuda.cudadrv.driver").addFilter(lambda record: "CUDA_ERROR_NOT_READY" not in record.getMessage())
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


@cache
def _device_function(called: Any) -> DeviceFunction:
    return DeviceFunction(called)


@cache
def _compiled(function: Callable[..., object]) -> Any:
    from numba import cuda

    return cuda.jit(device=True)(function)


def cached(function: Callable[..., object], **options: object) -> Any:
    """A kernel of a GPU, whose machine code is kept on disk as that of other kernels is."""
    from numba import cuda

    compiled = cuda.jit(cache=True, **options)(function)
    compiled._cache._cache_file = MachineCode(compiled._cache, "gpu")
    return compiled


def learn(value: Any) -> None:
    """Make the classes of a policy and its parts, or of laws, known to the compiler for GPUs."""
    if isinstance(typeof(value), PolicyType):
        kind: Any = type(value)
        _learn_class(kind)
        for part in value:
            if hasattr(part, "_fields"):
                learn(part)


@cache
def _learn_class(kind: Any) -> None:
    from numba.cuda.typing.typeof import typeof as device_typeof
    from numba.cuda.typing.typeof import typeof_impl

    typeof_impl.register(kind)(lambda value, _: policy_type(tuple(device_typeof(field) for field in value), kind))
