/* Where a scanner stood: its quaternion as a matrix. */
#include <math.h>

#include "io/e57/e57.h"

bool mote_e57_pose_settle(e57_pose *pose) {
    static const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double *const q = pose->rotation, *const t = pose->translation;
    const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const bool rotates = q[1] != 0 || q[2] != 0 || q[3] != 0;
    pose->moves = rotates || t[0] != 0 || t[1] != 0 || t[2] != 0;
    memcpy(pose->matrix, identity, sizeof identity);
    if (!(norm > 0) || !isfinite(norm)) {
        pose->moves = t[0] != 0 || t[1] != 0 || t[2] != 0;
        return false;
    }
    if (!rotates) return true;
    const double w = q[0] / norm, x = q[1] / norm, y = q[2] / norm, z = q[3] / norm;
    const double matrix[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                 {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                 {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(pose->matrix, matrix, sizeof matrix);
    return true;
}
