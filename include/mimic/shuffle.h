/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MIMIC_SHUFFLE(a, b, numbers of lanes...): a vector of those lanes of two vectors of 4-byte elements. gcc has
 * __builtin_shufflevector() since 12.
 */
#ifndef MIMIC_SHUFFLE_H
#define MIMIC_SHUFFLE_H

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define MIMIC_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif

#ifndef MIMIC_SHUFFLE
#define MIMIC_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (int __attribute__((vector_size(sizeof(a))))){ __VA_ARGS__ })
#endif

#endif
