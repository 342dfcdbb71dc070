# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=bash disable=SC2154 # work is tap.sh's
# Sourced: a Slurm of this machine alone, with munge, for the user who calls. Its files are in $work/slurm; nothing of it
# stays. SLURM_ROOT=DIR: the packages are not installed, but unpacked there (dpkg -x).
slurm_root=${SLURM_ROOT:-}
slurm_processes=()

# slurm_program NAME: its path. Debian's own names end with -wlm.
slurm_program()
{
	local path
	for path in "$slurm_root"/usr/{sbin,bin}/"$1"{,-wlm}; do
		[ -x "$path" ] && { echo "$path"; return 0; }
	done
	return 1
}

# Which programs are not there; nothing: all are.
slurm_missing()
{
	local name
	for name in munged mungekey slurmctld slurmd slurmstepd sbatch squeue scancel scontrol sinfo; do
		slurm_program "$name" >/dev/null || printf '%s ' "$name"
	done
}

slurm() # slurm NAME ARGUMENTS...: a program of it
{
	local path
	path=$(slurm_program "$1") || return 127
	shift
	SLURM_CONF="$work/slurm/slurm.conf" LD_LIBRARY_PATH="$slurm_libraries" "$path" "$@"
}

# slurm_port: one that nobody listens at
slurm_port()
{
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

slurm_configure()
{
	local name plugins
	name=$(hostname -s)
	plugins=$(dirname "$(find "$slurm_root/usr/lib" -name auth_munge.so | head -n 1)")
	[ -z "$slurm_root" ] || slurm_libraries="$(dirname "$plugins"):$plugins"
	mkdir -p "$work/slurm/state" "$work/slurm/spool" && chmod 700 "$work/slurm"
	cat >"$work/slurm/slurm.conf" <<-END
		ClusterName=mimic
		SlurmctldHost=$name(127.0.0.1)
		SlurmctldPort=$(slurm_port)
		SlurmdPort=$(slurm_port)
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$work/slurm/munge.socket
		PluginDir=$plugins
		StateSaveLocation=$work/slurm/state
		SlurmdSpoolDir=$work/slurm/spool
		SlurmctldPidFile=$work/slurm/slurmctld.pid
		SlurmdPidFile=$work/slurm/slurmd.pid
		SlurmctldLogFile=$work/slurm/slurmctld.log
		SlurmdLogFile=$work/slurm/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerParameters=sched_min_interval=100000
		MpiDefault=none
		ReturnToService=2
		KillWait=1
		MinJobAge=300
		NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=500
		PartitionName=all Nodes=$name Default=YES MaxTime=INFINITE State=UP
	END
	echo "CgroupPlugin=cgroup/v1" >"$work/slurm/cgroup.conf"
}

# slurm_run NAME ARGUMENTS...: a daemon in the foreground of its own
slurm_run()
{
	local path
	path=$(slurm_program "$1") || return 127
	SLURM_CONF="$work/slurm/slurm.conf" LD_LIBRARY_PATH="$slurm_libraries" "$path" "${@:2}" >"$work/slurm/$1.out" 2>&1 &
	slurm_processes+=($!)
}

# slurm_until SECONDS COMMAND...: tries it until it works. A client that finds no daemon takes its own time.
slurm_until()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

slurm_is_idle()
{
	[ "$(slurm sinfo -h -o %T 2>/dev/null)" = idle ]
}

# 0 when the node takes jobs. (--force: a socket in a folder of the user's own is one that munged warns of.)
slurm_start()
{
	slurm_libraries=${LD_LIBRARY_PATH:-}
	slurm_configure
	slurm mungekey --create --keyfile "$work/slurm/munge.key" || return 1
	slurm_run munged --foreground --force --key-file "$work/slurm/munge.key" --socket "$work/slurm/munge.socket" \
		--pid-file "$work/slurm/munged.pid" --log-file "$work/slurm/munged.log" --seed-file "$work/slurm/munge.seed"
	slurm_until 20 test -S "$work/slurm/munge.socket" || return 1
	slurm_run slurmctld -D -c -f "$work/slurm/slurm.conf"
	slurm_run slurmd -D -c -f "$work/slurm/slurm.conf" -d "$(slurm_program slurmstepd)"
	slurm_until 40 slurm_is_idle
}

# By their numbers, the last one first.
slurm_stop()
{
	local i
	for ((i = ${#slurm_processes[@]} - 1; i >= 0; i--)); do
		kill "${slurm_processes[i]}" 2>/dev/null && wait "${slurm_processes[i]}"
	done 2>/dev/null
	slurm_processes=()
}

slurm_is_over()
{
	local left
	left=$(slurm squeue -h -j "$1" -t pending,running,completing,suspended 2>/dev/null) && [ -z "$left" ]
}

# slurm_wait JOB: until nothing of it is in the queue; 0 unless that takes a minute
slurm_wait()
{
	slurm_until 60 slurm_is_over "$1"
}
