# make check-slurm: mimic sweep as an array job of a Slurm of this machine. TAP on standard output. Without Slurm's
# packages it skips, and says so; SLURM_ROOT=DIR: they are unpacked there.

.PHONY: check-slurm
check-slurm: all
	$(Q)tests/slurm/test-array.sh "$(abspath $(O))"
