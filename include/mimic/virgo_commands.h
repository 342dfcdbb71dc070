/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The commands of a Virgo matrix unit: Gemmini's, and Virgo's three more. A
 * program stores RS1, RS2 and an instruction word; the funct of the word says
 * which command it is. docs/virgo.md describes the fields.
 */
#ifndef MIMIC_VIRGO_COMMANDS_H
#define MIMIC_VIRGO_COMMANDS_H

/*
 * _(funct, NAME, "text", counter, meaning). The counter is the one of VIRGO_COUNTERS that counts it beside
 * `commands`.
 */
#define VIRGO_COMMANDS(_) \
	_(0, CONFIG, "config", configurations, "configure the array, a load, the store, or the normaliser") \
	_(1, MVIN2, "mvin2", moves_in, "memory to scratchpad or accumulator, with load configuration 1") \
	_(2, MVIN, "mvin", moves_in, "the same with load configuration 0") \
	_(3, MVOUT, "mvout", moves_out, "scratchpad or accumulator to memory") \
	_(4, COMPUTE_PRELOADED, "compute_preloaded", computes, "fill the array with the operand of preload, and multiply") \
	_(5, COMPUTE_ACCUMULATED, "compute_accumulated", computes, "multiply with the operand in the array") \
	_(6, PRELOAD, "preload", preloads, "name the operand for the array, and the place of the results") \
	_(7, FLUSH, "flush", commands, "drop translations") \
	_(8, LOOP_WS, "loop_ws", loops, "a whole matrix multiplication of blocks") \
	_(9, LOOP_WS_BOUNDS, "loop_ws_bounds", configurations, "its size in blocks, and the rows and columns that the last blocks lack") \
	_(10, LOOP_WS_ADDRS_AB, "loop_ws_addrs_ab", configurations, "addresses of A and B") \
	_(11, LOOP_WS_ADDRS_DC, "loop_ws_addrs_dc", configurations, "addresses of D and C") \
	_(12, LOOP_WS_STRIDES_AB, "loop_ws_strides_ab", configurations, "elements from row to row of A and B") \
	_(13, LOOP_WS_STRIDES_DC, "loop_ws_strides_dc", configurations, "elements from row to row of D and C") \
	_(14, MVIN3, "mvin3", moves_in, "as mvin, with load configuration 2") \
	_(15, LOOP_CONV_WS, "loop_conv_ws", loops, "a whole convolution") \
	_(16, LOOP_CONV_WS_CONFIG_1, "loop_conv_ws_config_1", configurations, "batch, input and output sizes, stride, padding") \
	_(17, LOOP_CONV_WS_CONFIG_2, "loop_conv_ws_config_2", configurations, "kernel and pooling sizes, the part of the output to do") \
	_(18, LOOP_CONV_WS_CONFIG_3, "loop_conv_ws_config_3", configurations, "the part of the kernel to do, paddings") \
	_(19, LOOP_CONV_WS_CONFIG_4, "loop_conv_ws_config_4", configurations, "output rows, paddings of pooling, dilation, strides") \
	_(20, LOOP_CONV_WS_CONFIG_5, "loop_conv_ws_config_5", configurations, "addresses of weights and output") \
	_(21, LOOP_CONV_WS_CONFIG_6, "loop_conv_ws_config_6", configurations, "addresses of bias and input") \
	_(22, CLOCK_GATE, "clock_gate", commands, "switches clock gates; no effect on results") \
	_(23, MVOUT_SPAD, "mvout_spad", moves_out, "accumulator to scratchpad") \
	_(24, LOOP_WS_SPAD_AB, "loop_ws_spad_ab", configurations, "where in the scratchpad A begins and B ends") \
	_(25, LOOP_WS_SPAD_C, "loop_ws_spad_c", configurations, "where in the scratchpad C begins") \
	_(126, COUNTER, "counter", commands, "configure, reset, freeze or read performance counters")

enum virgo_funct {
#define _(funct, name, text, counter, meaning) VIRGO_FUNCT_##name = funct,
	VIRGO_COMMANDS(_)
#undef _
};

/* The instruction word of a macro of Gemmini: custom-3, rs1 in x1, rs2 in x2. */
#define VIRGO_OPCODE 0x7bu
#define VIRGO_INSTRUCTION_WORD(funct) \
	(VIRGO_OPCODE | 3u << 12 | 1u << 15 | 2u << 20 | (uint32_t)(funct) << 25)

/* CONFIG: the part that rs1[1:0] configures */
enum virgo_config_kind { VIRGO_CONFIG_EX, VIRGO_CONFIG_LD, VIRGO_CONFIG_ST, VIRGO_CONFIG_NORM };

enum virgo_dataflow { VIRGO_OUTPUT_STATIONARY, VIRGO_WEIGHT_STATIONARY };

enum virgo_activation {
	VIRGO_NO_ACTIVATION, VIRGO_RELU, VIRGO_LAYERNORM, VIRGO_IGELU, VIRGO_SOFTMAX,
	VIRGO_ACTIVATIONS
};

/* Local addresses: the low 32 bits of rs2, and of the operands of preload and compute. */
#define VIRGO_LOCAL_ACCUMULATOR (1u << 31)
#define VIRGO_LOCAL_ACCUMULATE (1u << 30)	/* add to the accumulator */
#define VIRGO_LOCAL_FULL (1u << 29)		/* mvout: accumulator elements as they are */
#define VIRGO_LOCAL_NORM_SHIFT 26		/* mvout: enum virgo_norm */
#define VIRGO_LOCAL_ROW ((1u << 26) - 1)
#define VIRGO_GARBAGE 0xffffffffu

/*
 * The operation of mvout on a row for layernorm and softmax. RESET is the ordinary mvout. MEAN,
 * INV_STDDEV and INV_SUM_EXP end a sum with the last block of a row.
 */
enum virgo_norm {
	VIRGO_NORM_RESET, VIRGO_NORM_SUM, VIRGO_NORM_MEAN, VIRGO_NORM_VARIANCE,
	VIRGO_NORM_INV_STDDEV, VIRGO_NORM_MAX, VIRGO_NORM_SUM_EXP, VIRGO_NORM_INV_SUM_EXP
};

/* LOOP_WS, rs1 */
#define VIRGO_LOOP_ACCUMULATE (1u << 0)
#define VIRGO_LOOP_FULL_C (1u << 1)
#define VIRGO_LOOP_LOW_D (1u << 2)
#define VIRGO_LOOP_ACTIVATION_SHIFT 8
#define VIRGO_LOOP_B_SPAD_SHIFT 16
#define VIRGO_LOOP_A_SPAD_SHIFT 18
/* LOOP_WS, rs2 */
#define VIRGO_LOOP_A_TRANSPOSED (1u << 0)
#define VIRGO_LOOP_B_TRANSPOSED (1u << 1)
#define VIRGO_LOOP_RESIDUAL_ADD (1u << 2)
#define VIRGO_LOOP_SKIP_A (1u << 3)
#define VIRGO_LOOP_SKIP_B (1u << 4)
#define VIRGO_LOOP_SKIP_D (1u << 5)
#define VIRGO_LOOP_SKIP_EXECUTE (1u << 6)
#define VIRGO_LOOP_SKIP_C (1u << 7)
#define VIRGO_LOOP_NEXT_ACCUMULATOR (1u << 8)
#define VIRGO_LOOP_SPAD_ONLY (1u << 9)
#define VIRGO_LOOP_C_ROW_SHIFT 32

/* The values of LOOP_WS's rs2 that the CISC port and the authors' kernels use. */
#define VIRGO_LOOP_COMPUTE 0x2b8u		/* multiply A and B in the scratchpad */
#define VIRGO_LOOP_COMPUTE_TO_SPAD 0x238u	/* the same, and C to the scratchpad */
#define VIRGO_LOOP_STORE_SPAD 0x278u		/* C to the scratchpad */
#define VIRGO_LOOP_LOAD 0x2e0u			/* A and B to the scratchpad */
#define VIRGO_LOOP_STORE 0x78u			/* C to memory */

/* LOOP_CONV_WS, rs1 */
#define VIRGO_CONV_NO_BIAS (1u << 0)
#define VIRGO_CONV_ROTATED (1u << 1)		/* weights by 180 degrees */
#define VIRGO_CONV_OUTPUT_1203 (1u << 2)
#define VIRGO_CONV_WEIGHT_1203 (1u << 3)
#define VIRGO_CONV_WEIGHT_0132 (1u << 4)
#define VIRGO_CONV_INPUT_3120 (1u << 5)
#define VIRGO_CONV_DEPTHWISE (1u << 6)
#define VIRGO_CONV_PIXELS_SHIFT 8
#define VIRGO_CONV_B_SPAD_SHIFT 16
#define VIRGO_CONV_A_SPAD_SHIFT 18
/* LOOP_CONV_WS, rs2 */
#define VIRGO_CONV_NO_POOL (1u << 0)
#define VIRGO_CONV_DOWNSAMPLE (1u << 1)
#define VIRGO_CONV_INPUT_DILATED (1u << 2)
#define VIRGO_CONV_ACTIVATION_SHIFT 3

/* COUNTER, rs1. Event n is counter n - 1 of enum virgo_counter; event 0 counts nothing. */
#define VIRGO_COUNTER_RESET (1u << 0)
#define VIRGO_COUNTER_SNAPSHOT_RESET (1u << 1)
#define VIRGO_COUNTER_SNAPSHOT_TAKE (1u << 2)
#define VIRGO_COUNTER_CONFIGURE (1u << 3)
#define VIRGO_COUNTER_INDEX_SHIFT 4
#define VIRGO_COUNTER_EVENT_SHIFT 12
#define VIRGO_PERFORMANCE_COUNTERS 8

/* The CISC port: operation [4:0], unit [7:5], arguments [31:8]. */
#define VIRGO_CISC_UNIT_SHIFT 5
enum virgo_cisc_generation { VIRGO_CISC_PAPER, VIRGO_CISC_LATER, VIRGO_CISC_GENERATIONS };
#define VIRGO_CISC_DEPTH 4	/* words of the later generation that may be unfinished */

#endif
