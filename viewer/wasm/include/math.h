/* What is used of <math.h>: instructions of WebAssembly, or a comparison, instead of a C library; powers are the
 * page's. */
#ifndef MOTE_WASM_MATH_H
#define MOTE_WASM_MATH_H

#define INFINITY __builtin_inff()
#define NAN      __builtin_nanf("")

#define fabs(x)     __builtin_fabs(x)
#define sqrt(x)     __builtin_sqrt(x)
#define isnan(x)    __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)

double pow(double base, double exponent);
double ldexp(double value, int power);

/* Of a number and NaN they give the number. */
static inline double fmin(double a, double b) { return a != a || b < a ? b : a; }
static inline double fmax(double a, double b) { return a != a || b > a ? b : a; }

#endif
