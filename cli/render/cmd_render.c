/* mote render: pictures of clouds. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "render/picture_plan.h"
#include "render/picture_run.h"

static const command_help help = {
    .synopsis = "mote render IN… -o OUT.png [options]",
    "Makes a picture of a cloud, without a window: on any machine, the same bytes for any number of threads and on "
    "the\n"
    "GPU. Inputs as for \"mote convert\"; several become one cloud. Without options all of it is seen from the upper\n"
    "left: landscapes as points with shaded edges, objects, and what has too few points to fill the picture, as a\n"
    "closed, lit surface.",
    "  mote render scan.las -o scan.png\n"
    "  mote render object.ply -o object.png --up y --background transparent\n"
    "  mote render scan.laz -o heights.png --color height --map terrain --legend\n"
    "  mote render scan.laz -o classes.png --color class --legend --view top\n"
    "  mote render scan.laz -o map.png --ortho --gsd 0.1 --scale-bar   a map, and map.pgw beside it\n"
    "  mote render room.ply -o inside.png --eye 1,1,1.7 --target 3,3,1 --fov 70\n"
    "  mote render scan.copc.laz -o scan.png --size 3840x2160   reads what a picture of that size shows\n"
    "  mote render object.ply -o turn.png --orbit 8 --size 640x360   turn_0000.png, turn_0001.png, …\n"
    "  mote render object.ply room.ply -o film.png --moving   each input is a picture, from one place\n"
    "  mote render scan.las -o scan.png --depth depth.npy --index-out index.npy\n",
    "OUT ends in .png (by libpng), .ppm, .npy (height, width, 4: red, green, blue, alpha) or .raw (these bytes "
    "alone).\n"
    "Depth: float32, in units of the input along the line of sight, infinity where nothing is; as PNG 65535 is the\n"
    "nearest and 1 the farthest of the picture, 0 nothing. Normals: float32, x y z of the world. Index: uint32, from "
    "0\n"
    "in the order of the input, 4294967295 where nothing is; of octrees in the order in which they were read.\n"
    "A sequence to standard output (-o -) is frames of .raw, one behind the other, for a program that makes films:\n"
    "  mote render scan.las -o - --orbit 120 | ffmpeg -f rawvideo -pix_fmt rgba\n"
    "       -s 1920x1080 -r 30 -i - turn.mp4\n"
    "--hash is a checksum of the pixels, whatever file they go to. How to choose: docs/render_command.md.\n",
};

int cmd_render(int argc, char **argv) {
    picture_options o = {.mode = PICTURE_AUTO, .samples = 1, .fov_deg = 40, .bits = 8, .edl = 1};
    const option rows[] = {
        {"mode", 0, OPTION_CHOICE, &o.mode, &o.mode_given, "points|average|surface",
         "the nearest point of each pixel; the mean of those of one\nsurface; a closed surface. Default by the data"},
        {"size", 0, OPTION_TEXT, &o.size, NULL, "WxH", "pixels; default 1920x1080"},
        {"view", 0, OPTION_CHOICE, &o.side, &o.side_given, "iso|top|bottom|front|back|left|right",
         "from where; default iso, from the upper left, and front of what a depth camera saw"},
        {"eye", 0, OPTION_TEXT, &o.eye, NULL, "X,Y,Z", "from this place"},
        {"target", 0, OPTION_TEXT, &o.target, NULL, "X,Y,Z", "what is in the middle; default the middle of all"},
        {"up", 0, OPTION_TEXT, &o.up, NULL, "x|y|z|X,Y,Z",
         "what is up in the world; default what the cloud tells, z\nwhere it tells nothing"},
        {"fit", 0, OPTION_FLAG, &o.fit, NULL, NULL, "with --eye: only its direction counts, and all is seen"},
        {"fov", 0, OPTION_REAL, &o.fov_deg, &o.fov_given, "DEG",
         "angle of view from the upper to the lower edge; default 40"},
        {"ortho", 0, OPTION_FLAG, &o.ortho, NULL, NULL, "parallel rays instead of perspective"},
        {"gsd", 0, OPTION_REAL, &o.gsd, &o.gsd_given, "G", "with --ortho: a pixel is so many units wide"},
        {"color", 0, OPTION_TEXT, &o.color, NULL, "NAME",
         "rgb, height, intensity, class, plane, normal, return,\ngps-time, none, or any attribute; "
         "default rgb where there is\ncolour, else intensity, else height of landscapes"},
        {"map", 0, OPTION_CHOICE, &o.map, &o.map_given, COLOR_MAPS, "colours of numbers; default spectrum"},
        {"range", 0, OPTION_TEXT, &o.range, NULL, "LOW:HIGH",
         "what its ends stand for: values, or shares of all points;\ndefault 1%:99%"},
        {"exposure", 0, OPTION_TEXT, &o.exposure, NULL, "X|auto",
         "the cloud's own colours X times brighter; default auto:\ndark ones so that they are seen, others as they "
         "are"},
        {"background", 0, OPTION_TEXT, &o.background, NULL, "COLOR",
         "#rrggbb, #rrggbbaa, white, black, grey, slate, sky, transparent"},
        {"samples", 0, OPTION_INT, &o.samples, &o.samples_given, "N", "N * N samples for each pixel, 1..4"},
        {"close", 0, OPTION_INT, &o.close, &o.close_given, "N",
         "holes up to N pixels wide, with a surface all around, are\nclosed, 0..64; default by the data"},
        {"point-size", 0, OPTION_REAL, &o.point_size, &o.point_size_given, "N",
         "points are discs N pixels wide, 0..32; default single\nsamples"},
        {"edl", 0, OPTION_REAL, &o.edl, &o.edl_given, "S",
         "strength of shaded edges; 0: none; default 0.7, of surfaces\n0.4"},
        {"show", 0, OPTION_CHOICE, &o.show, &o.show_given, "color|normals|depth|radius|iterations|normal-error",
         "false colours instead: of surfaces how they came about"},
        {"normals", 0, OPTION_CHOICE, &o.normals_of, &o.normals_given, "screen|cloud",
         "of surfaces: found in each picture, or those that the\ncloud has; default from neighbours in the cloud"},
        {"neighbors", 'k', OPTION_COUNT, &o.k, &o.k_given, "N",
         "of surfaces: a normal is from N points, 4..32; default as\nmany as the noise asks for, 16..432"},
        {"share", 0, OPTION_REAL, &o.share, &o.share_given, "N",
         "of surfaces: a splat covers the share of N points, 1..64;\ndefault 12"},
        {"tolerance", 0, OPTION_REAL, &o.tolerance, &o.tolerance_given, "S",
         "of surfaces and averages: what is nearer together than S\nspacings is one; default 2, more with noise"},
        {"keep-strays", 0, OPTION_FLAG, &o.keep_strays, NULL, NULL,
         "of surfaces: also points that stand alone are drawn"},
        {"legend", 0, OPTION_FLAG, &o.legend, NULL, NULL, "of colours of numbers and classes, in the picture"},
        {"scale-bar", 0, OPTION_FLAG, &o.scale_bar, NULL, NULL, "with --ortho: a length, in the picture"},
        {"depth", 0, OPTION_TEXT, &o.depth, NULL, "OUT", "also the depth of each pixel, as .npy or 16-bit .png"},
        {"normals-out", 0, OPTION_TEXT, &o.normals, NULL, "OUT.npy", "also the normal of each pixel"},
        {"index-out", 0, OPTION_TEXT, &o.index, NULL, "OUT.npy", "also which point each pixel shows"},
        {"tile", 0, OPTION_COUNT, &o.tile, &o.tile_given, "N", "in files of N x N pixels: OUT_COLUMN_ROW.png"},
        {"orbit", 0, OPTION_COUNT, &o.orbit, &o.orbit_given, "N", "N pictures, once around: OUT_0000.png, …"},
        {"cameras", 0, OPTION_TEXT, &o.cameras, NULL, "FILE",
         "a picture for each line \"eye X Y Z target X Y Z [up X Y Z]\n[fov DEG] [height H]\""},
        {"frames", 0, OPTION_COUNT, &o.frames, &o.frames_given, "N", "with --cameras: N pictures on a smooth path"},
        {"closed", 0, OPTION_FLAG, &o.closed, NULL, NULL, "with --cameras: back to the first one"},
        {"moving", 0, OPTION_FLAG, &o.moving, NULL, NULL,
         "each input is the cloud of a picture, not a part of one\ncloud: OUT_0000.png, …"},
        {"wave", 0, OPTION_COUNT, &o.wave, &o.wave_given, "N", "N pictures while a wave runs through the points once"},
        {"whole", 0, OPTION_FLAG, &o.whole, NULL, NULL, "of octrees, too, read every point, not what is seen"},
        {"bits", 0, OPTION_INT, &o.bits, &o.bits_given, "8|16", "of a colour channel; default 8"},
        {"stats", 0, OPTION_FLAG, &o.stats, NULL, NULL, "print structures with bytes, stages with seconds"},
        {0},
    };
    common_options common;
    arguments words;
    io_paths paths;
    picture_plan plan;
    const parse_result parsed =
        options_parse(&help, rows, COMMON_RUN | COMMON_JSON | COMMON_HASH | COMMON_OUTPUT | COMMON_WHERE | COMMON_CRS,
                      &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    int code = io_paths_take("render", &common, &words, false, &paths);
    if (code == EXIT_DONE) code = picture_plan_make(&o, &paths, &plan);
    if (code != EXIT_DONE) return code;
    session s;
    code = session_open(&s, "render", &common);
    if (code == EXIT_DONE) code = session_hold(&s);
    if (code == EXIT_DONE) note_same_inputs(&s, &paths);
    if (code == EXIT_DONE) code = picture_run(&s, &plan);
    return session_close(&s, code);
}
