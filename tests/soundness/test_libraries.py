"""Whole programs around libraries: what uses memory only on a stream lets it move, what leans on a wait keeps it.

One way a line, as in tests/soundness/test_ways_past_a_wait.py: `outside || before the free | behind it`.
"""

# ruff: noqa: E501  (one way a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.models import load
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests import other_stream
from tests.soundness.test_ways_past_a_wait import moves_without, parts, program
from tests.soundness.test_ways_to_memory import cases

MOVES = """
cublasInit(); cublasSgemm('N', 'N', 2, 2, 2, 1.f, (float *)d2, 2, (float *)d2, 2, 0.f, (float *)d, 2); cudaDeviceSynchronize(); | return 0;
float n = cublasSnrm2(4, (float *)d, 1); | return n > 1;
NppStreamContext c; c.hStream = s; nppiSet_8u_C1R_Ctx(1, (Npp8u *)d, 4, {4, 1}, c); | return 0;
NppStreamContext c = {}; c.hStream = s; Npp8u v[3] = {1, 2, 3}; nppiAddC_8u_C3RSfs_Ctx((Npp8u *)d2, 12, v, (Npp8u *)d, 12, {4, 1}, 0, c); | return 0;
int n; nppsSumGetBufferSize_32f(4, &n); nppsSum_32f((Npp32f *)d2, 4, (Npp32f *)d, (Npp8u *)d); | return n;
nppPlusV::nppiSet_8u_C1R_Ctx(1, (Npp8u *)d, 4, {4, 1}, NppStreamContext{}); cudaDeviceSynchronize(); | return 0;
NppStreamContext c; c.hStream = 0; int w; Npp8u *i = nppiMalloc_8u_C1(4, 4, &w); nppiCopy_8u_C1R_Ctx((Npp8u *)d, 4, i, w, {4, 4}, c); | nppiFree(i);
cutensorHandle_t h; cutensorCreate(&h); float one = 1; cutensorPermute(h, plan, &one, d2, d, s); | return 0;
cutensorHandle_t h; cutensorCreate(&h); float one = 1; cutensorContract(h, plan, &one, d2, d2, &one, d2, d2, d, 400, s); | return 0;
cudssHandle_t h; cudssCreate(&h); cudssSetStream(h, s); cudssData_t a; cudssDataCreate(h, &a); cudssMatrix_t x; cudssMatrixCreateDn(&x, 4, 1, 4, d, k0, l0); cudssExecute(h, CUDSS_PHASE_SOLVE, cf, a, x, x, x); | return 0;
cusparseLtSpMMAPrune(&h, &m, d2, d, CUSPARSELT_PRUNE_SPMMA_TILE, s); | return 0;
cusparseLtMatmul(&h, &plan, &one, d2, d2, &one, d2, d2, d, &s, 1); | return 0;
nvjpegHandle_t h; nvjpegCreateSimple(&h); nvjpegJpegState_t j; nvjpegJpegStateCreate(h, &j); nvjpegImage_t i; i.channel[0] = (unsigned char *)d; nvjpegDecode(h, j, (unsigned char *)pg, 400, NVJPEG_OUTPUT_Y, &i, s); | return 0;
"""

OPENCV = """
cv::Mat m(4, 4, CV_8U, hp); | cv::Mat n = m + m;
cv::Mat m(4, 4, CV_8U, hp); | m = 3;
cv::Mat m(4, 4, CV_8U, hp); | m += 3;
cv::Mat m(4, 4, CV_8U, hp); cv::Mat n = m; | n += 3;
cv::Mat m(4, 4, CV_8U, hp); cv::Mat n = m.row(3); | n += 3;
cv::Mat m(4, 4, CV_8U, hp); auto n = m.row(3); | n += 3;
cv::Mat m(4, 4, CV_8U, hp); auto n = m + m; | cv::Mat x = n;
cv::Mat m(4, 4, CV_8U, hp); auto n = 2 * (m + 3); cv::Mat x; | x = n;
cv::Mat m(4, 4, CV_8U, hp); auto q = m.ptr(3); | return q[0];
cv::Mat m(4, 4, CV_8U, hp); auto q = m.begin<int>(); | return *q;
cv::Mat m(4, 4, CV_8U, hp); auto &q = m.at<int>(3, 4); | return q;
cv::Mat m(4, 4, CV_8U, hp); | return m.at<int>(3, 4);
cv::Mat m(4, 4, CV_8U, hp); | return m(3, 4);
cv::Mat m(4, 4, CV_8U, hp); | fwrite(m.data, 4, 1, stdout);
cv::Mat m(4, 4, CV_8U, hp); | memcpy(pg, m.data, 4); return pg[0];
cv::Mat m(4, 4, CV_8U, hp); | for (int x : m) argc += x; return argc;
cv::Mat m(4, 4, CV_8U, hp); cv::Mat n; cv::hconcat(m, m, n); | cv::imshow("w", n);
cv::Mat m(4, 4, CV_8U, hp); cv::VideoWriter o; | o << m;
cv::Mat m(4, 4, CV_8U, hp); cv::VideoWriter o; | o.write(m);
cv::Mat m(4, 4, CV_8U, hp); | cv::imwrite("w", m);
cv::Mat m(4, 4, CV_8U, hp); | cv::circle(m, cv::Point(1, 1), 3, cv::Scalar(255));
cv::Mat m{4, 4, CV_8U, hp}; | m += 4;
auto m = cv::Mat(4, 4, CV_8U, hp); | m += 4;
cv::Mat m; m = cv::Mat(4, 4, CV_8U, hp); | m += 4;
cv::Mat *m = new cv::Mat(4, 4, CV_8U, hp); | *m += 4;
auto m = std::make_unique<cv::Mat>(4, 4, CV_8U, hp); | *m += 4;
std::vector<cv::Mat> m; m.emplace_back(4, 4, CV_8U, hp); | m[0] += 4;
"""

KEEPS = """
cublasSetKernelStream(s); cublasSscal(4, 2.f, (float *)d, 1); k<<<1,1,0,s>>>(d, hp); | return hp[0];
# the host reads what a library's work has written
NppStreamContext c; c.hStream = s; nppiSet_8u_C1R_Ctx(1, (Npp8u *)t, 4, {4, 1}, c); | return t[0];
nppiSet_8u_C1R(1, (Npp8u *)t, 4, {4, 1}); | return t[0];
NppStreamContext c; c.hStream = s; nppiSum_8u_C1R_Ctx((Npp8u *)d2, 4, {4, 1}, (Npp8u *)d, (Npp64f *)hp, c); | return hp[0];
cutensorPermute(h, plan, pg, d2, t, s); | return t[0];
cusparseLtMatmul(&h, &plan, pg, d2, d2, pg, d2, t, d, &s, 1); | return t[0];
cusparseLtSpMMAPruneCheck(&h, &m, d2, t, s); | return t[0];
cudssHandle_t h; cudssCreate(&h); cudssSetStream(h, s); cudssMatrix_t x; cudssMatrixCreateDn(&x, 4, 1, 4, t, k0, l0); cudssExecute(h, CUDSS_PHASE_SOLVE, cf, a, x, x, x); | return t[0];
nvjpegHandle_t h; nvjpegCreateSimple(&h); nvjpegEncoderState_t e; nvjpegEncoderStateCreate(h, &e, s); size_t n; nvjpegEncodeRetrieveBitstream(h, e, (unsigned char *)hp, &n, s); | return hp[0];
# the host reads what a call is given, before the call returns
cudaMemcpyAsync(hp, d, 12, cudaMemcpyDeviceToHost, s); | NppStreamContext c; c.hStream = s; nppiAddC_8u_C3RSfs_Ctx((Npp8u *)d2, 12, (Npp8u *)hp, (Npp8u *)d2, 12, {4, 1}, 0, c);
cudaMemcpyAsync(hp, d, 12, cudaMemcpyDeviceToHost, s); | int n; nppiCompressedMarkerLabelsUFGetGeometryListsSize_C1R((Npp32u *)hp, 3, &n);
cudaMemcpyAsync(hp, d, 12, cudaMemcpyDeviceToHost, s); | cutensorPermute(h, plan, hp, d2, d2, s);
cudaMemcpyAsync(hp, d, 12, cudaMemcpyDeviceToHost, s); | nvjpegGetImageInfo(nh, (unsigned char *)hp, 12, &n, &sub, w, h);
cudaMemcpyAsync(hp, d, 12, cudaMemcpyDeviceToHost, s); | cudssDataSet(h, a, CUDSS_DATA_USER_PERM, hp, 12);
# what an object keeps, or has of its own, is used by later calls, on other streams too
cudssHandle_t h; cudssCreate(&h); cudssSetStream(h, s); cudssData_t a; cudssDataCreate(h, &a); cudssExecute(h, CUDSS_PHASE_FACTORIZATION, cf, a, x, x, x); k<<<1,1,0,s>>>(d, d2); | cudaStream_t b; cudaStreamCreateWithFlags(&b, 1); cudssSetStream(h, b); cudssExecute(h, CUDSS_PHASE_SOLVE, cf, a, x, x, x);
static void make(cudssHandle_t h, cudssData_t *a) { printf("made"); printf("made"); cudssDataCreate(h, a); } || cudssHandle_t h; cudssCreate(&h); cudssSetStream(h, s); cudssData_t a; make(h, &a); cudssExecute(h, CUDSS_PHASE_FACTORIZATION, cf, a, x, x, x); k<<<1,1,0,s>>>(d, d2); | cudaStream_t b; cudaStreamCreateWithFlags(&b, 1); cudssSetStream(h, b); cudssExecute(h, CUDSS_PHASE_SOLVE, cf, a, x, x, x);
cudssMatrix_t x; cudssMatrixCreateDn(&x, 4, 1, 4, hp, k0, l0); cudaMemcpyAsync(hp, d, 12, cudaMemcpyDeviceToHost, s); | cudssHandle_t h; cudssCreate(&h); cudssData_t a; cudssDataCreate(h, &a); cudssExecute(h, CUDSS_PHASE_ANALYSIS, cf, a, x, x, x);
nvjpegHandle_t h; nvjpegCreateSimple(&h); nvjpegJpegState_t j; nvjpegJpegStateCreate(h, &j); nvjpegDecodeJpegTransferToDevice(h, dec, j, js, s); k<<<1,1,0,s>>>(d, d2); | nvjpegDecodeJpegHost(h, dec, j, dp, js);
nvjpegBufferPinned_t p; nvjpegBufferPinnedCreate(h, 0, &p); nvjpegJpegState_t j; nvjpegJpegStateCreate(h, &j); nvjpegStateAttachPinnedBuffer(j, p); nvjpegDecodeJpegTransferToDevice(h, dec, j, js, s); k<<<1,1,0,s>>>(d, d2); | nvjpegJpegState_t o; nvjpegJpegStateCreate(h, &o); nvjpegStateAttachPinnedBuffer(o, p); nvjpegDecodeJpegHost(h, dec, o, dp, js);
cusparseLtMatmulDescriptor_t m; cusparseLtMatmulDescriptorInit(&h, &m, op, op, &a, &a, &a, &a, c0); cusparseLtMatmulDescSetAttribute(&h, &m, at, &d2, 8); cusparseLtMatmulPlan_t p; cusparseLtMatmulPlanInit(&h, &p, &m, &alg); k<<<1,1,0,s>>>(d, d2); | cudaStream_t b; cudaStreamCreateWithFlags(&b, 1); cusparseLtMatmul(&h, &p, pg, pg, pg, pg, pg, pg, pg, &b, 1);
# the library's stream is another one than it seems
nppSetStream(s); nppiSet_8u_C1R(1, (Npp8u *)d, 4, {4, 1}); | return 0;
NppStreamContext c; nppGetStreamContext(&c); nppiSet_8u_C1R_Ctx(1, (Npp8u *)d, 4, {4, 1}, c); | return 0;
NppStreamContext c; c.hStream = s; nppiSet_8u_C1R_Ctx(1, (Npp8u *)d, 4, {4, 1}, c); c.hStream = 0; nppiSet_8u_C1R_Ctx(1, (Npp8u *)d2, 4, {4, 1}, c); k<<<1,1,0,s>>>(d, t); | return t[0];
cusparseLtMatmul(&h, &plan, pg, d2, d2, pg, d2, d2, d, nullptr, 0); | return 0;
cudaStream_t a[2]; cudaStreamCreate(&a[0]); cudaStreamCreate(&a[1]); cusparseLtMatmul(&h, &plan, pg, d2, d2, pg, d2, t, d, a, 2); cudaStreamSynchronize(a[0]); | return t[0];
# there may be no operation at all: no stream waits for it
cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b); k<<<1,1,0,a>>>(d2, d2); NppStreamContext c; c.hStream = 0; nppiSet_8u_C1R_Ctx(1, (Npp8u *)pg, 0, {0, 0}, c); k<<<1,1,0,s>>>(d, d); | pr<<<1,1,0,b>>>(d2);
# out of reach
nppiWorkspaceSetExternal(w, d, 400); | return 0;
cudssSetDeviceMemHandler(h, &handler); cudssSetCommLayer(h, "layer.so"); cudssMatrix_t x; cudssMatrixCreateDn(&x, 4, 1, 4, d, k0, l0); cudssCreateMg(&x, 2, 0); | return 0;
cutensorMgContraction(h, plan, pg, d, d, pg, d, d, d, pg, &s); | return 0;
"""


@pytest.mark.parametrize("way", cases(MOVES))
def test_what_a_library_uses_on_a_stream_moves(way: str) -> None:
    assert moves_without(program(*parts(way)))


@pytest.mark.parametrize("way", [way for way in cases(KEEPS) if not way.startswith("# ")])
def test_what_needs_the_wait_keeps_it(way: str) -> None:
    assert not moves_without(program(*parts(way)), "Synchronize", "WaitEvent")


@pytest.mark.parametrize(
    "way",
    [
        "foo::Picture m; m.lie_over(4, hp); | m += 3;",
        "foo::Picture m; lie_over(&m, hp); | m += 3;",
        "int *q = foo::next(hp); | return q[0];",
    ],
)
def test_code_that_is_not_seen_may_hand_on_what_it_is_given(way: str) -> None:
    before, behind = way.split("|")
    copy = "cudaMemcpyAsync(hp, d, 16, cudaMemcpyDeviceToHost, s);"
    moved = analyze({"a.cu": program("", before + copy, behind).encode()}, Config()).findings
    assert all(any(b"Synchronize" in e.text for e in f.edits) for f in moved if f.codemod == "stream_ordered_pairs")


@pytest.mark.parametrize("name", ["cv", "an_unseen_one"])
@pytest.mark.parametrize("way", cases(OPENCV))
def test_an_object_over_memory_of_the_program_reads_and_writes_it(way: str, name: str) -> None:
    before, behind = way.replace("cv::", f"{name}::").split("|")
    copy = "cudaMemcpyAsync(hp, d, 16, cudaMemcpyDeviceToHost, s);"
    assert not moves_without(program("", before + copy, behind), "Synchronize", "WaitEvent")


def test_what_draws_on_memory_of_its_own_needs_no_wait() -> None:
    draws = """cv::VideoWriter o("o.avi", cv::VideoWriter::fourcc('X', 'V', 'I', 'D'), 30, cv::Size(96, 96));
    cv::Mat m(96, 96, CV_8UC3, cv::Scalar(255, 255, 255)), n; cv::Mat l = m.clone();
    m.setTo(cv::Scalar(0)); cv::line(m, cv::Point(1, 1), cv::Point(m.cols - 1, 2), cv::Scalar(1, 2, 3), 2);
    cv::hconcat(m, l, n); o.write(n); o << n; cv::imshow("n", n); cv::waitKey(1); memcpy(n.data, pg, 4);"""
    assert moves_without(program("", draws + "k<<<1,1,0,s>>>(d, d2);", draws), "Synchronize", "WaitEvent")
    assert not moves_without(program("", "cv::cuda::GpuMat g(4, 4, CV_8U, d); g += 3;", ""))


@pytest.mark.parametrize(
    ("name", "arity", "effect", "last"),
    [
        ("nppiFilterBorder_8u_C1R_Ctx", 13, "work", "stream.hStream"),
        ("nppPlusV::nppiFilterBorder_8u_C1R_Ctx", 13, "work", "stream.hStream"),
        ("nppiFilterBorder_8u_C1R", 12, "work", "use"),
        ("nppsSumGetBufferSize_32f_Ctx", 3, "nothing", "use"),
        ("nppiGetResizeRect", 6, "nothing", "use"),
        ("nppiGraphcut_32s8u_Ctx", 11, "external", "rw"),
    ],
)
def test_a_family_is_told_by_how_its_names_begin_and_end(name: str, arity: int, effect: str, last: str) -> None:
    api = load().lookup(name, arity)
    assert api is not None
    assert (api.effect.value, api.roles[-1].removesuffix("*")) == (effect, last)


COLAB = """\
import cupy
import google.colab
from google.colab import drive, files, output

def main():
    drive.mount("/content/drive")
    for n in range(3):
        block = cupy.cuda.runtime.malloc(1024)
        cupy.cuda.runtime.memset(block, n, 1024)
        cupy.cuda.runtime.free(block)
        {shows}

main()
"""


@pytest.mark.parametrize(
    ("shows", "proven"),
    [("files.download('log.txt')", True), ("output.register_callback('again', lambda: block)", False)],
)
def test_a_notebook_on_colab_works_on_the_host(shows: str, proven: bool) -> None:
    found = analyze({"main.py": COLAB.format(shows=shows).encode()}, Config()).findings
    assert (Safety.PROVEN in {f.safety for f in found}) is proven


def test_arrays_beside_colab_rest_on_no_assumption() -> None:
    program = b"import cupy as cp\nimport google.colab\ncp.cuda.set_allocator(None)\nfor i in range(9):\n    x = cp.zeros(9)\n"
    assert {f.safety for f in analyze({"main.py": program}, Config()).findings} == {Safety.PROVEN}


def test_a_policy_on_a_stream_is_no_code_that_is_not_seen() -> None:
    """The call `on` of an object of Thrust makes a handle: nothing has to be assumed of it."""
    source = """#include <cuda_runtime.h>
#include <thrust/scan.h>
__global__ void k(int *p);
class Decoder {
public:
    Decoder(int n, cudaStream_t s) : n(n), stream(s) { cudaMalloc(&counts, 4 * n); }
    ~Decoder() { cudaFree(counts); }
    void step() {
        k<<<1, 1, 0, stream>>>(counts);
        thrust::exclusive_scan(thrust::cuda::par.on(stream), counts + 1, counts + n, counts + 1);
    }
    int n, *counts;
    cudaStream_t stream;
};
"""
    report = analyze({"decoder.cuh": source.encode()}, Config())
    assert {a.subject for f in report.findings for a in f.assumptions} == {"Decoder"}


# memory that a library got before, or that it takes for a scalar, and works on where its handle says
BEFORE_THE_CALL = """
cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, other); cublasSetWorkspace(h, d, 4); cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &a, x, 1, x, 1, &a, x, 1);
cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, other); cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE); cublasSscal(h, 1, (float *)d, x, 1);
cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, other); cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE); cublasSaxpy(h, 1, (float *)d, x, 1, x, 1);
cufftHandle h; size_t n; cufftCreate(&h); cufftMakePlan1d(h, 64, CUFFT_C2C, 1, &n); cufftSetWorkArea(h, d); cufftSetStream(h, other); cufftExecC2C(h, (cufftComplex *)x, (cufftComplex *)x, CUFFT_FORWARD);
"""


@pytest.mark.parametrize("case", BEFORE_THE_CALL.strip().split("\n"))
def test_what_a_handle_keeps_and_scalars_on_the_device_are_used_on_its_stream(case: str) -> None:
    other_stream.check(other_stream.analyze(other_stream.MAIN % f"float a = 1, *x; cudaMalloc(&x, 512); {case}"))


HANDLES = """
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <map>
#include <vector>
int main(int argc, char **argv) {{
    float *d, *m, a = 1;
    cublasHandle_t h;
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaMallocManaged(&m, 4);
    {first}
    cudaMalloc(&d, 4);
    {use}
    cudaFree(d);
    return 0;
}}
"""


@pytest.mark.parametrize(
    "first",
    [
        "std::vector<cublasHandle_t> v; for (int i = 0; i < argc; i++) { cublasCreate(&h); cublasSetStream(h, t); v.push_back(h); } cublasSetStream(h, s); h = v[0];",
        "std::map<int, cublasHandle_t> v; for (int i = 0; i < argc; i++) { cublasCreate(&h); cublasSetStream(h, t); v[i] = h; } cublasSetStream(h, s); h = v[0];",
        "cublasHandle_t v[8]; for (int i = 0; i < argc; i++) { cublasCreate(&v[i % 8]); cublasSetStream(v[i % 8], t); } cublasSetStream(v[argc % 8], s); h = v[0];",
        "cublasHandle_t last; for (int i = 0; i < argc; i++) { last = h; cublasCreate(&h); cublasSetStream(h, t); } cublasSetStream(h, s); h = last;",
    ],
)  # fmt: skip
def test_handles_that_one_call_makes_in_a_loop_are_several(first: str) -> None:
    """The stream of the last one is not that of the first."""
    use = "cublasSscal(h, 1, &a, d, 1);"
    report = analyze({"main.cu": HANDLES.format(first=first, use=use).encode()}, Config())
    assert not any(f.safety is Safety.PROVEN for f in report.findings)


def test_a_handle_that_is_destroyed_in_each_round_is_one() -> None:
    use = "for (int i = 0; i < argc; i++) { cublasCreate(&h); cublasHandle_t g = h; cublasSetStream(h, s); cublasSscal(h, 1, &a, d, 1); cublasDestroy(g); }"
    (finding,) = analyze({"main.cu": HANDLES.format(first="", use=use).encode()}, Config()).findings
    assert finding.safety is Safety.PROVEN
    assert any(place.text == "freed on `s`" for place in finding.related)


@pytest.mark.parametrize(
    ("use", "freed"),
    [
        ("thrust::sort(thrust::cuda::par_nosync.on(s), d, d + 1);", "freed on `s`"),
        ("auto p = thrust::cuda::par_nosync.on(s); thrust::sort(p, d, d + 1);", "freed on `s`"),
        ("auto p = thrust::cuda::par_nosync.on(s); auto &q = p; q = thrust::cuda::par_nosync.on(t); thrust::sort(p, d, d + 1);", "freed on `t`"),
        ("thrust::sort(thrust::cuda::par_nosync, d, d + 1);", None),
        ("auto p = thrust::cuda::par_nosync.on(s); if (argc > 1) p = thrust::cuda::par_nosync.on(t); thrust::sort(p, d, d + 1);", None),
        ("auto p = argc > 1 ? thrust::cuda::par_nosync.on(t) : thrust::cuda::par_nosync.on(s); thrust::sort(p, d, d + 1);", None),
    ],
)  # fmt: skip
def test_an_algorithm_without_a_wait_runs_on_the_stream_of_its_policy(use: str, freed: str | None) -> None:
    findings = analyze({"main.cu": HANDLES.format(first="", use=use).encode()}, Config()).findings
    assert [place.text for f in findings for place in f.related if "freed" in place.text] == ([freed] if freed else [])


def test_the_host_waits_for_an_algorithm_without_a_wait_where_it_looks_at_the_memory() -> None:
    use = "thrust::sort(thrust::cuda::par_nosync.on(s), m, m + 1);"
    source = HANDLES.format(first="", use=use).replace("return 0", "return *m")
    (finding,) = analyze({"main.cu": source.encode()}, Config()).findings
    assert any(edit.text.startswith(b"cudaStreamSynchronize(s);") for edit in finding.edits)
