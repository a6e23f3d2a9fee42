/* The names of attributes that formats share, whatever case and punctuation a file has. */
#include "io/io_internal.h"

// clang-format off
const char *const mote_standard_names[MOTE_STANDARD_NAMES] = {
    "x", "y", "z",
    "intensity", "return_number", "number_of_returns", "classification", "synthetic", "key_point", "withheld", "overlap",
    "scanner_channel", "scan_direction_flag", "edge_of_flight_line", "user_data", "scan_angle_rank", "scan_angle",
    "point_source_id", "gps_time", "red", "green", "blue", "alpha", "nir", "normal_x", "normal_y", "normal_z",
};
// clang-format on
