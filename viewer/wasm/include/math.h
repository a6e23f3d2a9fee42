/* What the rule for up uses of <math.h>: instructions of WebAssembly, or a comparison, instead of a C library. */
#ifndef MOTE_WASM_MATH_H
#define MOTE_WASM_MATH_H

#define INFINITY __builtin_inff()

#define fabs(x) __builtin_fabs(x)
#define sqrt(x) __builtin_sqrt(x)

/* Of a number and NaN: the number. */
static inline double fmin(double a, double b) { return a != a || b < a ? b : a; }
static inline double fmax(double a, double b) { return a != a || b > a ? b : a; }

#endif
