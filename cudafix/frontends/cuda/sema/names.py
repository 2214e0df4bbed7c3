"""Names that lowering knows: functions of numbers, casts, containers' methods that only look."""

from __future__ import annotations

import re

# Functions of numbers: no effect, no memory, and a value that is neither a pointer nor a handle.
PURE = frozenset(
    (
        "abs labs llabs fabs fabsf sqrt sqrtf cbrt exp expf exp2 exp2f log logf log2 log2f log10 log10f sin sinf cos "
        "cosf tan tanf asin acos atan atanf atan2 atan2f sinh cosh tanh tanhf pow powf fmod fmodf floor floorf ceil "
        "ceilf round roundf trunc truncf rint lround llround fmin fminf fmax fmaxf min max MIN MAX hypot erf erff "
        "erfc isnan isinf isfinite rand srand random srandom drand48 lrand48 srand48 ceil_div ceildiv div_up divup "
        "iDivUp dim3 make_cuComplex make_cuDoubleComplex make_cuFloatComplex cuCrealf cuCimagf cuCreal cuCimag "
        "cuCmulf cuCmul cuCaddf cuCadd make_cudaExtent make_cudaPos __float2half __half2float __float2bfloat16 "
        "__bfloat162float __float2half_rn half __half float2 float4 sizeof alignof offsetof int float double size_t "
        "bool char short long unsigned std::min std::max std::abs std::sqrt std::pow std::exp std::log std::log2 "
        "std::log10 std::sin std::cos std::tan std::atan2 std::floor std::ceil std::round std::fabs std::fmod "
        "std::fmax std::fmin std::isnan std::isinf std::isfinite std::rand std::srand std::clamp std::gcd std::hypot "
        "std::tanh std::complex std::numeric_limits::max std::numeric_limits::min std::numeric_limits::infinity "
        "std::numeric_limits::epsilon std::numeric_limits::lowest std::numeric_limits::quiet_NaN std::to_string "
        "std::string std::setw std::setprecision std::make_pair make_float2 make_float3 make_float4 make_int2 "
        "make_int3 make_int4 make_uint2 make_uint3 make_uint4 make_double2 make_double3 make_double4 make_uchar4 "
        "make_char4 make_uchar3 make_short2 make_ushort2 make_short4 make_longlong2 std::chrono::duration "
        "std::chrono::milliseconds std::chrono::microseconds std::chrono::seconds std::chrono::duration_cast "
        "std::chrono::duration::count"
    ).split()
)
# Calls that issue no work and wait for none: text may go before a statement in which one runs earlier.
QUIET = frozenset(
    "get data raw_pointer_cast cudaGetErrorString cudaGetErrorName cublasGetStatusString strlen atoi atol atof".split()
)
PASSES = frozenset(
    ("std::move", "std::forward", "__builtin_expect", "likely", "unlikely", "std::launder", "std::as_const")
)
CASTS = frozenset(("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "bit_cast", "std::bit_cast"))
# Methods of containers and strings that only look at the object.
LOOKING = frozenset(
    (
        "size empty length begin end cbegin cend rbegin rend crbegin crend c_str capacity max_size str count has_value "
        "width height"
    ).split()
)
# Algorithms that compare the elements which they are given.
COMPARING = frozenset(
    (
        "sort stable_sort partial_sort nth_element is_sorted is_sorted_until make_heap push_heap pop_heap sort_heap "
        "merge inplace_merge min max minmax clamp min_element max_element minmax_element lower_bound upper_bound "
        "equal_range binary_search find count adjacent_find search unique remove replace equal mismatch "
        "lexicographical_compare is_permutation includes set_union set_intersection set_difference "
        "set_symmetric_difference next_permutation prev_permutation"
    ).split()
)
# Operators that do not evaluate what they are given, and those of which it depends on its type.
UNEVALUATED = frozenset(
    "noexcept sizeof alignof decltype typeof __typeof__ static_assert _Static_assert __assume __builtin_assume "
    "__builtin_constant_p".split()
)
PERHAPS_EVALUATED = frozenset(("typeid", "__builtin_choose_expr"))
# Checks that always evaluate what they are given: of GoogleTest (Assertions reference), PyTorch (c10/util/Exception.h,
# c10/cuda/CUDAException.h), RAPIDS (cuda.hpp of RMM, RAFT and cuDF) and cuda-samples (helper_cuda.h).
EVALUATES = re.compile(
    r"(?:ASSERT|EXPECT)_(?:EQ|NE|LT|LE|GT|GE|TRUE|FALSE|NEAR|\w+_EQ|NO_THROW|THROW|ANY_THROW|THAT)"
    r"|(?:AT|C10|TORCH)_CUDA_\w*CHECK|C10_CUDA_ERROR_HANDLED|TORCH_CHECK|TORCH_INTERNAL_ASSERT|(?:RMM|RAFT|CUDF)_CUDA_TRY"
    r"|checkCudaErrors"
)
# Checks that a build without debugging takes away with what they are given (C17 7.2; glog, Qt, Boost, the C runtime of
# Windows), and those of headers that are not here by their names.
DEBUG_ONLY = re.compile(
    rf"(?!(?:{EVALUATES.pattern})\Z)(?:\w*(?:[Aa]ssert|ASSERT)\w*|\w*(?:DCHECK|[Dd]ebug|DEBUG|(?<![a-zA-Z])(?:dbg|DBG))\w*)"
)
NULLS = frozenset(("NULL", "nullptr"))

STANDARD_STREAMS = frozenset(
    f"{scope}{wide}{name}" for scope in ("", "std::") for wide in ("", "w") for name in ("cout", "cerr", "clog", "cin")
)
# Classes whose constructor or destructor does something that ordering may depend on.
ACTIVE_TYPES = re.compile(
    r"(?:std::)?(?:thread|jthread|lock_guard|unique_lock|scoped_lock|async|ifstream|ofstream|fstream)\b.*|thrust::.*|cub::.*|cudaxx::.*"
)
