// A kernel that does nothing: what is timed of a call beside its work.
extern "C" __global__ void empty() {}
