# mimic: the one entry. `make help` lists the targets.
# O=DIR builds elsewhere, V=1 shows the commands, SANITIZE=address,undefined or thread.
# WERROR=1 makes warnings errors: so it is in CI only, because other compilers warn of other things.

# Of another architecture, by Debian's cross compiler: make ARCH=arm64, or riscv64 (tests/arches/cross.mk).
ifeq ($(origin ARCH),command line)
include tests/arches/cross.mk
endif
O ?= build
# make's lists are of words: a build directory with spaces in its path has a link without, beside the sources.
empty :=
space := $(empty) $(empty)
has_spaces = $(word 2,$(1))
ifneq ($(call has_spaces,$(O)),)
override O := $(shell scripts/link-without-spaces.sh '$(O)')
ifeq ($(O),)
$(error O: a build directory with spaces in its path needs a link beside the sources, which cannot be made)
endif
endif
PREFIX ?= /usr/local
DESTDIR ?=
CC = $(CROSS)gcc $(SYSROOT)
CXX = $(CROSS)g++ $(SYSROOT)
FUZZ_CC = clang
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
VERSION := 0.1.0
# The processor that is compiled for, as compilers call it: x86_64, aarch64, riscv64. Where the compiler is still to be
# installed it is this machine's.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))
IS_X86_64 := $(filter x86_64,$(MACHINE))

# LIBRARIES_MK=FILE is for a caller that knows which libraries there are.
LIBRARIES_MK ?= $(O)/libraries.mk
# The libraries that are installed: found anew when that may have changed. A library that is optional is left out.
WITHOUT_LIBRARIES := help clean uninstall lint deb check-deb check-suite check-builds check-binary check-container dist-binary check check-parts packages-%
OF_TESTS = check-quick check-native check-asan check-tsan check-fuzz check-vm check-kernel% tests bench $(O)/tests/%
ifneq ($(or $(filter-out $(WITHOUT_LIBRARIES),$(MAKECMDGOALS)),$(if $(MAKECMDGOALS),,all)),)
include $(LIBRARIES_MK)
# Where packages are installed by us, those of the tests are to be there when their libraries are looked for.
$(O)/libraries.mk: FORCE | $(if $(filter $(OF_TESTS),$(MAKECMDGOALS)),packages-tests,packages-build)
	$(Q)CC="$(CC)" PKG_CONFIG="$(PKG_CONFIG)" sh scripts/find-libraries.sh $@
endif
PKG_CONFIG ?= pkg-config
FORCE:

WERROR ?= $(if $(CI),1)
WERROR_FLAG := $(if $(filter-out 0,$(WERROR)),-Werror)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(WERROR_FLAG)
CFLAGS ?= -O2 -g
# No fused multiply-add: a device's sums are the same, bit for bit, on every machine.
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) $(PART_CFLAGS) -fPIC -fvisibility=hidden -pthread \
	-ffp-contract=off -I. -Iinclude $(LIBRARY_FLAGS) -D_GNU_SOURCE -DMIMIC_VERSION='"$(VERSION)"' -MMD -MP $(LIBRARY_CFLAGS) $(call without,HAS_SDT,-DMIMIC_WITHOUT_SDT)
LDFLAGS_ALL = -pthread $(LDFLAGS)
# For the many programs of the tests: in a third of the usual linker's time, where there is one.
FAST_LINK := $(if $(shell command -v $(CROSS)ld.gold),-fuse-ld=gold)
ifneq ($(SANITIZE),)
# gcc's warnings err beside its sanitizers' checks: here they are only shown.
ALL_CFLAGS += $(SANITIZE_FLAGS) -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-error
SANITIZE_FLAGS = -fsanitize=$(SANITIZE)
LDFLAGS_ALL += -fsanitize=$(SANITIZE) $(FAST_LINK)
endif

# --- sources of each part: a folder's C files make its part ----------------
# The devices that are built in, a line each.
KINDS        := $(shell scripts/kinds.sh)
ifneq ($(.SHELLSTATUS),0)
$(error devices/kinds.def cannot be read)
endif
# The parts of a device, also of a plugin.
DEVICE_SRC   := $(wildcard devices/*.c devices/soc/*.c)
MODEL_SRC    := $(DEVICE_SRC) $(wildcard $(foreach kind,$(KINDS),devices/$(kind)/*.c devices/$(kind)/time/*.c))
MIMIC_SRC    := $(wildcard $(patsubst %,libmimic/%/*.c,base device embedded daemon kernel record replay)) $(MODEL_SRC)
# Instructions of x86-64 alone are replaced once they have trapped.
PRELOAD_SRC  := $(filter-out $(if $(IS_X86_64),%/unpatched.c,libmimic/preload/patch%),$(wildcard libmimic/preload/*.c)) devices/text.c \
	$(patsubst %,libmimic/base/%.c,decode decode_operand decode_vector operate)
# The common part of the libraries of devices: each has a copy.
LIBRARY_SRC  := $(wildcard libmimic/library/*.c)
# The library of a device lies in libNAME, or in the device's own folder. How they are built: mk/devices.mk
library_folder = $(firstword $(wildcard lib$(1) devices/$(1)/lib))
library_src  = $(wildcard $(call library_folder,$(1))/*.c) $(LIBRARY_SRC)
LIBRARY_KINDS := $(foreach kind,$(KINDS),$(if $(call library_folder,$(kind)),$(kind)))
LIBRARY_FLAGS := $(foreach kind,$(LIBRARY_KINDS),-I$(call library_folder,$(kind)))
# A file that needs a library that is not there, and the one in its place: of the same name, in a folder `without`.
without       = $(if $($(1)),,$(2))
WITHOUT_SRC  := $(call without,HAS_FUSE,$(wildcard daemon/filesystem/*.c)) $(call without,HAS_URING,daemon/bus/ring_calls.c) \
	$(call without,HAS_DW,tools/sim/program.c)
WITH_SRC     := $(call without,HAS_FUSE,daemon/filesystem/without/filesystem.c) $(call without,HAS_URING,daemon/bus/without/ring_calls.c)
DAEMON_SRC   := $(filter-out daemon/main.c $(WITHOUT_SRC),$(wildcard daemon/*.c daemon/*/*.c)) $(WITH_SRC) options/options.c
# A folder for a device has commands of its own.
TOOL_SRC     := $(filter-out $(WITHOUT_SRC),$(wildcard tools/*.c tools/*/*.c)) $(call without,HAS_DW,tools/sim/without/program.c) options/options.c
include $(wildcard tools/*/sources.mk)
COMMON_SRC   := $(wildcard examples/common/*.c)
# A folder for a device. Some programs have rules of their own, in rules.mk beside them; sources.mk says which.
include $(wildcard examples/*/sources.mk)
EXAMPLE_SRC  := $(filter-out $(EXAMPLES_WITH_RULES),$(wildcard $(KINDS:%=examples/%/*.c)))
BENCH_SRC    := $(wildcard bench/*.c)
SIM_SRC      := $(wildcard sim/*.c)
TESTLIB_SRC  := $(wildcard tests/lib/*.c)
# Some are of one processor's instructions.
OTHER_TESTS  := $(if $(IS_X86_64),emulate_load_store,emulate emulate_x87 patch_code patch_plan patch_room)
include tests/sources.mk
TEST_LEFT_OUT := $(call without,HAS_CMOCKA,tests/%) $(call without,HAS_ZYDIS,$(ZYDIS_TEST_SRC)) $(call without,HAS_FUSE,tests/unit/test_filesystem_%) \
	$(call without,HAS_SPARSE,$(SPARSE_TEST_SRC))
UNIT_TEST_SRC := $(filter-out $(TEST_LEFT_OUT) $(OTHER_TESTS:%=tests/unit/test_%.c),$(wildcard tests/unit/test_*.c))
TRANSPORT_TEST_SRC := $(filter-out $(TEST_LEFT_OUT),$(wildcard tests/transport/test_*.c))
# Each folder is the contract of a device.
CONTRACT_DEVICES := $(if $(HAS_CMOCKA),$(filter $(KINDS),$(patsubst tests/contract/%/,%,$(wildcard tests/contract/*/))))
# The tests' own code takes as long to compile as all libraries, and little to run. To debug a test: make TEST_CFLAGS=-g.
# Undefined behaviour is searched for in the tested code, addresses and races in the tests, too.
comma := ,
TEST_CFLAGS ?= $(if $(SANITIZE),-O0,-O1) -g1
$(foreach folder,unit transport contract,$(O)/obj/tests/$(folder)/%.o): PART_CFLAGS = $(TEST_CFLAGS)
# Expected values are computed by plain loops of one thread, which the thread sanitizer makes
# ten times slower and has nothing to say of.
REFERENCE_SRC := $(wildcard tests/lib/*_reference*.c tests/lib/*_oracle.c tests/lib/half.c)
ifneq ($(SANITIZE),)
TEST_SANITIZERS := $(filter-out undefined,$(subst $(comma), ,$(SANITIZE)))
$(O)/obj/tests/%.o: SANITIZE_FLAGS = $(TEST_SANITIZERS:%=-fsanitize=%)
$(patsubst %.c,$(O)/obj/%.o,$(REFERENCE_SRC)): SANITIZE_FLAGS = $(addprefix -fsanitize=,$(filter-out thread,$(TEST_SANITIZERS)))
$(patsubst %.c,$(O)/obj/%.o,$(REFERENCE_SRC)): PART_CFLAGS = -O2
endif
UNMODIFIED_C := $(wildcard tests/unmodified/*.c)
UNMODIFIED_CXX := $(wildcard tests/unmodified/*.cc)
FUZZ_SRC     := $(wildcard tests/fuzz/fuzz_*.c)

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
MIMIC_LIBS  := $(INIH_LIBS) $(JSON_LIBS) -ldl -lm
DAEMON_LIBS := $(URING_LIBS) $(FUSE_LIBS) -ldl

LIBMIMIC     := $(O)/lib/libmimic.so.0
PRELOAD      := $(O)/lib/libmimic-preload.so
LIBMIMIC_A   := $(O)/lib/libmimic.a
LIBDEVICE_A  := $(O)/lib/libmimic-device.a
DEVICE_LIBRARIES := $(LIBRARY_KINDS:%=$(O)/lib/lib%.so.0)
DEVICE_LIBRARIES_A := $(LIBRARY_KINDS:%=$(O)/lib/lib%.a)
LIBCOMMON_A  := $(O)/lib/libcommon.a
LIBDAEMON_A  := $(O)/lib/libdaemon.a
LIBTEST_A    := $(O)/lib/libtest.a
LIBSIM_A     := $(O)/lib/libsim.a
RPATH        = -Wl,-rpath,'$$ORIGIN/$(1)lib'
# Of a library in the build directory; of one that is linked to be installed in a standard place: none.
ORIGIN       = $(if $(filter $(O)/lib/%,$(1)),-Wl$(comma)-rpath$(comma)'$$ORIGIN')

EXAMPLES     := $(patsubst %.c,$(O)/%,$(EXAMPLE_SRC))
# One program a device, and a link to it for each way to the device: the link's name says which.
CONTRACTS    := $(patsubst %,$(O)/tests/contract/contract_%,$(CONTRACT_DEVICES))
include $(wildcard tests/contract/*/names.mk)
contract_ways = $(shell sed -n 's/.*\.program = "\(.*\)",/\1/p' tests/contract/ways.c $(wildcard tests/contract/$(1)/ways.c))
# (Those of a virtual machine alone have no link.)
contract_links = $(addprefix $(O)/tests/contract/$(or $(CONTRACT_NAME_$(1)),test_contract_$(1)_),$(filter-out pci_%,$(call contract_ways,$(1))))
CONTRACT_TESTS := $(foreach device,$(CONTRACT_DEVICES),$(call contract_links,$(device)))
TEST_PROGRAMS := $(patsubst %.c,$(O)/%,$(UNIT_TEST_SRC) $(TRANSPORT_TEST_SRC))
TESTS        := $(filter $(O)/tests/unit/%,$(TEST_PROGRAMS)) $(CONTRACT_TESTS) $(filter $(O)/tests/transport/%,$(TEST_PROGRAMS))
UNMODIFIED   := $(patsubst %.c,$(O)/%,$(UNMODIFIED_C)) $(patsubst %.cc,$(O)/%,$(UNMODIFIED_CXX))
ADDERS       := $(addprefix $(O)/tests/unmodified/,adder-11.so adder-22.so adder-33.so)
FUZZERS      := $(patsubst %.c,$(O)/%,$(FUZZ_SRC))
BINARIES     := $(if $(wildcard tools/mimic.c),$(O)/bin/mimic) $(if $(wildcard daemon/main.c),$(O)/bin/mimicd)
LIBRARIES    := $(LIBMIMIC) $(LIBDEVICE_A) $(DEVICE_LIBRARIES) $(if $(PRELOAD_SRC),$(PRELOAD))

.PHONY: FORCE help all tests fuzzers packages-build packages-tests packages-check clean
.DEFAULT_GOAL := all

help:
	@echo "make all           build libraries, commands, examples, man pages into build/"
	@echo "make demo          products and searches on the devices, on all transports, and a page of them; INPUT=FILE for your own"
	@echo "make check         all tests, sanitizers, fuzzing (about 12 minutes); check-quick for less"
	@echo "make check-kernel  kernel tests in virtual machines, Debian 6.1, 6.12, newest (about 17 minutes); KERNELS=6.12 for one"
	@echo "make check-kernel-all  all of them on these, with PREEMPT_RT and in the debug kernel, for hours"
	@echo "make check-vm      PCI functions in virtual machines of stock kernels, x86-64 and RISC-V; WHOLE=1 for more of them"
	@echo "make check-slurm   mimic sweep as an array job of a Slurm of this machine (half a minute; packages slurm-wlm and munge)"
	@echo "make wheel         the Python package, build/python/mimic-$(VERSION)-py3-none-any.whl (docs/python.md)"
	@echo "make check-python  its tests (half a minute; packages python3-numpy, python3-pytest, python3-matplotlib, python3-venv)"
	@echo "make check-arches  builds for arm64 and RISC-V, and a part of the tests by qemu-user; WHOLE=1 for more (docs/platforms.md)"
	@echo "make soak-hostile  mimicd under hostile programs for 30 minutes; SOAK_SECONDS=N"
	@echo "make soak-kill-kernel  mimicd is killed 200 times in a virtual machine, with devices through the kernel"
	@echo "make soak-kill     mimicd is killed 10,000 times under load, and goes on; KILLS=N"
	@echo "make walk-kill     mimicd is killed at each place of its steps (100 minutes of CPU time); WALK_STRIDE=N for each Nth"
	@echo "make check-kernel-debug"
	@echo "                   the same tests in a kernel with KASAN, lockdep and fault injection; builds it first, once"
	@echo "make demo-kernel   the demo in a virtual machine, with modules and daemon; KERNEL=6.1, 6.12, newest, rt, debug"
	@echo "make vm-shell      a shell in that machine"
	@echo "make bench         host benchmarks, written to build/bench.json"
	@echo "make figures       the papers' figures in virtual time, beside what they say, into build/figures*/ (12 minutes)"
	@echo "make figures-NAME  those of one device's paper alone, where bench/figures/ has a folder of that name (3 minutes)"
	@echo "make figures-ranges, figures-NAME-ranges"
	@echo "                   how far these move over the ranges of what the papers do not say (5 to 10 minutes each)"
	@echo "make bench-kernel  benchmarks in a virtual machine; KERNEL=6.1 or 6.12"
	@echo "make deb           Debian packages, in build/deb; make check-deb tests them in fresh trees"
	@echo "make dist-binary   a tarball for any x86-64 Linux of the last five years; make check-binary tests it in fresh trees"
	@echo "make check-builds  without optional libraries, with -O3 in a path with spaces (10 minutes)"
	@echo "make bench-vm      what a trap and a lane cost in a virtual machine of a stock kernel"
	@echo "make install, uninstall"
	@echo "                   PREFIX=DIR DESTDIR=DIR LIBDIR=PREFIX/lib64 MANDIR=DIR DOCDIR=DIR UNITDIR=DIR"
	@echo "make docs          the register pages of the docs, from the register lists"
	@echo "make lint          style of changed lines, scripts, spelling; LINT_BASE=REVISION"
	@echo "make clean         remove build/"
	@echo "Variables: O=DIR builds elsewhere, ARCH=arm64|riscv64 for another processor,"
	@echo "           V=1 shows commands, SANITIZE=address,undefined|thread,"
	@echo "           WERROR=1 makes warnings errors (CI does)"

all: packages-build $(LIBRARIES) $(BINARIES) $(EXAMPLES)
tests: $(TESTS) $(UNMODIFIED) $(ADDERS)
fuzzers: $(FUZZERS)

# A rule that runs a program of a package, or compiles against one, waits for these: the package may be missing.
PACKAGES ?= sh scripts/packages.sh
packages-build:
	$(Q)$(PACKAGES) build

packages-tests:
	$(Q)$(PACKAGES) build tests

packages-check:
	$(Q)$(PACKAGES) build tests check

$(O)/obj/%.o: %.c | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $<")
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

define archive
	@mkdir -p $(@D)
	$(if $(Q),@echo "  AR      $@")
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
endef

$(LIBMIMIC_A): $(call obj,$(MIMIC_SRC)); $(archive)
$(LIBDEVICE_A): $(call obj,$(DEVICE_SRC)); $(archive)
$(LIBCOMMON_A): $(call obj,$(COMMON_SRC)); $(archive)
$(LIBDAEMON_A): $(call obj,$(DAEMON_SRC)); $(archive)
$(LIBTEST_A): $(call obj,$(TESTLIB_SRC)); $(archive)
$(LIBSIM_A): $(call obj,$(SIM_SRC)); $(archive)

# The code that an access of `mimic run` may run: without vector registers, which are then the program's
# (libmimic/base/vectors.h). Of a device its kind says how much of it: enum mimic_keeps_vectors.
says = $(dir $(shell grep -l 'keeps_vectors = $1' devices/*/kind.c))
GENERAL_ONLY := $(filter-out %/unpatched.c,$(wildcard devices/*.c devices/soc/*.c $(patsubst %,libmimic/%/*.c,base device embedded daemon kernel record preload) \
	$(foreach folder,$(call says,MIMIC_KEEPS_VECTORS_IN_MODELS),$(folder)*.c) \
	$(foreach folder,$(call says,MIMIC_KEEPS_VECTORS_IN_KIND),$(folder)kind.c $(folder)explain.c)))
print-general-only:
	@echo $(GENERAL_ONLY)
# gcc 10 compiles no function of floating point then, not even one of <stdlib.h> that nobody calls.
NO_INLINE := $(if $(IS_X86_64),$(shell $(CC) -O2 -D_GNU_SOURCE -mgeneral-regs-only -include stdlib.h -x c -S -o /dev/null /dev/null 2>/dev/null || \
	echo -D__NO_INLINE__))
$(if $(IS_X86_64),$(call obj,$(GENERAL_ONLY))): PART_CFLAGS += -mgeneral-regs-only $(NO_INLINE) $(ALIGNED)
# An access runs through a dozen functions once. Where some begin in the middle of a cache line it takes up to a fifth longer.
ALIGNED := -falign-functions=64
# Objects that were compiled otherwise, before this was so, would lose a program's registers.
GENERAL_FLAGS := $(O)/obj/general-only.flags
$(if $(IS_X86_64),$(call obj,$(GENERAL_ONLY)): $(GENERAL_FLAGS))
$(GENERAL_FLAGS): general-flags | packages-build
	@mkdir -p $(@D)
	@echo "$(NO_INLINE) $(ALIGNED) $(sort $(GENERAL_ONLY))" | cmp -s - $@ || \
		echo "$(NO_INLINE) $(ALIGNED) $(sort $(GENERAL_ONLY))" >$@
general-flags:
.PHONY: general-flags print-general-only

# Calls of other libraries go through gates where the architecture has them (libmimic/base/gates_x86.S).
GATES := $(if $(IS_X86_64),$(O)/obj/libmimic/base/gates_x86.o)
GATED := $(if $(GATES),$(shell sed -nE 's/^(GATE|FORTIFIED)\((.*)\)$$/\2/p' libmimic/base/gated.h))

$(GATES): $(O)/obj/%.o: %.S libmimic/base/gated.h | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  AS      $<")
	$(Q)$(CC) -I. -c -o $@ $<

$(LIBMIMIC): $(call obj,$(MIMIC_SRC)) $(GATES) libmimic/libmimic.map
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libmimic.so.0 -Wl,-z,now -Wl,--version-script=libmimic/libmimic.map \
		$(GATED:%=-Wl,--wrap=%) -Wl,-z,defs -o $@ $(filter %.o,$^) $(MIMIC_LIBS)
	$(Q)ln -sf libmimic.so.0 $(O)/lib/libmimic.so

# The table of registers is asked in the library itself: libmimic.so does not export it.
$(PRELOAD): $(call obj,$(PRELOAD_SRC)) $(LIBDEVICE_A) $(LIBMIMIC)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libmimic-preload.so -Wl,-z,now -Wl,-z,defs -Wl,-rpath,'$$ORIGIN' \
		-o $@ $(filter %.o,$^) $(LIBDEVICE_A) -L$(O)/lib -lmimic -ldl

$(O)/bin/mimicd: $(call obj,daemon/main.c) $(LIBDAEMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS)

$(O)/bin/mimic: $(call obj,$(TOOL_SRC) sim/parameters.c) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) $(MIMIC_LIBS)

# Other files than before may be in them.
$(LIBDAEMON_A) $(O)/bin/mimic $(O)/bin/mimicd $(call obj,libmimic/preload/patch_lines.c): $(O)/libraries.mk
$(call obj,libmimic/preload/patch_lines.c): ALL_CFLAGS += $(call without,HAS_DW,-DMIMIC_WITHOUT_LIBDW)

$(filter $(O)/obj/tests/%,$(call obj,$(TESTLIB_SRC) $(TEST_SRC) $(wildcard tests/contract/*.c))): | packages-tests

# Tests link the archives: they check functions that the shared libraries hide.
$(TEST_PROGRAMS): $(O)/tests/%: $(O)/obj/tests/%.o
# The contracts' cases register themselves, so they cannot lie in an archive.
$(foreach device,$(CONTRACT_DEVICES),$(eval $(O)/tests/contract/contract_$(device): \
	$(call obj,$(filter-out $(if $(filter thread,$(SANITIZE)),$(TSAN_LEFT_OUT_CASES)),$(wildcard tests/contract/*.c tests/contract/$(device)/*.c)))))

$(TEST_PROGRAMS) $(CONTRACTS): $(LIBTEST_A) $(LIBSIM_A) $(LIBDAEMON_A) $(DEVICE_LIBRARIES_A) $(LIBCOMMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) $(FAST_LINK) -rdynamic -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS) $(CMOCKA_LIBS) $(TEST_LIBS) -lm

# A case is a forked process: functions are looked up once, before.
$(CONTRACTS): LDFLAGS_ALL += -Wl,-z,now

include $(wildcard tests/*/rules.mk)

$(foreach device,$(CONTRACT_DEVICES),$(eval $(call contract_links,$(device)): $(O)/tests/contract/contract_$(device)))
$(CONTRACT_TESTS):
	$(Q)ln -sf $(<F) $@

# Programs that know nothing of mimic: no include path, no library of ours.
UNMODIFIED_FLAGS := -O2 -g -Wall -Wextra $(WERROR_FLAG) -no-pie -fno-pie -pthread -fopenmp
$(UNMODIFIED): | packages-build
# All of its few instructions have to be replaced. At fixed addresses it is the heap's place that says if jumps fit.
$(O)/tests/unmodified/vectors: UNMODIFIED_FLAGS += -pie -fpie

$(patsubst %.c,$(O)/%,$(UNMODIFIED_C)): $(O)/%: %.c $(wildcard tests/unmodified/*.h)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)$(CC) -std=gnu11 $(UNMODIFIED_FLAGS) -o $@ $< -lm

$(patsubst %.cc,$(O)/%,$(UNMODIFIED_CXX)): $(O)/%: %.cc $(wildcard tests/unmodified/*.h)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CXX     $@")
	$(Q)$(CXX) -std=gnu++17 $(UNMODIFIED_FLAGS) -o $@ $<

# Libraries that one of them opens and closes; the last is larger by three pages.
$(O)/tests/unmodified/adder-33.so: UNMODIFIED_FLAGS += -DFILLER=12288
$(ADDERS): $(O)/tests/unmodified/adder-%.so: tests/unmodified/libraries/adder.S | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)$(CC) $(UNMODIFIED_FLAGS) -shared -DADDS=$* -o $@ $<

# Fuzz targets: everything but the target itself once, with coverage, as an archive. Four checks are left
# out: the address sanitizer finds their errors, or check-asan does with gcc's. Two of them, the last ones, are more
# than half of the time of compiling.
FUZZ_FLAGS = -std=gnu11 -O1 -gline-tables-only -fsanitize=address,undefined -fno-sanitize=null,object-size,pointer-overflow,alignment -fno-sanitize-recover=all -pthread \
	-ffp-contract=off -I. -Iinclude $(LIBRARY_FLAGS) -D_GNU_SOURCE -DMIMIC_VERSION='"$(VERSION)"' -MMD -MP $(LIBRARY_CFLAGS)
FUZZ_A := $(O)/lib/libfuzzed.a
include tests/fuzz/sources.mk
# Of libmimic and the examples only files that the targets and the daemon call: models, decoder, probes, recordings, loaders.
FUZZED_SRC := $(MODEL_SRC) $(wildcard libmimic/*.c libmimic/base/*.c libmimic/record/*.c) $(DAEMON_SRC) \
	libmimic/preload/patch_plan_x86.c libmimic/preload/patch_move_x86.c \
	$(patsubst %,examples/common/%.c,array csr edge_list entries matrix_market message scan) $(FUZZ_TEST_SRC)
fuzz_obj = $(patsubst %.c,$(O)/obj/fuzz/%.o,$(1))
FUZZ_COVERAGE = -fsanitize=fuzzer-no-link
# New paths of an oracle are of no interest, and it takes most of the time.
$(call fuzz_obj,$(FUZZ_ORACLE_SRC)): FUZZ_COVERAGE =
$(call fuzz_obj,$(FUZZ_QUIET_SRC)): FUZZ_COVERAGE += -fno-sanitize-coverage=trace-cmp
# References compute for as long as the devices: check-asan looks at them.
$(call fuzz_obj,$(FUZZ_REFERENCE_SRC)): FUZZ_FLAGS += -O2 -fno-sanitize=all

$(O)/obj/fuzz/%.o: %.c | packages-check
	@mkdir -p $(@D)
	$(if $(Q),@echo "  FUZZCC  $<")
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -c -o $@ $<

$(FUZZ_A): $(call fuzz_obj,$(FUZZED_SRC)); $(archive)

$(FUZZERS): $(O)/tests/fuzz/%: $(O)/obj/fuzz/tests/fuzz/%.o $(FUZZ_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS) -lm

include $(wildcard mk/*.mk)
include $(wildcard examples/*/rules.mk)

clean:
	$(Q)[ ! -L $(O) ] || rm -rf "$$(readlink $(O))"
	$(Q)rm -rf $(O)

# Reading them takes half a second: not where other makes do the work.
ifneq ($(or $(filter-out help check check-parts check-part-% check-later-% check-asan check-tsan check-fuzz check-build-asan check-build-tsan check-run-%,$(MAKECMDGOALS)),$(if $(MAKECMDGOALS),,all)),)
-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
endif
