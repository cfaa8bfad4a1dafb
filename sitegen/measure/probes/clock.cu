// Stores clock64 and globaltimer of every SM.  Two launches around a stretch of a stream give the mean SM clock
// between them: (clock1 - clock0) cycles in (time1 - time0) nanoseconds.  Several blocks share an SM; they
// overwrite each other, and a 16-byte store keeps each pair together.
extern "C" __global__ void sm_clock(ulonglong2* readings) {
    if (threadIdx.x != 0) return;
    unsigned sm;
    unsigned long long cycles, nanoseconds;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    readings[sm] = make_ulonglong2(cycles, nanoseconds);
}
