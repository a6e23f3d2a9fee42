/* See crs_mercator.h. */
#include "io/crs/crs_mercator.h"

#include <math.h>

#define XI_MAX   1.5   /* 86 degrees of latitude */
#define BETA_MAX 0.3   /* tanh of eta: 17 degrees of longitude at the equator */
#define ETA_MAX  0.309 /* artanh of it */
#define SAME_N   1e-9  /* GRS 80 and WGS 84 differ by 8e-12 */
#define SAME_A   1e-6  /* metres */
#define INLINE   static inline __attribute__((always_inline))

/* ---- what is the same for all points */

static double polynomial(const double *terms, int count, double n) {
    double sum = 0;
    for (int i = count - 1; i >= 0; i--) sum = sum * n + terms[i];
    return sum;
}

/* Coefficients of Krueger's series: row j has those of n^(j+1) on. */
static void make_coefficients(const double rows[MERCATOR_ORDER][MERCATOR_ORDER], double n, double *out) {
    double power = 1;
    for (int j = 0; j < MERCATOR_ORDER; j++) {
        power *= n;
        out[j] = power * polynomial(rows[j], MERCATOR_ORDER - j, n);
    }
}

static const double alpha_rows[MERCATOR_ORDER][MERCATOR_ORDER] = {
    {1.0 / 2, -2.0 / 3, 5.0 / 16, 41.0 / 180, -127.0 / 288, 7891.0 / 37800},
    {13.0 / 48, -3.0 / 5, 557.0 / 1440, 281.0 / 630, -1983433.0 / 1935360},
    {61.0 / 240, -103.0 / 140, 15061.0 / 26880, 167603.0 / 181440},
    {49561.0 / 161280, -179.0 / 168, 6601661.0 / 7257600},
    {34729.0 / 80640, -3418889.0 / 1995840},
    {212378941.0 / 319334400}};

static const double beta_rows[MERCATOR_ORDER][MERCATOR_ORDER] = {
    {1.0 / 2, -2.0 / 3, 37.0 / 96, -1.0 / 360, -81.0 / 512, 96199.0 / 604800},
    {1.0 / 48, 1.0 / 15, -437.0 / 1440, 46.0 / 105, -1118711.0 / 3870720},
    {17.0 / 480, -37.0 / 840, -209.0 / 4480, 5569.0 / 90720},
    {4397.0 / 161280, -11.0 / 504, -830251.0 / 7257600},
    {4583.0 / 161280, -108847.0 / 3991680},
    {20648693.0 / 638668800}};

/* The rectifying latitude: xi on the central meridian. */
static double rectifying(const mercator_series *series, double flattening, double latitude) {
    const double e = sqrt(flattening * (2 - flattening)), s = sin(latitude);
    const double conformal = atan(sinh(atanh(s) - e * atanh(e * s)));
    double xi = conformal;
    for (int j = 0; j < MERCATOR_ORDER; j++) xi += series->alpha[j] * sin(2 * (j + 1) * conformal);
    return xi;
}

static void make_series(const mercator_projection *p, mercator_series *series) {
    const double n = p->flattening / (2 - p->flattening), n2 = n * n;
    series->n = n;
    series->radius = p->scale * p->a / (1 + n) * (1 + n2 / 4 + n2 * n2 / 64 + n2 * n2 * n2 / 256) / p->unit;
    make_coefficients(alpha_rows, n, series->alpha);
    make_coefficients(beta_rows, n, series->beta);
    series->easting = p->easting;
    series->northing = p->northing;
    if (p->latitude != 0) series->northing -= series->radius * rectifying(series, p->flattening, p->latitude);
}

bool mercator_change_make(const mercator_projection *from, const mercator_projection *to, mercator_change *change) {
    make_series(from, &change->from);
    make_series(to, &change->to);
    const double step = to->flattening / (2 - to->flattening) - change->from.n;
    if (!(fabs(step) < SAME_N) || !(fabs(from->a - to->a) < SAME_A)) return false;
    change->flattening_step = 4 * step;
    change->cos_turn = cos(from->meridian - to->meridian);
    change->sin_turn = sin(from->meridian - to->meridian);
    return change->cos_turn > 0;
}

/* ---- functions of one number, by polynomials that are exact to the last bits where they are used */

/* The larger one; the second where one is no number, which the last comparison then refuses. */
INLINE double larger(double a, double b) { return a > b ? a : b; }

/* Sine and cosine up to XI_MAX, by those of half the angle. */
INLINE void sine_cosine(double x, double *sine, double *cosine) {
    const double h = 0.5 * x, q = h * h;
    double s = 1.0 / 355687428096000.0, c = 1.0 / 20922789888000.0;
    s = s * q - 1.0 / 1307674368000.0;
    s = s * q + 1.0 / 6227020800.0;
    s = s * q - 1.0 / 39916800.0;
    s = s * q + 1.0 / 362880.0;
    s = s * q - 1.0 / 5040.0;
    s = s * q + 1.0 / 120.0;
    s = s * q - 1.0 / 6.0;
    s = h + h * (s * q);
    c = c * q - 1.0 / 87178291200.0;
    c = c * q + 1.0 / 479001600.0;
    c = c * q - 1.0 / 3628800.0;
    c = c * q + 1.0 / 40320.0;
    c = c * q - 1.0 / 720.0;
    c = c * q + 1.0 / 24.0;
    c = 1 - q * (0.5 - c * q);
    *sine = 2 * s * c;
    *cosine = 1 - 2 * s * s;
}

/* Hyperbolic ones up to ETA_MAX. */
INLINE void hyperbolic(double x, double *sine, double *cosine) {
    const double q = x * x;
    double s = 1.0 / 6227020800.0, c = 1.0 / 479001600.0;
    s = s * q + 1.0 / 39916800.0;
    s = s * q + 1.0 / 362880.0;
    s = s * q + 1.0 / 5040.0;
    s = s * q + 1.0 / 120.0;
    s = s * q + 1.0 / 6.0;
    c = c * q + 1.0 / 3628800.0;
    c = c * q + 1.0 / 40320.0;
    c = c * q + 1.0 / 720.0;
    c = c * q + 1.0 / 24.0;
    *sine = x + x * (s * q);
    *cosine = 1 + q * (0.5 + c * q);
}

/* Arc tangent up to tan(pi / 8). Source: Moshier, Cephes, atan.c */
INLINE double arc_tangent(double x) {
    const double q = x * x;
    double p = -8.750608600031904122785e-1, d = q + 2.485846490142306297962e1;
    p = p * q - 1.615753718733365076637e1;
    p = p * q - 7.500855792314704667340e1;
    p = p * q - 1.228866684490136173410e2;
    p = p * q - 6.485021904942025371773e1;
    d = d * q + 1.650270098316988542046e2;
    d = d * q + 4.328810604912902668951e2;
    d = d * q + 4.853903996359136964868e2;
    d = d * q + 1.945506571482613964425e2;
    return x + x * (q * p / d);
}

/* Up to BETA_MAX: x + x^3 / 3 + … + x^31 / 31. */
INLINE double arc_hyperbolic_tangent(double x) {
    const double q = x * x;
    double sum = 1.0 / 31;
    for (int k = 29; k >= 3; k -= 2) sum = sum * q + 1.0 / k;
    return x + x * (q * sum);
}

/* The sum over j of terms[j] · sin(2 j zeta), zeta = xi + i eta, of sine and cosine of 2 xi and 2 eta (Clenshaw). */
INLINE void sum_series(const double terms[MERCATOR_ORDER], double sine, double cosine, double sinh2, double cosh2,
                       double *re, double *im) {
    const double wr = 2 * cosine * cosh2, wi = -2 * sine * sinh2;
    double r1 = terms[MERCATOR_ORDER - 1], i1 = 0, r2 = 0, i2 = 0;
    for (int j = MERCATOR_ORDER - 2; j >= 0; j--) {
        const double r = wr * r1 - wi * i1 - r2 + terms[j], i = wr * i1 + wi * r1 - i2;
        r2 = r1, i2 = i1;
        r1 = r, i1 = i;
    }
    const double sr = sine * cosh2, si = cosine * sinh2;
    *re = sr * r1 - si * i1;
    *im = sr * i1 + si * r1;
}

/* ---- points */

/* xi and eta of the plane to the vector (a, b, s) of the sphere: towards the central meridian on the equator, east of
   it, and the pole. */
INLINE void to_sphere(const mercator_series *from, double xi, double eta, double *a, double *b, double *s) {
    double sx, cx, sh, ch, re, im;
    sine_cosine(xi, &sx, &cx);
    hyperbolic(eta, &sh, &ch);
    sum_series(from->beta, 2 * sx * cx, 1 - 2 * sx * sx, 2 * sh * ch, 1 + 2 * sh * sh, &re, &im);
    /* xi - re and eta - im: both steps are below 0.002. */
    const double p = re * re, q = im * im;
    const double sine = re * (1 - p * (1.0 / 6 - p * (1.0 / 120))), cosine = 1 - p * (0.5 - p * (1.0 / 24));
    const double sineh = im * (1 + q * (1.0 / 6 + q * (1.0 / 120))), cosineh = 1 + q * (0.5 + q * (1.0 / 24));
    const double inverse = 1 / (ch * cosineh - sh * sineh);
    *a = (cx * cosine + sx * sine) * inverse;
    *b = (sh * cosineh - ch * sineh) * inverse;
    *s = (sx * cosine - cx * sine) * inverse;
}

INLINE void from_sphere(const mercator_series *to, double a, double b, double s, double *xi, double *eta) {
    double re, im;
    const double square = s * s + a * a, root = sqrt(square), inverse = 1 / square;
    sum_series(to->alpha, 2 * s * a * inverse, (a * a - s * s) * inverse, 2 * b * inverse, (1 + b * b) * inverse, &re,
               &im);
    const double half = s / (root + a); /* the tangent of half of xi, and next that of a quarter */
    *xi = 4 * arc_tangent(half / (1 + sqrt(1 + half * half))) + re;
    *eta = arc_hyperbolic_tangent(b) + im;
}

void mercator_change_run(const mercator_change *change, uint32_t count, double *restrict x, double *restrict y,
                         bool *restrict valid) {
    const mercator_series from = change->from, to = change->to;
    const double cos_turn = change->cos_turn, sin_turn = change->sin_turn, step = change->flattening_step;
    double farthest[MERCATOR_POINTS];
    for (uint32_t i = 0; i < count; i++) {
        double a, b, s, xi = (y[i] - from.northing) / from.radius, eta = (x[i] - from.easting) / from.radius;
        const double far = larger(fabs(xi) * (1 / XI_MAX), fabs(eta) * (1 / ETA_MAX));
        to_sphere(&from, xi, eta, &a, &b, &s);
        /* The other ellipsoid's conformal latitude. */
        const double pole = s * s;
        a *= 1 + step * pole;
        b *= 1 + step * pole;
        s -= step * s * (1 - pole);
        const double turned_a = a * cos_turn - b * sin_turn, turned_b = a * sin_turn + b * cos_turn;
        from_sphere(&to, turned_a, turned_b, s, &xi, &eta);
        x[i] = eta * to.radius + to.easting;
        y[i] = xi * to.radius + to.northing;
        farthest[i] = larger(far, larger(fabs(turned_b) * (1 / BETA_MAX), fabs(xi) * (1 / XI_MAX)));
    }
    for (uint32_t i = 0; i < count; i++) valid[i] = farthest[i] <= 1;
}
