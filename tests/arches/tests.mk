# Of other architectures, unit tests without test_: those left out, and those of make check-arches' part.

# Not compiled: OpenBLAS and SuiteSparse are not fetched; gcc 12 has no _Float16 of RISC-V.
ARCH_NOT_BUILT := dare_sparse% $(if $(filter riscv64,$(ARCH)),virgo_array virgo_conv virgo_loop_ws virgo_moves)
# qemu-user: no process_vm_readv(); no filters of system calls; less room for signals; stacks below 2^40.
ARCH_NOT_THERE := daemon_memory_remote record_replay libvirgo_gemm daemon_closer hold libmaple
ARCH_PART := decode_arm64 decode_riscv emulate_load_store probe probe_block probe_rows dare_mma ring record_format
