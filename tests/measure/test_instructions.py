"""Small kernels, compiled for three generations of GPUs: each instruction is counted in its class."""

from __future__ import annotations

import pytest

from sitegen.measure.artefacts import disassemble
from sitegen.measure.compile import compile_device

pytestmark = pytest.mark.nvrtc

AMPERE, HOPPER, BLACKWELL = "sm_80", "sm_90a", "sm_100a"
EVERYWHERE = (AMPERE, HOPPER, BLACKWELL)
LOADS = """
template <typename T> __device__ void move(const void* x, void* y) {
    static_cast<T*>(y)[threadIdx.x] = static_cast<const T*>(x)[threadIdx.x];
}
extern "C" __global__ void kernel(const void* x, void* y) { move<TYPE>(x, y); }
"""
SHARED = """
extern "C" __global__ void kernel(const TYPE* x, TYPE* y) {
    __shared__ TYPE tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
SPILLS = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    float values[32];
    for (int i = 0; i < 32; ++i) values[i] = x[i * n];
    for (int i = 0; i < n; ++i) values[(i * i) % 32] += values[(i * 7) % 32];
    y[threadIdx.x] = values[n % 32];
}
"""
ARITHMETIC = """
extern "C" __global__ void kernel(const float* x, float* y, int* count) {
    float a = fmaf(x[0], x[1], x[2]);
    y[threadIdx.x] = __shfl_xor_sync(0xffffffff, exp2f(a), 1);
    atomicAdd(count, 1);
    y[32] = atomicAdd(count + 1, 2);
}
"""
COPIED_AHEAD = """
extern "C" __global__ void kernel(const float4* x, float4* y) {
    __shared__ float4 tile[32];
    const unsigned to = __cvta_generic_to_shared(tile + threadIdx.x);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + threadIdx.x));
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[threadIdx.x] = tile[threadIdx.x ^ 1];
}
"""
MMA = """
extern "C" __global__ void kernel(const unsigned* x, float* y) {
    extern __shared__ unsigned tile[];
    unsigned a, b, c, d;
    float z[4] = {};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"((unsigned)__cvta_generic_to_shared(tile + threadIdx.x)));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
                 : "r"(a), "r"(b), "r"(c), "r"(d), "r"(x[0]), "r"(x[1]));
    y[threadIdx.x] = z[0] + z[1] + z[2] + z[3];
}
"""
WGMMA = """
extern "C" __global__ void kernel(float* y, unsigned long long a, unsigned long long b) {
    float z[4] = {};
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3]) : "l"(a), "l"(b));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;"
                 : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3]) : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;");
    y[threadIdx.x] = z[0] + z[1] + z[2] + z[3];
}
"""
BULK = """
extern "C" __global__ void kernel(const char* x, const void* map, char* y) {
    extern __shared__ __align__(128) char tile[];
    __shared__ unsigned long long full;
    const unsigned to = __cvta_generic_to_shared(tile), barrier = __cvta_generic_to_shared(&full);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(barrier));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(to),
                 "l"(x), "r"(barrier));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %2}], [%3];" ::"r"(to), "l"(map), "r"(0), "r"(barrier));
    y[threadIdx.x] = tile[threadIdx.x];
}
"""
TCGEN05 = """
extern "C" __global__ void kernel(float* y, unsigned long long a, unsigned long long b, unsigned shape) {
    __shared__ unsigned place;
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;"
                 ::"r"((unsigned)__cvta_generic_to_shared(&place)));
    __syncthreads();
    const unsigned d = place;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}"
                 ::"r"(d), "l"(a), "l"(b), "r"(shape));
    float z;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=f"(z) : "r"(d));
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    y[threadIdx.x] = z;
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(d));
}
"""
WIDE = """
extern "C" __global__ void kernel(const float* x, float* y) {
    float a, b;
    asm volatile("ld.global.v8.f32 {%0, %1, _, _, _, _, _, _}, [%2];" : "=f"(a), "=f"(b) : "l"(x));
    y[threadIdx.x] = a + b;
}
"""


@pytest.fixture
def counted(tmp_path):
    """Return the instructions of `kernel` in a source by class, and its resources."""

    def compiled(source, arch, **defines):
        (tmp_path / "small.cu").write_text(source)
        code = compile_device(tmp_path / "small.cu", "kernel", arch, tuple(defines.items()), [])
        return disassemble([code.binary(0)], arch).compilation

    return compiled


@pytest.mark.parametrize("arch", EVERYWHERE)
@pytest.mark.parametrize(("kind", "bits"), [("char", 8), ("short", 16), ("float", 32), ("float2", 64), ("float4", 128)])
def test_global_memory_is_counted_by_the_width_of_an_access(counted, arch, kind, bits):
    found = counted(LOADS, arch, TYPE=kind).instructions
    assert {name: n for name, n in found.items() if name[:3] in ("LDG", "STG")} == {f"LDG.{bits}": 1, f"STG.{bits}": 1}


@pytest.mark.parametrize("arch", EVERYWHERE)
@pytest.mark.parametrize(("kind", "bits"), [("float", 32), ("float2", 64), ("float4", 128)])
def test_shared_memory_is_counted_apart_and_its_barrier_with_it(counted, arch, kind, bits):
    found = counted(SHARED, arch, TYPE=kind)
    assert {f"LDS.{bits}", f"STS.{bits}", "BAR"} <= set(found.instructions)
    assert found.shared_bytes == 64 * bits // 8


@pytest.mark.parametrize("arch", EVERYWHERE)
def test_an_array_that_registers_cannot_hold_lies_in_local_memory(counted, arch):
    found = counted(SPILLS, arch)
    assert found.spill_bytes == 32 * 4
    assert {name[:3] for name in found.instructions} >= {"LDL", "STL"}


@pytest.mark.parametrize("arch", EVERYWHERE)
def test_arithmetic_shuffles_and_atomics_have_names_of_their_own(counted, arch):
    found = counted(ARITHMETIC, arch).instructions
    assert {"FFMA", "MUFU", "SHFL", "REDG" if arch != AMPERE else "RED", "ATOMG"} <= set(found)


@pytest.mark.parametrize("arch", EVERYWHERE)
def test_copies_past_the_registers_are_counted_by_width(counted, arch):
    found = counted(COPIED_AHEAD, arch).instructions
    assert (found["LDGSTS.128"], found["LDGSTS.32"]) == (1, 1)
    assert "LDG.128" not in found


@pytest.mark.parametrize("arch", EVERYWHERE)
def test_tensor_cores_of_a_warp_are_hmma(counted, arch):
    found = counted(MMA, arch).instructions
    assert (found["HMMA"], found["LDSM"]) == (1, 1)


def test_tensor_cores_of_a_warp_group_are_hgmma_and_qgmma(counted):
    found = counted(WGMMA, HOPPER).instructions
    assert (found["HGMMA"], found["QGMMA"]) == (1, 1)
    assert "HMMA" not in found


@pytest.mark.parametrize("arch", [HOPPER, BLACKWELL])
def test_the_copy_engine_and_its_barriers_are_counted(counted, arch):
    found = counted(BULK, arch).instructions
    assert (found["UBLKCP"], found["UTMALDG"]) == (1, 1)
    assert found["SYNCS"] >= 2


def test_tensor_cores_of_blackwell_and_their_memory_are_counted(counted):
    found = counted(TCGEN05, BLACKWELL).instructions
    assert (found["UTCHMMA"], found["LDTM"]) == (1, 1)


def test_blackwell_loads_32_bytes_at_once(counted):
    assert counted(WIDE, BLACKWELL).instructions["LDG.256"] == 1
