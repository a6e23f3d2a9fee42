"""Made of include/mote/ by python/declarations.py, and not by hand: what the public headers declare."""
from ctypes import (CFUNCTYPE, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int8,
                    c_int16, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64,
                    c_void_p)

MOTE_MAX_COORDINATE = 3.1217485503159922e+144
MOTE_MIN_COORDINATE = 3.2033329522929615e-145
MOTE_KNN_MAX_K = 1024
MOTE_KNN_MAX_LAMBDA = 16
MOTE_KNN_MAX_COMPRESSION = 1000000.0
MOTE_ORDER_BITS = 21
MOTE_ALL_FEATURES = 4294967295
MOTE_NORMALS_MAX_GRAPH_K = 64
MOTE_PARTS_MAX = 1000
MOTE_PARTS_WORKERS_MAX = 64
MOTE_RENDER_MAX_COORDINATE = 1.152921504606847e+18
MOTE_RENDER_MAX_SIZE = 32768
MOTE_RENDER_MAX_SAMPLES = 4
MOTE_RENDER_MAX_LIGHTS = 4
MOTE_RENDER_MAX_LAYERS = 4
MOTE_RENDER_MAX_K = 32
MOTE_RENDER_MAX_POINT = 32.0
MOTE_RENDER_MAX_EXPOSURE = 65535.0
MOTE_RENDER_NO_POINT = 4294967295
MOTE_PHOTON_MAX_K = 1024
MOTE_PHOTON_MAX_PHOTONS = 1000000000
MOTE_PHOTON_MAX_SAMPLES = 256
MOTE_PHOTON_MAX_PASSES = 1000000
MOTE_SCENE_MAX_SIZE = 100000000
MOTE_TEXTURE_MAX_SIDE = 32768
MOTE_SCENE_MAX_TEXELS = 1073741824
MOTE_PLANES_MAX = 4096
MOTE_VERSION_MAJOR = 0
MOTE_VERSION_MINOR = 1
MOTE_VERSION_PATCH = 0
MOTE_VERSION_NUMBER = 100

# What a caller writes for the members of each enum.
ENUMS = {
    'mote_status': {'ok': 0, 'error_argument': 1, 'error_data': 2, 'error_memory': 3, 'error_io': 4, 'error_disk': 5, 'error_unsupported': 6, 'error_device': 7, 'cancelled': 8, 'error_closed': 9, 'error_changed': 10},
    'mote_type': {'int8': 0, 'uint8': 1, 'int16': 2, 'uint16': 3, 'int32': 4, 'uint32': 5, 'int64': 6, 'uint64': 7, 'float32': 8, 'float64': 9},
    'mote_log_level': {'warning': 0, 'info': 1, 'note': 2},
    'mote_device_kind': {'auto': 0, 'cpu': 1, 'cuda': 2},
    'mote_knn_method': {'grid': 0, 'shifted': 1, 'brute': 2},
    'mote_lod_scheme': {'additive': 0, 'replacing': 1},
    'mote_lod_sampling': {'random': 0, 'first': 1, 'poisson': 2},
    'mote_lod_filter': {'none': 0, 'cell': 1, 'neighbors': 2, 'gaussian': 3},
    'mote_potree_encoding': {'default': 0, 'brotli': 1},
    'mote_shape_kind': {'polygon': 0, 'line': 1},
    'mote_volume_base': {'plane': 0, 'lowest': 1, 'level': 2},
    'mote_normals_orient': {'up': 0, 'viewpoint': 1, 'propagate': 2, 'none': 3},
    'mote_outliers_method': {'statistical': 0, 'radius': 1},
    'mote_projection': {'perspective': 0, 'orthographic': 1},
    'mote_render_mode': {'points': 0, 'average': 1, 'surface': 2},
    'mote_render_normals': {'screen': 0, 'given': 1},
    'mote_render_show': {'color': 0, 'normals': 1, 'depth': 2, 'radius': 3, 'iterations': 4, 'normal_error': 5},
    'mote_material_kind': {'diffuse': 0, 'mirror': 1, 'glass': 2, 'unlit': 3},
    'mote_material_alpha': {'opaque': 0, 'mask': 1, 'blend': 2},
    'mote_texture_wrap': {'repeat': 0, 'clamp': 1, 'mirror': 2},
    'mote_light_kind': {'point': 0, 'spot': 1, 'directional': 2, 'sky': 3},
    'mote_photon_filter': {'none': 0, 'cone': 1, 'epanechnikov': 2},
    'mote_photon_area': {'surface': 0, 'disc': 1},
    'mote_photon_method': {'full': 0, 'map': 1, 'direct': 2, 'shadow': 3, 'path': 4},
    'mote_planes_directions': {'ball': 0, 'grid': 1},
    'mote_planes_votes': {'all': 0, 'normals': 1},
    'mote_planes_reason': {'few_points': 0, 'scattered': 1, 'thickens': 2, 'thick': 3, 'dense_side': 4, 'no_peak': 5, 'structure': 6, 'unlike': 7, 'explained': 8, 'unsupported': 9},
}
MOTE_OK = 0
MOTE_ERROR_ARGUMENT = 1
MOTE_ERROR_DATA = 2
MOTE_ERROR_MEMORY = 3
MOTE_ERROR_IO = 4
MOTE_ERROR_DISK = 5
MOTE_ERROR_UNSUPPORTED = 6
MOTE_ERROR_DEVICE = 7
MOTE_CANCELLED = 8
MOTE_ERROR_CLOSED = 9
MOTE_ERROR_CHANGED = 10
MOTE_INT8 = 0
MOTE_UINT8 = 1
MOTE_INT16 = 2
MOTE_UINT16 = 3
MOTE_INT32 = 4
MOTE_UINT32 = 5
MOTE_INT64 = 6
MOTE_UINT64 = 7
MOTE_FLOAT32 = 8
MOTE_FLOAT64 = 9
MOTE_LOG_WARNING = 0
MOTE_LOG_INFO = 1
MOTE_LOG_NOTE = 2
MOTE_DEVICE_AUTO = 0
MOTE_DEVICE_CPU = 1
MOTE_DEVICE_CUDA = 2
MOTE_KNN_GRID = 0
MOTE_KNN_SHIFTED = 1
MOTE_KNN_BRUTE = 2
MOTE_LOD_ADDITIVE = 0
MOTE_LOD_REPLACING = 1
MOTE_LOD_RANDOM = 0
MOTE_LOD_FIRST = 1
MOTE_LOD_POISSON = 2
MOTE_LOD_FILTER_NONE = 0
MOTE_LOD_FILTER_CELL = 1
MOTE_LOD_FILTER_NEIGHBORS = 2
MOTE_LOD_FILTER_GAUSSIAN = 3
MOTE_POTREE_DEFAULT = 0
MOTE_POTREE_BROTLI = 1
MOTE_SHAPE_POLYGON = 0
MOTE_SHAPE_LINE = 1
MOTE_VOLUME_PLANE = 0
MOTE_VOLUME_LOWEST = 1
MOTE_VOLUME_LEVEL = 2
MOTE_ORIENT_UP = 0
MOTE_ORIENT_VIEWPOINT = 1
MOTE_ORIENT_PROPAGATE = 2
MOTE_ORIENT_NONE = 3
MOTE_OUTLIERS_STATISTICAL = 0
MOTE_OUTLIERS_RADIUS = 1
MOTE_PERSPECTIVE = 0
MOTE_ORTHOGRAPHIC = 1
MOTE_RENDER_POINTS = 0
MOTE_RENDER_AVERAGE = 1
MOTE_RENDER_SURFACE = 2
MOTE_RENDER_NORMALS_SCREEN = 0
MOTE_RENDER_NORMALS_GIVEN = 1
MOTE_RENDER_SHOW_COLOR = 0
MOTE_RENDER_SHOW_NORMALS = 1
MOTE_RENDER_SHOW_DEPTH = 2
MOTE_RENDER_SHOW_RADIUS = 3
MOTE_RENDER_SHOW_ITERATIONS = 4
MOTE_RENDER_SHOW_NORMAL_ERROR = 5
MOTE_MATERIAL_DIFFUSE = 0
MOTE_MATERIAL_MIRROR = 1
MOTE_MATERIAL_GLASS = 2
MOTE_MATERIAL_UNLIT = 3
MOTE_ALPHA_OPAQUE = 0
MOTE_ALPHA_MASK = 1
MOTE_ALPHA_BLEND = 2
MOTE_TEXTURE_REPEAT = 0
MOTE_TEXTURE_CLAMP = 1
MOTE_TEXTURE_MIRROR = 2
MOTE_LIGHT_POINT = 0
MOTE_LIGHT_SPOT = 1
MOTE_LIGHT_DIRECTIONAL = 2
MOTE_LIGHT_SKY = 3
MOTE_PHOTON_FILTER_NONE = 0
MOTE_PHOTON_FILTER_CONE = 1
MOTE_PHOTON_FILTER_EPANECHNIKOV = 2
MOTE_PHOTON_AREA_SURFACE = 0
MOTE_PHOTON_AREA_DISC = 1
MOTE_PHOTON_FULL = 0
MOTE_PHOTON_MAP = 1
MOTE_PHOTON_DIRECT = 2
MOTE_PHOTON_SHADOW = 3
MOTE_PHOTON_PATH = 4
MOTE_PLANES_BALL = 0
MOTE_PLANES_GRID = 1
MOTE_PLANES_VOTE_ALL = 0
MOTE_PLANES_VOTE_NORMALS = 1
MOTE_PLANES_FEW_POINTS = 0
MOTE_PLANES_SCATTERED = 1
MOTE_PLANES_THICKENS = 2
MOTE_PLANES_THICK = 3
MOTE_PLANES_DENSE_SIDE = 4
MOTE_PLANES_NO_PEAK = 5
MOTE_PLANES_STRUCTURE = 6
MOTE_PLANES_UNLIKE = 7
MOTE_PLANES_EXPLAINED = 8
MOTE_PLANES_UNSUPPORTED = 9
mote_progress_fn = CFUNCTYPE(c_bool, c_void_p, c_double, c_char_p)
mote_log_fn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
mote_input_failed_fn = CFUNCTYPE(c_bool, c_void_p, c_char_p, c_int, c_char_p)
mote_input_fn = CFUNCTYPE(c_bool, c_void_p, c_char_p)


class mote_allocator(Structure):
    _fields_ = [
        ('user', c_void_p),
        ('allocate', CFUNCTYPE(c_void_p, c_void_p, c_size_t)),
        ('release', CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)),
    ]


class mote_device_info(Structure):
    _fields_ = [
        ('kind', c_int),
        ('index', c_int),
        ('usable', c_bool),
        ('memory_bytes', c_uint64),
        ('name', c_char * 128),
        ('reason', c_char * 160),
        ('reserved', c_uint64 * 4),
    ]


class mote_context_params(Structure):
    _fields_ = [
        ('device', c_int),
        ('device_index', c_int),
        ('threads', c_int),
        ('memory_limit_bytes', c_uint64),
        ('allocator', mote_allocator),
        ('progress', mote_progress_fn),
        ('progress_user', c_void_p),
        ('log', mote_log_fn),
        ('log_user', c_void_p),
        ('stream', c_void_p),
        ('device_stages', c_bool),
        ('gpus', c_uint64),
        ('device_memory_limit_bytes', c_uint64),
        ('reserved', c_uint64 * 6),
    ]


class mote_usage(Structure):
    _fields_ = [
        ('name', c_char_p),
        ('seconds', c_double),
        ('peak_bytes', c_uint64),
        ('on_device', c_bool),
        ('reserved', c_uint64 * 4),
    ]


class mote_column(Structure):
    _fields_ = [
        ('name', c_char_p),
        ('unit', c_char_p),
        ('description', c_char_p),
        ('data', c_void_p),
        ('stride_bytes', c_uint32),
        ('type', c_int),
        ('bit_shift', c_uint8),
        ('bit_count', c_uint8),
        ('scale', c_double),
        ('offset', c_double),
    ]


class mote_column_spec(Structure):
    _fields_ = [
        ('name', c_char_p),
        ('type', c_int),
        ('scale', c_double),
        ('offset', c_double),
    ]


class mote_record(Structure):
    _fields_ = [
        ('user_id', c_char * 17),
        ('description', c_char * 33),
        ('record_id', c_uint16),
        ('extended', c_bool),
        ('size_bytes', c_uint64),
        ('data', c_void_p),
    ]


class mote_column_limits(Structure):
    _fields_ = [
        ('has_no_data', c_bool),
        ('has_min', c_bool),
        ('has_max', c_bool),
        ('no_data', c_uint64),
        ('min', c_uint64),
        ('max', c_uint64),
        ('reserved', c_uint64 * 4),
    ]


class mote_las_facts(Structure):
    _fields_ = [
        ('version_minor', c_int),
        ('format', c_int),
        ('creation_year', c_int),
        ('creation_day', c_int),
        ('system_id', c_char_p),
        ('software', c_char_p),
        ('compressor', c_int),
        ('items', c_char_p),
        ('chunk_points', c_uint64),
        ('chunk_count', c_uint64),
        ('compressed_bytes', c_uint64),
        ('reserved', c_uint64 * 8),
    ]


class mote_box(Structure):
    _fields_ = [
        ('min', c_double * 3),
        ('max', c_double * 3),
    ]


class mote_strays(Structure):
    _fields_ = [
        ('count', c_uint64),
        ('farthest', c_uint64),
        ('distance', c_double),
        ('rest', mote_box),
        ('reserved', c_uint64 * 8),
    ]


class mote_crs_facts(Structure):
    _fields_ = [
        ('name', c_char * 160),
        ('code', c_uint32),
        ('horizontal_code', c_uint32),
        ('vertical_code', c_uint32),
        ('reserved', c_uint64 * 4),
    ]


class mote_transform_params(Structure):
    _fields_ = [
        ('ballpark', c_bool),
        ('reserved', c_uint64 * 4),
    ]


class mote_e57_scan(Structure):
    _fields_ = [
        ('name', c_char * 128),
        ('sensor', c_char * 128),
        ('fields', c_char * 1024),
        ('records', c_uint64),
        ('is_spherical', c_bool),
        ('has_pose', c_bool),
        ('is_applied', c_bool),
        ('position', c_double * 3),
        ('rotation', c_double * 4),
        ('reserved', c_uint64 * 8),
    ]


class mote_e57_facts(Structure):
    _fields_ = [
        ('library', c_char * 128),
        ('scan_count', c_uint32),
        ('image_count', c_uint64),
        ('reserved', c_uint64 * 8),
    ]


class mote_gen_params(Structure):
    _fields_ = [
        ('seed', c_uint64),
        ('noise_m', c_double),
        ('outlier_ratio', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_read_sample(Structure):
    _fields_ = [
        ('points', c_uint64),
        ('box', mote_box),
        ('failed', mote_input_failed_fn),
        ('failed_user', c_void_p),
        ('reserved', c_uint64 * 4),
    ]


class mote_read_params(Structure):
    _fields_ = [
        ('level', c_int),
        ('columns', c_char_p),
        ('separator', c_char),
        ('select', c_char_p),
        ('bounds', c_void_p),
        ('resolution', c_double),
        ('prepare_order', c_bool),
        ('to_device', c_bool),
        ('salvage', c_bool),
        ('keep_poses', c_bool),
        ('device_point_bytes', c_uint32),
        ('known', CFUNCTYPE(None, c_void_p, c_void_p)),
        ('known_user', c_void_p),
        ('where', c_char_p),
        ('set', c_char_p),
        ('changed', c_void_p),
        ('crs', c_char_p),
        ('to_crs', c_char_p),
        ('crs_ballpark', c_bool),
        ('bounds_in_to_crs', c_bool),
        ('where_in_to_crs', c_bool),
        ('sample', c_void_p),
        ('reserved', c_uint64 * 1),
    ]


class mote_unit(Structure):
    _fields_ = [
        ('name', c_char * 64),
        ('symbol', c_char * 16),
        ('metres', c_double),
        ('radians', c_double),
    ]


class mote_units(Structure):
    _fields_ = [
        ('horizontal', mote_unit),
        ('vertical', mote_unit),
    ]


class mote_write_params(Structure):
    _fields_ = [
        ('columns', c_char_p),
        ('text', c_bool),
        ('big_endian', c_bool),
        ('las_version_minor', c_int),
        ('las_format', c_int),
        ('compress', c_bool),
        ('by_source', c_bool),
        ('format', c_char_p),
        ('fewer', c_bool),
        ('reserved', c_uint64 * 6),
    ]


class mote_knn_params(Structure):
    _fields_ = [
        ('method', c_int),
        ('k', c_uint32),
        ('radius', c_double),
        ('exclude_self', c_bool),
        ('approximate', c_bool),
        ('compression', c_double),
        ('lambda', c_uint32),
        ('buckets', c_bool),
        ('reserved', c_uint64 * 8),
    ]


class mote_knn_result(Structure):
    _fields_ = [
        ('index32', c_void_p),
        ('index64', c_void_p),
        ('distance2', c_void_p),
        ('distance2_wide', c_void_p),
        ('count', c_void_p),
        ('on_device', c_bool),
        ('skipped', c_uint64),
        ('reserved', c_uint64 * 8),
    ]


class mote_knn_lists(Structure):
    _fields_ = [
        ('query_count', c_uint64),
        ('first', c_void_p),
        ('index', c_void_p),
        ('distance2', c_void_p),
        ('skipped', c_uint64),
    ]


class mote_lattice(Structure):
    _fields_ = [
        ('scale', c_double * 3),
        ('offset', c_double * 3),
        ('min', c_int64 * 3),
        ('side', c_uint64 * 3),
        ('extent', c_uint64 * 3),
        ('source_min', c_int64 * 3),
        ('shift', c_uint32),
        ('integer', c_bool),
        ('exact', c_bool),
    ]


class mote_lod_params(Structure):
    _fields_ = [
        ('scheme', c_int),
        ('sampling', c_int),
        ('filter', c_int),
        ('grid', c_uint32),
        ('merge_points', c_uint32),
        ('max_node_points', c_uint64),
        ('seed', c_uint64),
        ('on_device', c_bool),
        ('reserved', c_uint64 * 8),
    ]


class mote_lod_node(Structure):
    _fields_ = [
        ('prefix', c_uint64),
        ('first', c_uint64),
        ('total', c_uint64),
        ('point_count', c_uint64),
        ('parent', c_uint32),
        ('first_child', c_uint32),
        ('child_mask', c_uint8),
        ('level', c_uint8),
    ]


class mote_lod_device(Structure):
    _fields_ = [
        ('order', c_void_p),
        ('level', c_void_p),
        ('count', c_uint64),
        ('items', c_void_p),
        ('item_count', c_uint64),
        ('reserved', c_uint64 * 8),
    ]


class mote_potree_origin(Structure):
    _fields_ = [
        ('inputs', c_void_p),
        ('input_count', c_uint32),
        ('reading', c_void_p),
        ('since_ns', c_uint64),
        ('known', c_void_p),
        ('reserved', c_uint64 * 3),
    ]


class mote_potree_params(Structure):
    _fields_ = [
        ('encoding', c_int),
        ('brotli_quality', c_int),
        ('name', c_char_p),
        ('description', c_char_p),
        ('attributes_left_out', c_void_p),
        ('begun', c_void_p),
        ('dry_run', c_bool),
        ('origin', c_void_p),
        ('whole_box', c_void_p),
        ('whole_points', c_uint64),
        ('reserved', c_uint64 * 4),
    ]


class mote_potree_report(Structure):
    _fields_ = [
        ('points', c_uint64),
        ('octree_bytes', c_uint64),
        ('hierarchy_bytes', c_uint64),
        ('hash', c_uint64),
        ('seconds', c_double),
        ('metadata_bytes', c_uint64),
        ('reserved', c_uint64 * 7),
    ]


class mote_copc_params(Structure):
    _fields_ = [
        ('columns', c_char_p),
        ('dry_run', c_bool),
        ('reserved', c_uint64 * 7),
    ]


class mote_copc_report(Structure):
    _fields_ = [
        ('points', c_uint64),
        ('nodes', c_uint64),
        ('file_bytes', c_uint64),
        ('hierarchy_bytes', c_uint64),
        ('hash', c_uint64),
        ('seconds', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_copc_level(Structure):
    _fields_ = [
        ('nodes', c_uint64),
        ('points', c_uint64),
        ('spacing', c_double),
        ('reserved', c_uint64 * 4),
    ]


class mote_copc_facts(Structure):
    _fields_ = [
        ('is_copc', c_bool),
        ('level_count', c_uint32),
        ('nodes', c_uint64),
        ('points', c_uint64),
        ('pages', c_uint64),
        ('spacing', c_double),
        ('center', c_double * 3),
        ('halfsize', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_potree_level(Structure):
    _fields_ = [
        ('nodes', c_uint64),
        ('leaves', c_uint64),
        ('points', c_uint64),
        ('reserved', c_uint64 * 4),
    ]


class mote_potree_facts(Structure):
    _fields_ = [
        ('level_count', c_uint32),
        ('nodes', c_uint64),
        ('points', c_uint64),
        ('brotli', c_bool),
        ('replacing', c_bool),
        ('reserved', c_uint64 * 8),
    ]


class mote_shape(Structure):
    _fields_ = [
        ('kind', c_int),
        ('feature', c_uint32),
        ('name', c_char_p),
        ('part_count', c_uint32),
        ('part_starts', c_void_p),
        ('positions', c_void_p),
    ]


class mote_volume_params(Structure):
    _fields_ = [
        ('base', c_int),
        ('level', c_double),
        ('units', mote_units),
        ('reserved', c_uint64 * 8),
    ]


class mote_volume(Structure):
    _fields_ = [
        ('above', c_double),
        ('below', c_double),
        ('area', c_double),
        ('points', c_uint64),
        ('empty', c_double),
        ('cell', c_double),
        ('level', c_double),
        ('draped', c_uint64),
        ('reserved', c_uint64 * 8),
    ]


class mote_area(Structure):
    _fields_ = [
        ('area', c_double),
        ('surface', c_double),
        ('around', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_profile(Structure):
    _fields_ = [
        ('count', c_uint64),
        ('indices', c_void_p),
        ('along', c_void_p),
        ('aside', c_void_p),
        ('height', c_void_p),
        ('length', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_normals_params(Structure):
    _fields_ = [
        ('k', c_uint32),
        ('radius', c_double),
        ('orient', c_int),
        ('viewpoint', c_double * 3),
        ('graph_k', c_uint32),
        ('reserved', c_uint64 * 8),
    ]


class mote_normals_result(Structure):
    _fields_ = [
        ('normal_x', c_void_p),
        ('normal_y', c_void_p),
        ('normal_z', c_void_p),
        ('curvature', c_void_p),
        ('surface_density', c_void_p),
        ('volume_density', c_void_p),
        ('on_device', c_bool),
        ('skipped', c_uint64),
        ('without', c_uint64),
        ('parts', c_uint64),
        ('reserved', c_uint64 * 8),
    ]


class mote_outliers_params(Structure):
    _fields_ = [
        ('method', c_int),
        ('k', c_uint32),
        ('sigmas', c_double),
        ('radius', c_double),
        ('min_neighbors', c_uint32),
        ('reserved', c_uint64 * 8),
    ]


class mote_outliers_result(Structure):
    _fields_ = [
        ('outlier', c_void_p),
        ('distance', c_void_p),
        ('count', c_uint64),
        ('skipped', c_uint64),
        ('mean', c_double),
        ('deviation', c_double),
        ('threshold', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_parts_params(Structure):
    _fields_ = [
        ('memory_bytes', c_uint64),
        ('part_points', c_uint64),
        ('part_count', c_uint64),
        ('resumes', c_bool),
        ('workers', c_uint64),
        ('reserved', c_uint64 * 4),
    ]


class mote_parts_report(Structure):
    _fields_ = [
        ('folder', mote_potree_report),
        ('file', mote_copc_report),
        ('points', c_uint64),
        ('skipped', c_uint64),
        ('nodes', c_uint64),
        ('parts', c_uint32),
        ('rounds', c_uint32),
        ('largest_part', c_uint64),
        ('scratch_bytes', c_uint64),
        ('count_seconds', c_double),
        ('distribute_seconds', c_double),
        ('build_seconds', c_double),
        ('join_seconds', c_double),
        ('resumed_parts', c_uint64),
        ('part_memory_bytes', c_uint64),
        ('workers', c_uint64),
        ('shared_points', c_uint64),
        ('reserved', c_uint64 * 4),
    ]


class mote_lod_changes(Structure):
    _fields_ = [
        ('add', c_void_p),
        ('add_count', c_uint32),
        ('remove', c_void_p),
        ('remove_count', c_uint32),
        ('replace', c_void_p),
        ('replace_count', c_uint32),
        ('verify', c_bool),
        ('reserved', c_uint64 * 6),
    ]


class mote_lod_update_report(Structure):
    _fields_ = [
        ('parts', mote_parts_report),
        ('whole', c_char_p),
        ('inputs', c_uint64),
        ('kept_points', c_uint64),
        ('reserved', c_uint64 * 6),
    ]


class mote_camera(Structure):
    _fields_ = [
        ('projection', c_int),
        ('eye', c_double * 3),
        ('target', c_double * 3),
        ('up', c_double * 3),
        ('angle_rad', c_double),
        ('height', c_double),
        ('near_depth', c_double),
        ('far_depth', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_render_light(Structure):
    _fields_ = [
        ('toward', c_double * 3),
        ('strength', c_double),
        ('world', c_bool),
        ('color', c_uint8 * 3),
        ('reserved', c_uint64 * 2),
    ]


class mote_render_params(Structure):
    _fields_ = [
        ('mode', c_int),
        ('width', c_uint32),
        ('height', c_uint32),
        ('part_x', c_uint32),
        ('part_y', c_uint32),
        ('part_width', c_uint32),
        ('part_height', c_uint32),
        ('samples', c_uint32),
        ('background', c_uint8 * 4),
        ('close_pixels', c_uint32),
        ('edl_strength', c_double),
        ('edl_radius', c_double),
        ('light_count', c_uint32),
        ('lights', mote_render_light * 4),
        ('ambient', c_double),
        ('specular', c_double),
        ('tolerance', c_double),
        ('normals', c_int),
        ('k', c_uint32),
        ('share', c_double),
        ('layers', c_uint32),
        ('max_radius', c_double),
        ('max_pixels', c_double),
        ('show', c_int),
        ('show_min', c_double),
        ('show_max', c_double),
        ('point_size', c_double),
        ('reserved', c_uint64 * 7),
    ]


class mote_render_result(Structure):
    _fields_ = [
        ('color8', c_void_p),
        ('color16', c_void_p),
        ('depth', c_void_p),
        ('normal', c_void_p),
        ('index', c_void_p),
        ('on_device', c_bool),
        ('covered', c_uint64),
        ('closed', c_uint64),
        ('seen', c_uint64),
        ('splats', c_uint64),
        ('batches', c_uint64),
        ('batches_drawn', c_uint64),
        ('iterations', c_double),
        ('normal_error_deg', c_double),
        ('normal_error_deviation_deg', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_render_neighbors(Structure):
    _fields_ = [
        ('seen', c_uint64),
        ('point', c_void_p),
        ('neighbor', c_void_p),
        ('distance2', c_void_p),
        ('iterations', c_void_p),
        ('reserved', c_uint64 * 4),
    ]


class mote_texture(Structure):
    _fields_ = [
        ('srgb', c_void_p),
        ('width', c_uint32),
        ('height', c_uint32),
        ('wrap_u', c_int),
        ('wrap_v', c_int),
        ('alpha', c_void_p),
        ('reserved', c_uint64 * 3),
    ]


class mote_material(Structure):
    _fields_ = [
        ('kind', c_int),
        ('color', c_double * 3),
        ('emission', c_double * 3),
        ('refraction', c_double),
        ('texture', c_uint64),
        ('emission_texture', c_uint32),
        ('alpha', c_int),
        ('opacity', c_float),
        ('alpha_cutoff', c_float),
        ('thin', c_bool),
        ('shines_on_both', c_bool),
        ('reserved', c_uint8 * 6),
    ]


class mote_light(Structure):
    _fields_ = [
        ('kind', c_int),
        ('position', c_double * 3),
        ('direction', c_double * 3),
        ('intensity', c_double * 3),
        ('inner_rad', c_double),
        ('outer_rad', c_double),
        ('reserved', c_uint64 * 4),
    ]


class mote_sphere(Structure):
    _fields_ = [
        ('center', c_double * 3),
        ('radius', c_double),
        ('material', c_uint32),
        ('reserved', c_uint64 * 2),
    ]


class mote_scene_params(Structure):
    _fields_ = [
        ('positions', c_void_p),
        ('position_count', c_uint64),
        ('triangles', c_void_p),
        ('triangle_materials', c_void_p),
        ('triangle_count', c_uint64),
        ('spheres', c_void_p),
        ('sphere_count', c_uint64),
        ('materials', c_void_p),
        ('material_count', c_uint64),
        ('lights', c_void_p),
        ('light_count', c_uint64),
        ('camera', mote_camera),
        ('textures', c_void_p),
        ('texture_count', c_uint64),
        ('texture_coordinates', c_void_p),
        ('colors', c_void_p),
        ('reserved', c_uint64 * 4),
    ]


class mote_scene_facts(Structure):
    _fields_ = [
        ('triangles', c_uint64),
        ('degenerate', c_uint64),
        ('materials', c_uint64),
        ('textures', c_uint64),
        ('lights', c_uint64),
        ('shining', c_uint64),
        ('has_camera', c_bool),
        ('glowing', c_uint64),
        ('reserved', c_uint64 * 3),
    ]


class mote_photon_emission(Structure):
    _fields_ = [
        ('photons', c_uint64),
        ('seed', c_uint64),
        ('reserved', c_uint64 * 8),
    ]


class mote_photon_facts(Structure):
    _fields_ = [
        ('emitted', c_uint64),
        ('absorbed', c_uint64),
        ('escaped', c_uint64),
        ('cut', c_uint64),
        ('hits', c_uint64),
        ('stored', c_uint64),
        ('stored_direct', c_uint64),
        ('stored_caustic', c_uint64),
        ('power', c_double),
        ('absorbed_power', c_double),
        ('escaped_power', c_double),
        ('cut_power', c_double),
        ('reserved', c_uint64 * 8),
    ]


class mote_photon_gathering(Structure):
    _fields_ = [
        ('k', c_uint32),
        ('compression', c_double),
        ('radius', c_double),
        ('filter', c_int),
        ('on_device', c_bool),
        ('area', c_int),
        ('reserved', c_uint64 * 7),
    ]


class mote_photon_params(Structure):
    _fields_ = [
        ('method', c_int),
        ('width', c_uint32),
        ('height', c_uint32),
        ('samples', c_uint32),
        ('gather_rays', c_uint32),
        ('shadow_rays', c_uint32),
        ('seed', c_uint64),
        ('gathering', mote_photon_gathering),
        ('reserved', c_uint64 * 8),
    ]


class mote_planes_params(Structure):
    _fields_ = [
        ('directions', c_int),
        ('resolution_deg', c_double),
        ('votes', c_int),
        ('cone_deg', c_double),
        ('bin', c_double),
        ('tolerance', c_double),
        ('normal_deg', c_double),
        ('min_points', c_uint64),
        ('sample', c_uint64),
        ('suppress_deg', c_double),
        ('suppress_bins', c_uint32),
        ('max_planes', c_uint32),
        ('greedy', c_bool),
        ('whole', c_bool),
        ('components', c_bool),
        ('explain', c_bool),
        ('reserved', c_uint64 * 8),
    ]


class mote_plane(Structure):
    _fields_ = [
        ('normal', c_double * 3),
        ('offset', c_double),
        ('centroid', c_double * 3),
        ('votes', c_uint64),
        ('inliers', c_uint64),
        ('rms', c_double),
        ('area', c_double),
        ('hull_area', c_double),
        ('rectangle', (c_double * 3) * 4),
        ('confidence', c_double),
    ]


class mote_planes_facts(Structure):
    _fields_ = [
        ('extent', c_double),
        ('spacing', c_double),
        ('noise', c_double),
        ('tolerance', c_double),
        ('bin', c_double),
        ('cell', c_double),
        ('resolution_deg', c_double),
        ('min_points', c_uint64),
        ('sample', c_uint64),
        ('directions', c_uint32),
        ('bins', c_uint32),
        ('rounds', c_uint32),
        ('votes', c_uint64),
        ('points', c_uint64),
        ('labelled', c_uint64),
        ('skipped', c_uint64),
        ('outside', c_uint64),
        ('normals', c_bool),
        ('reserved', c_uint64 * 8),
    ]


class mote_plane_refused(Structure):
    _fields_ = [
        ('reason', c_int),
        ('normal', c_double * 3),
        ('offset', c_double),
        ('centroid', c_double * 3),
        ('points', c_uint64),
        ('noise', c_double),
        ('size', c_double),
        ('value', c_double),
        ('limit', c_double),
        ('reserved', c_uint64 * 4),
    ]


class mote_planes_peak(Structure):
    _fields_ = [
        ('votes', c_uint64),
        ('normal', c_double * 3),
        ('offset', c_double),
        ('reserved', c_uint64 * 4),
    ]


# Fields that are enums, and of which.
ENUM_FIELDS = {
    'mote_device_info': {'kind': 'mote_device_kind'},
    'mote_context_params': {'device': 'mote_device_kind'},
    'mote_column': {'type': 'mote_type'},
    'mote_column_spec': {'type': 'mote_type'},
    'mote_knn_params': {'method': 'mote_knn_method'},
    'mote_lod_params': {'scheme': 'mote_lod_scheme', 'sampling': 'mote_lod_sampling', 'filter': 'mote_lod_filter'},
    'mote_potree_params': {'encoding': 'mote_potree_encoding'},
    'mote_shape': {'kind': 'mote_shape_kind'},
    'mote_volume_params': {'base': 'mote_volume_base'},
    'mote_normals_params': {'orient': 'mote_normals_orient'},
    'mote_outliers_params': {'method': 'mote_outliers_method'},
    'mote_camera': {'projection': 'mote_projection'},
    'mote_render_params': {'mode': 'mote_render_mode', 'normals': 'mote_render_normals', 'show': 'mote_render_show'},
    'mote_texture': {'wrap_u': 'mote_texture_wrap', 'wrap_v': 'mote_texture_wrap'},
    'mote_material': {'kind': 'mote_material_kind', 'alpha': 'mote_material_alpha'},
    'mote_light': {'kind': 'mote_light_kind'},
    'mote_photon_gathering': {'filter': 'mote_photon_filter', 'area': 'mote_photon_area'},
    'mote_photon_params': {'method': 'mote_photon_method'},
    'mote_planes_params': {'directions': 'mote_planes_directions', 'votes': 'mote_planes_votes'},
    'mote_plane_refused': {'reason': 'mote_planes_reason'},
}

# What the headers say of each field of what a call is given or gives.
FIELD_DOCS = {
    'mote_allocator': {
        'allocate': 'Returns size_bytes (never 0) aligned to 64 bytes, or NULL.',
    },
    'mote_device_info': {
        'kind': 'CPU or CUDA',
        'index': 'among those of its kind',
        'usable': 'by this version of mote, on this machine',
        'memory_bytes': '0 if unknown',
        'name': '"AMD EPYC, 2 threads", "NVIDIA H200, compute capability 9.0"',
        'reason': 'why it is not usable; "" if it is',
    },
    'mote_context_params': {
        'device': 'AUTO: the GPU where one answers and the work is large enough to pay, else the CPU',
        'device_index': 'which GPU, where gpus is 0',
        'threads': 'CPU threads; 0 = all cores',
        'memory_limit_bytes': 'more than this, on the host or on each GPU, fails as if memory had run out; 0 = no bound',
        'allocator': "allocate == NULL: the C library's",
        'progress': 'NULL: none',
        'log': 'NULL: messages are dropped',
        'stream': "CUDA: the caller's cudaStream_t, on which all work is put in order; NULL: one of its own",
        'device_stages': 'CUDA: times stages on the GPU, by events in the stream that take some 3 µs each; false: a context that has a GPU tells no seconds of stages',
        'gpus': 'CUDA: several GPUs of this machine, bit i for GPU i, 8 at most; octrees in parts and mote_knn use them all, other calls the first of them. 0: device_index alone',
        'device_memory_limit_bytes': 'CUDA: the same for each GPU alone; 0: memory_limit_bytes holds there too',
    },
    'mote_usage': {
        'seconds': 'of a stage, see device_stages; 0 for a structure',
        'peak_bytes': 'of a structure in memory; 0 for a stage',
        'on_device': 'a structure in the memory of the GPU',
    },
    'mote_column': {
        'unit': '"" if unknown',
        'description': '"" if none',
        'data': 'the first value; need not be aligned',
        'stride_bytes': 'from one value to the next',
        'type': 'as stored',
        'bit_shift': 'for packed fields: stored = (raw >> bit_shift) & mask',
        'bit_count': '0: the whole value',
        'scale': '1 if none',
        'offset': '0 if none',
    },
    'mote_column_spec': {
        'scale': '0 counts as 1',
        'offset': '0 if none',
    },
    'mote_record': {
        'extended': 'came after the points (EVLR)',
    },
    'mote_column_limits': {
        'no_data': 'the no-data value: left out of ranges, statistics and colours',
        'min': 'as the file states them, whatever the values are',
        'max': 'as the file states them, whatever the values are',
    },
    'mote_las_facts': {
        'version_minor': 'of 1.x',
        'format': 'of the point records, 0..10',
        'compressor': 'of LAZ: 1 pointwise, 2 pointwise in chunks, 3 layered; 0: not compressed',
        'items': 'of LAZ: parts of a record and their versions, "POINT10 v2, RGB12 v2"; else ""',
        'chunk_points': 'of LAZ: points in a chunk; 0: it varies',
        'chunk_count': 'of LAZ',
        'compressed_bytes': 'of LAZ: all chunks together',
    },
    'mote_strays': {
        'count': '0: there are none, and all else is 0',
        'farthest': 'index of the one that is farthest from the rest; of several the first',
        'distance': 'how far that is from the box of the rest, world units',
        'rest': 'the box of all other points with finite coordinates',
    },
    'mote_crs_facts': {
        'name': 'of well-known text its name; else the text, up to the end of the line',
        'code': 'EPSG code of the whole, 0: it has none',
        'horizontal_code': 'of its horizontal part (of a system that is not compound the same as code)',
        'vertical_code': 'of its vertical part',
    },
    'mote_transform_params': {
        'ballpark': 'also by an operation that is known to be rough, or that is not the best one because a grid is missing: else that is an error',
    },
    'mote_e57_scan': {
        'name': '"" if it has none',
        'sensor': 'vendor, model and serial number; "" if they are not stated',
        'fields': 'of its records, "cartesianX scaled 24 bits, intensity float, …"',
        'records': 'points and what is called invalid',
        'is_spherical': 'coordinates are range, azimuth and elevation',
        'has_pose': 'else the scanner stands at 0 0 0',
        'is_applied': 'the coordinates of the file have the pose in them',
        'position': 'of the scanner, metres',
        'rotation': 'quaternion w x y z',
    },
    'mote_e57_facts': {
        'library': 'what wrote it; "" if it does not say',
        'image_count': 'mote does not read images',
    },
    'mote_gen_params': {
        'seed': 'default 20240611; room: 20240117',
        'noise_m': 'room: standard deviation along the normal, default 0.003',
        'outlier_ratio': 'room: 0..1, default 0.1',
    },
    'mote_read_sample': {
        'points': 'grows by the points that the files state',
        'box': 'grows by the boxes that their headers state, in the system of each file; min > max: empty',
        'failed': 'mote_cloud_read_many of several inputs: called for each that cannot be read, so that the others are, if there are any; NULL: that is an error',
    },
    'mote_read_params': {
        'level': 'Potree folders: only the nodes of this level; -1 = the whole cloud',
        'columns': 'text files: names separated by commas; NULL = from header line or by count',
        'separator': 'text files: 0 = find out',
        'select': 'x, y, z and these attributes, separated by commas; NULL = all. LAZ: of point formats 6 to 10 the others are not even decoded. A name that the file lacks is no error.',
        'bounds': 'only points in this box, borders included; NULL = all. COPC and Potree: nodes outside are not even read.',
        'resolution': 'octrees (COPC, Potree): levels down to the first whose points are no farther apart than this; world units, 0 = all',
        'prepare_order': 'LAZ: make the Morton codes while points are decoded, for mote_lod_build; 8 bytes a point',
        'to_device': 'LAS, LAZ: where a GPU would compute on this many points, into its memory, for mote_lod_build; copied while the rest is read, never whole on the host. As without it: other formats, several inputs, bounds, salvage of damaged chunks, too many points for its memory, mote_reader. The result is told by mote_cloud_on_device.',
        'salvage': 'where a file is cut, damaged, or holds another number of points than it states: all points that are whole, with a warning what is missing, instead of an error. An error only where none is. A last line of text without an end is left out: it may be cut within a number.',
        'keep_poses': 'E57: coordinates and normals as each scanner saw them; false: where its pose puts them. They are in no reference system then, and are not transformed',
        'device_point_bytes': 'to_device: what the GPU needs for a point beside its record; where its memory has no room for that, points go to the host (mote_lod_device_point_bytes of the octree that is wanted). 0: what any octree needs',
        'known': 'LAS, LAZ, not of several inputs: called once the header is read, with its columns and count but no values yet, so that the output can be prepared. NULL: nothing is',
        'where': 'only points that meet this condition (where.h); NULL = all. COPC and Potree: nodes that its comparisons of x, y and z rule out are not read. LAZ of point formats 6 to 10: of a chunk without such a point only what the condition names is decoded, where that pays. As with bounds, to_device, prepare_order and known do nothing.',
        'set': 'assignments (where.h); then where says which points they change, and all are read. NULL: none',
        'changed': 'grows by the points that assignments changed; NULL: nobody asks',
        'crs': 'each input gets this reference system, as by mote_cloud_assign_crs; NULL: keeps its own',
        'to_crs': 'each input is brought to this one, as by mote_cloud_transform; NULL: stays',
        'crs_ballpark': 'mote_transform_params.ballpark',
        'bounds_in_to_crs': "bounds are in to_crs and not in the input's own system",
        'where_in_to_crs': "where and set see coordinates in to_crs, and not in the input's own system",
        'sample': 'LAS, LAZ: only a sample of the points, and what it is of; other formats are MOTE_ERROR_UNSUPPORTED. Not of mote_reader. NULL: all points',
    },
    'mote_unit': {
        'name': '"metre", "foot", "US survey foot", "degree", …; of a unit that mote has no name for the file\'s own; "" where the unit is not known',
        'symbol': '"m", "ft", "US ft", "deg"; "" where there is none',
        'metres': 'its length; 0: it is none, or not known',
        'radians': 'its angle; 0: it is none, or not known',
    },
    'mote_units': {
        'horizontal': 'of x and y',
        'vertical': 'of z: a system of two axes says nothing of it',
    },
    'mote_write_params': {
        'columns': 'only these, separated by commas; NULL = all',
        'text': 'PLY, PCD: ascii instead of binary',
        'big_endian': 'PLY: binary_big_endian',
        'las_version_minor': '2, 3 or 4; 0 = what the attributes need',
        'las_format': '0..10; -1 = what the attributes need',
        'compress': 'PCD: binary_compressed instead of binary',
        'by_source': 'E57: a scan for each point_source_id; false: of clouds that come from E57 alone',
        'format': '"las", "laz", "ply", "pcd", "e57", "xyz", "csv", "txt", "pts", "asc"; NULL = by the ending',
        'fewer': 'mote_writer_open: count is the most that will be added; there may be fewer',
    },
    'mote_knn_params': {
        'k': '1..MOTE_KNN_MAX_K',
        'radius': 'only neighbours at most so far away; world units; 0 = any distance',
        'exclude_self': 'queries NULL: a point is not its own neighbour',
        'approximate': 'grid: the first shell of leaves with k points may end the search: see docs/knn.md. On a GPU the answer may be exact all the same',
        'compression': "Ellipsoids: distances along each query's normal count this many times as much, 1 to MOTE_KNN_MAX_COMPRESSION; the distances given are these. 0 or 1: spheres. The normals are columns normal_x, normal_y, normal_z (or nx, ny, nz) of the queries, of the cloud itself if queries is NULL, of any length; without length: a sphere.",
        'lambda': 'shifted: lambda · k points before and behind a query in each order are looked at; 1 to MOTE_KNN_MAX_LAMBDA, lambda · k at most 4096; 0 = 1',
        'buckets': 'shifted, compression above 1: orders of spaces stretched along 9 axes, each query in the one that is nearest to its normal',
    },
    'mote_knn_result': {
        'index32': '[queries · k] which points, by place in the cloud',
        'index64': '[queries · k]',
        'distance2': '[queries · k] squared, world units, rounded to nearest: infinite above 3.4e38',
        'distance2_wide': '[queries · k]',
        'count': '[queries] how many neighbours',
        'on_device': 'the arrays are in the memory of the GPU that the context computes on: they are filled in the order of its stream, and nothing waits (see mote_context_wait)',
        'skipped': 'out: points without a finite position; 0 where counting them would have to wait',
    },
    'mote_knn_lists': {
        'first': '[query_count + 1]',
        'index': '[first[query_count]] by (distance, index)',
        'distance2': 'the same, squared',
    },
    'mote_lattice': {
        'scale': 'world size of one step',
        'offset': 'world = (min + p) · scale + offset',
        'min': "coordinate of the cube's corner",
        'side': 'of the cube, in steps of the axis; 1 or more',
        'extent': 'largest p that occurs; < 2^31',
        'source_min': 'integer positions: smallest stored value, p = (stored - source_min) >> shift, rounded',
        'shift': '0 unless integer positions span 2^31 steps or more',
        'integer': 'the positions are integers with a positive scale',
        'exact': 'integer positions on their own steps: nothing is rounded',
    },
    'mote_lod_params': {
        'filter': 'other than NONE needs REPLACING',
        'grid': 'sampling cells per side of a node, a power of two in 2..1024; 128',
        'merge_points': 'a cell with at most this many points is not divided; 10,000',
        'max_node_points': 'more points in one place than this become a chain of nodes; 2^24, 0 = no bound',
        'on_device': 'on a GPU: leave the order there; mote_lod_node_points then needs mote_lod_fetch first',
    },
    'mote_lod_node': {
        'prefix': 'Morton code of the cell, 3 bits a level: the last 63 of them',
        'first': 'its points (with those of all descendants) in the order: [first, first + total)',
        'point_count': 'points stored in this node',
        'parent': 'index; UINT32_MAX for the root',
        'first_child': 'index; 0 if leaf',
        'child_mask': 'bit 4x+2y+z',
    },
    'mote_lod_device': {
        'order': '[count] sorted position → index in the cloud',
        'level': "[count] by sorted position: the coarsest level that chose the point, else its leaf's",
        'items': '[item_count] sorted positions, node after node in the order of mote_lod_nodes',
        'item_count': 'sum of all point_count',
    },
    'mote_potree_origin': {
        'inputs': 'files, folders and patterns, as of mote_cloud_read_many',
        'reading': 'mote_read_params of io.h; NULL: defaults',
        'since_ns': 'the time (of the clock, from 1970 on) when reading began: of a file that was changed later it is not said what it was; 0: not asked',
        'known': "NULL: it is the library's own",
    },
    'mote_potree_params': {
        'brotli_quality': '0..11',
        'name': 'NULL: from the path',
        'description': 'NULL: none',
        'attributes_left_out': 'names, NULL-terminated; NULL: none',
        'begun': 'of mote_potree_begin: mote_potree_write completes it, or removes it when it fails, and needs no path; NULL: none',
        'dry_run': 'true: see mote_potree_write',
        'origin': 'of which files the points are: goes into the folder as inputs.json, for mote_lod_update; NULL: that is not kept',
        'whole_box': 'the points are a sample, and this is the box of all: metadata.json has it as theirs, so that a view of either begins alike; NULL: they are all',
        'whole_points': 'with whole_box: how many points all are, as metadata.json says',
    },
    'mote_potree_report': {
        'points': 'stored, representatives included',
        'hash': 'of the bytes of the three files',
    },
    'mote_copc_params': {
        'columns': 'only these, separated by commas; NULL = all',
        'dry_run': 'as that of mote_potree_write',
    },
    'mote_copc_report': {
        'hash': "of the file's bytes",
    },
    'mote_copc_level': {
        'spacing': 'of its points; world units',
    },
    'mote_copc_facts': {
        'is_copc': 'false: any other file, and the rest is 0',
        'nodes': 'that hold points',
        'spacing': 'of level 0; halved with each level',
    },
    'mote_potree_facts': {
        'points': 'stored, representatives included',
        'brotli': 'the encoding',
        'replacing': 'the scheme',
    },
    'mote_shape': {
        'feature': 'its number in the file, from 0; a bare geometry is feature 0',
        'name': 'the feature\'s property "name", else "text", else ""',
        'part_count': 'rings of a polygon, the outer one first; 1 of a line',
        'part_starts': '[part_count + 1]: part i is positions [part_starts[i], part_starts[i + 1])',
        'positions': 'x, y and z; z is NaN where the file has none. A ring does not repeat its first.',
    },
    'mote_volume_params': {
        'level': 'MOTE_VOLUME_LEVEL: a height of the cloud',
        'units': 'of the cloud: mote_cloud_units; all zero: not known',
    },
    'mote_volume': {
        'above': 'volumes between the surface of the points and the base; neither is negative',
        'below': 'volumes between the surface of the points and the base; neither is negative',
        'area': 'of the polygon, seen from above',
        'points': 'inside, borders included',
        'empty': 'share of the area whose cells hold no point: their heights are those of cells beside them',
        'cell': 'side of a cell',
        'level': 'of MOTE_VOLUME_LOWEST and MOTE_VOLUME_LEVEL: of the base, in the heights of the cloud',
        'draped': 'corners without a height, which got that of the nearest point inside, for MOTE_VOLUME_PLANE',
    },
    'mote_area': {
        'area': 'of the polygons, seen from above',
        'surface': 'of the polygons as they lie in space (Newell); NaN where a corner has no height',
        'around': 'length of all borders, in space where all corners have heights, else seen from above',
    },
    'mote_profile': {
        'indices': '[count] of the points in the cloud; by along, then x, y, z, then index',
        'along': '[count] distance along the line, seen from above',
        'aside': '[count] from the line, to the right of its direction above 0',
        'height': '[count] in the heights of the cloud',
        'length': 'of the line, seen from above',
    },
    'mote_normals_params': {
        'k': 'from how many nearest points, the point itself among them: 3..MOTE_KNN_MAX_K; 0: all within radius',
        'radius': 'only points at most so far away; world units; 0 = any distance',
        'viewpoint': 'VIEWPOINT: world coordinates',
        'graph_k': 'PROPAGATE: edges to this many nearest, 1..MOTE_NORMALS_MAX_GRAPH_K',
    },
    'mote_normals_result': {
        'normal_x': 'of unit length; 0 0 0 where there is none. All three or none',
        'normal_y': 'of unit length; 0 0 0 where there is none. All three or none',
        'normal_z': 'of unit length; 0 0 0 where there is none. All three or none',
        'curvature': 'surface variation l0 / (l0 + l1 + l2) of the eigenvalues l0 ≤ l1 ≤ l2 of the covariance: 0 (a plane) to 1/3; 0 where there is no normal (Pauly et al. 2002)',
        'surface_density': 'n / (π r²), for n others within r: the distance of the last one, or the radius where it ended the search; infinity if r is 0 (or so small that no float holds it), 0 if n is',
        'volume_density': 'n / (4/3 π r³)',
        'on_device': 'the arrays are in the memory of the GPU that the context computes on: they are filled in the order of its stream, and k above 0 waits for nothing (see mote_context_wait). Not with PROPAGATE',
        'skipped': 'out: points without a finite position; this and without: 0 on_device',
        'without': 'out: of the others, those without a normal, because their neighbours are in one place or on one line: the second eigenvalue is not above 2^-40 of the largest',
        'parts': 'out: PROPAGATE: parts of the graph, each oriented for itself',
    },
    'mote_outliers_params': {
        'k': 'STATISTICAL: 1..MOTE_KNN_MAX_K',
        'sigmas': 'STATISTICAL: 0 or more',
        'radius': 'RADIUS: above 0, world units',
        'min_neighbors': 'RADIUS: 1..MOTE_KNN_MAX_K',
    },
    'mote_outliers_result': {
        'outlier': '1 or 0. A point without a finite position is one; a point that is alone in the cloud is not, by STATISTICAL',
        'distance': 'STATISTICAL: the mean distance, 0 where there is no other point',
        'count': 'out: outliers',
        'skipped': 'out: points without a finite position, which count as outliers',
        'mean': 'out: STATISTICAL: of all mean distances',
        'deviation': 'out: STATISTICAL: of all mean distances',
        'threshold': 'out: STATISTICAL: of all mean distances',
    },
    'mote_parts_params': {
        'memory_bytes': "that the library may take; 0: what the context's limit leaves, without one a quarter of the machine's",
        'part_points': 'a part has no more points than this, even where memory would hold more; 0: as many as memory holds',
        'part_count': 'about so many parts of the same size, at most MOTE_PARTS_MAX; 0: as few as memory allows',
        'resumes': 'each part that is complete is kept beside the output, in a folder whose name ends in ".parts", and a call that finds some of the same inputs and parameters goes on from there. mote_lod_parts_clear_resumed removes them when the output is in place',
        'workers': 'parts that are built at once, at most MOTE_PARTS_WORKERS_MAX, each with its share of memory and threads; fewer where memory does not hold so many. 0: one on each GPU of the context, on the CPU one after the other',
    },
    'mote_parts_report': {
        'folder': 'zero where a COPC file is made',
        'file': 'zero where a folder is made',
        'points': 'read',
        'skipped': 'of them without a finite position',
        'rounds': 'how often parts were built: 2 where points were too dense for one code',
        'largest_part': 'points',
        'scratch_bytes': 'on the disk meanwhile, at most, with what is there of the output; of a plan: predicted for the files of all parts',
        'resumed_parts': 'that were there already',
        'part_memory_bytes': 'of a plan: what making its largest part takes, at most; where a call found before all else that its memory holds no part: the least that does',
        'workers': 'parts that were built at once',
        'shared_points': 'of a plan: that it has read for several parts (OUTPUT.parts/shared)',
    },
    'mote_lod_changes': {
        'add': 'files, folders and patterns, as of mote_cloud_read_many: they come behind all that stay',
        'remove': 'files of the list, which need not be there any more: by their path, by a name that only one has, or by a pattern of paths',
        'replace': 'files of the list, likewise, whose contents are others now; a path that is not in the list takes the place of the one of that name',
        'verify': 'compares the checksums of all files; else of those whose size or time is another',
    },
    'mote_lod_update_report': {
        'whole': 'NULL: what changed was built; else why all was built anew, as a literal',
        'inputs': 'files of the list now',
        'kept_points': 'of ranges that were taken over as they were',
    },
    'mote_camera': {
        'eye': 'world coordinates',
        'target': 'world coordinates, not eye',
        'up': 'any length; where it is along the line of sight, the axis least along that line is taken',
        'angle_rad': 'PERSPECTIVE: from the upper to the lower edge, above 0, below pi',
        'height': 'ORTHOGRAPHIC: from the upper to the lower edge, world units, above 0',
        'near_depth': 'nothing nearer is drawn; 0: PERSPECTIVE: 2^-20 of the distance from eye to target; ORTHOGRAPHIC: no bound, also behind eye',
        'far_depth': 'nothing farther is drawn; 0: no bound',
    },
    'mote_render_light': {
        'toward': "to the light, any length; camera's axes (x right, y up, z to the viewer) unless world",
        'strength': '0 or more',
        'world': 'toward is in the axes of the world: the light stays where the cloud is',
        'color': 'red, green, blue',
    },
    'mote_render_params': {
        'width': 'of the whole picture, pixels',
        'height': 'of the whole picture, pixels',
        'part_x': "The part of it to draw, which is what the result's arrays hold: large pictures go piece by piece. All four 0: the whole. What looks at neighbouring pixels (surface, eye-dome lighting, closing) ends at the part's edge: draw it with a margin, and cut that off.",
        'part_y': "The part of it to draw, which is what the result's arrays hold: large pictures go piece by piece. All four 0: the whole. What looks at neighbouring pixels (surface, eye-dome lighting, closing) ends at the part's edge: draw it with a margin, and cut that off.",
        'part_width': "The part of it to draw, which is what the result's arrays hold: large pictures go piece by piece. All four 0: the whole. What looks at neighbouring pixels (surface, eye-dome lighting, closing) ends at the part's edge: draw it with a margin, and cut that off.",
        'part_height': "The part of it to draw, which is what the result's arrays hold: large pictures go piece by piece. All four 0: the whole. What looks at neighbouring pixels (surface, eye-dome lighting, closing) ends at the part's edge: draw it with a margin, and cut that off.",
        'samples': 'supersampling: samples · samples for each pixel, 1..MOTE_RENDER_MAX_SAMPLES',
        'background': 'red, green, blue, alpha; alpha 0: transparent',
        'close_pixels': 'holes up to so many pixels wide are closed from around them; 0: none; to 64',
        'edl_strength': 'eye-dome lighting: 0 off, 1 usual',
        'edl_radius': 'pixels, samples not counted; above 0',
        'light_count': '0: unlit: colours as they are',
        'ambient': 'what surfaces show without light, 0..1',
        'specular': 'strength of highlights, 0..1',
        'tolerance': 'AVERAGE, SURFACE: of depth, in spacings of the points: what is nearer together is one surface',
        'k': 'SCREEN: a normal from so many neighbours, the point itself among them: 4..MOTE_RENDER_MAX_K',
        'share': 'SURFACE: a splat covers the share of so many points: 1..64. Holes fall as e^-share',
        'layers': 'SCREEN: of points behind each other in a pixel that are seen, 1..MOTE_RENDER_MAX_LAYERS',
        'max_radius': 'SURFACE: no splat is larger, world units; 0: any size',
        'max_pixels': 'SURFACE: nor larger than so many pixels, samples not counted; 0: any size',
        'show_min': 'DEPTH, RADIUS: both 0: from the smallest to the largest in the picture',
        'show_max': 'DEPTH, RADIUS: both 0: from the smallest to the largest in the picture',
        'point_size': 'POINTS: diameter of the discs that points are drawn as, pixels, samples not counted; 0: a sample each. To MOTE_RENDER_MAX_POINT. A disc has the depth of its point',
    },
    'mote_render_result': {
        'color8': '[4 · pixels] RGBA',
        'color16': '[4 · pixels]',
        'depth': '[pixels]; infinity where nothing is. Of several samples the nearest',
        'normal': '[3 · pixels] x y z; zeros where there is none',
        'index': '[pixels] the point that is nearest, by its place in the cloud; MOTE_RENDER_NO_POINT. SURFACE: the splat that covers the pixel most, of those averaged',
        'on_device': 'the arrays are in the memory of the GPU that the renderer is on',
        'covered': 'out: pixels, samples counted one by one, that show something',
        'closed': 'out: of these, those that close_pixels closed',
        'seen': 'out: SURFACE: points that the frame saw, in all layers',
        'splats': 'out: SURFACE: of these, those drawn',
        'batches': "out: of the renderer's ranges of its order, and those whose points were read",
        'batches_drawn': "out: of the renderer's ranges of its order, and those whose points were read",
        'iterations': 'out: SURFACE: windows of a search, each twice as large as the one before, until one holds all neighbours; mean of the points in front',
        'normal_error_deg': 'out: SHOW_NORMAL_ERROR: mean and standard deviation over the pixels that show it',
        'normal_error_deviation_deg': 'out: SHOW_NORMAL_ERROR: mean and standard deviation over the pixels that show it',
    },
    'mote_render_neighbors': {
        'seen': 'out: points that the frame saw',
        'point': 'out: [seen] which points, by place in the cloud: layer after layer',
        'neighbor': 'out: [seen · k] from near to far, equally far ones in Morton order; MOTE_RENDER_NO_POINT where there are fewer',
        'distance2': 'out: [seen · k] squared, world units; infinity where there are fewer',
        'iterations': 'out: [seen] windows, each twice as large as the one before, until one holds them all',
    },
    'mote_texture': {
        'srgb': '[3 · width · height] red, green, blue in sRGB; the first row is where v begins',
        'alpha': '[width · height] 255 is opaque; NULL: all are',
    },
    'mote_material': {
        'color': 'share of light that goes on, each 0..1',
        'emission': "radiance of a triangle's front, from which its corners run counterclockwise; 0 or more",
        'refraction': 'GLASS: index, 1 to 10',
        'texture': '1 + its place in textures; 0: none. Of triangles alone.',
        'emission_texture': 'the same, by which emission is multiplied',
        'opacity': 'MASK, BLEND: alpha is that of the texture and of the corners times this, 0..1',
        'alpha_cutoff': 'MASK',
        'thin': 'GLASS: a sheet, through which light goes straight on; else the border of a body',
        'shines_on_both': 'emission is of both sides',
    },
    'mote_light': {
        'direction': 'all but POINT: in which light goes, of any length above 0',
        'intensity': '0 or more; POINT, SPOT: power per solid angle, DIRECTIONAL: power per area across the direction, SKY: radiance',
        'inner_rad': 'SPOT: angles to direction, 0 <= inner < outer <= pi',
        'outer_rad': 'SPOT: angles to direction, 0 <= inner < outer <= pi',
    },
    'mote_sphere': {
        'center': 'above 0',
        'radius': 'above 0',
        'material': 'one without emission',
    },
    'mote_scene_params': {
        'positions': '[3 · position_count] x y z, finite',
        'triangles': '[3 · triangle_count] places in positions',
        'triangle_materials': '[triangle_count]; NULL: all 0',
        'materials': '[material_count], 1 or more where there is a triangle or a sphere',
        'texture_coordinates': '[6 · triangle_count] u v of each corner, finite; NULL: all 0',
        'colors': "[4 · position_count] linear red, green, blue, and alpha, each 0..1, by which those of triangles' materials are multiplied; NULL: all 1",
    },
    'mote_scene_facts': {
        'degenerate': 'further triangles, which have no area and were left out',
        'lights': 'point, spot and directional lights',
        'shining': 'triangles that are area lights',
        'has_camera': 'false: one was placed so that all is seen',
        'glowing': "of the triangles that are area lights, those whose emission is a texture's: displays, glow",
    },
    'mote_photon_emission': {
        'photons': 'to emit, 1..MOTE_PHOTON_MAX_PHOTONS; each is stored at every diffuse surface that it meets',
    },
    'mote_photon_facts': {
        'absorbed': 'by a surface',
        'escaped': 'into the open',
        'cut': 'met more than 10,000 surfaces; emitted = absorbed + escaped + cut',
        'hits': 'of surfaces of any kind',
        'power': 'of all lights, red + green + blue',
        'absorbed_power': "measured: sums of the photons' power at their end",
        'escaped_power': "measured: sums of the photons' power at their end",
        'cut_power': "measured: sums of the photons' power at their end",
    },
    'mote_photon_gathering': {
        'k': 'photons, 2..MOTE_PHOTON_MAX_K',
        'compression': 'of the ellipsoid along the normal, 1 (a sphere) to MOTE_KNN_MAX_COMPRESSION',
        'radius': 'photons at most so far away; 0: any distance',
        'on_device': 'mote_photon_gather: irradiance is in the memory of the GPU that the map is on',
    },
    'mote_photon_params': {
        'width': 'pixels',
        'height': 'pixels',
        'samples': 'samples · samples for each pixel, 1..MOTE_PHOTON_MAX_SAMPLES',
        'gather_rays': 'FULL: rays of final gathering for each sample, 1..65536',
        'shadow_rays': 'FULL, SHADOW: for each sample, 1..65536',
    },
    'mote_planes_params': {
        'resolution_deg': 'BALL: between neighbouring directions, 0.5..10',
        'cone_deg': 'VOTE_NORMALS: above 0, up to 90',
        'bin': 'width of a bin of rho, world units; 0: chosen',
        'tolerance': 'distance up to which a point belongs to a plane, world units; 0: from the noise',
        'normal_deg': 'a point with a normal belongs to a plane only if they differ by at most this; 90: any',
        'min_points': 'support that a plane needs; 0: one point in 200, 12 to 100',
        'sample': 'this many points vote, evenly along the Morton order; 0: chosen; UINT64_MAX: all',
        'suppress_deg': 'radius of non-maximum suppression on the sphere; 0: 2.5 steps of the accumulator',
        'suppress_bins': 'and along rho; 0: 2 bins',
        'max_planes': 'planes at most, those of the most points; 0: MOTE_PLANES_MAX',
        'greedy': 'one plane a round: find, remove its points, vote again',
        'whole': 'planes reach across gaps, however thin: points far from the others belong too',
        'components': 'what is not connected is a plane of its own',
        'explain': 'keep what was refused, for mote_planes_refused_at',
    },
    'mote_plane': {
        'normal': 'unit length; the first of z, y, x that is not 0 is above 0',
        'offset': 'd: normal · x = d',
        'votes': 'of the maximum of the accumulator that it comes from',
        'inliers': 'points that carry its label',
        'rms': 'of their distances',
        'area': 'that they cover, by occupied cells',
        'hull_area': 'of their convex hull',
        'rectangle': 'the smallest rectangle in the plane around them, corner by corner',
        'confidence': '0..1: the share of the points within the tolerance that is not found beside it as well',
    },
    'mote_planes_facts': {
        'extent': 'diameter of the sphere around the centre that has all points',
        'spacing': 'distance of neighbouring points on surfaces, measured; see mote_planes_vote',
        'noise': 'standard deviation along the normal, measured; 0 where nothing is flat',
        'tolerance': 'as used',
        'bin': 'as used',
        'cell': 'of the grid that says what is connected; 0: whole, or no planes were made',
        'votes': 'cast, in all rounds',
        'points': 'of the cloud',
        'labelled': 'that belong to a plane',
        'skipped': 'without a finite position',
        'outside': 'strays, so far from all others that they would blur the lattice',
        'normals': 'the cloud has them and they were looked at',
    },
    'mote_plane_refused': {
        'normal': 'as those of mote_plane, when it was refused',
        'offset': 'as those of mote_plane, when it was refused',
        'centroid': 'as those of mote_plane, when it was refused',
        'points': 'about how many of all were on it',
        'noise': 'standard deviation along the normal',
        'size': 'the root of its area; 0: not known',
        'value': 'what was measured, and what a plane has at most (few points: at least)',
        'limit': 'what was measured, and what a plane has at most (few points: at least)',
    },
    'mote_planes_peak': {
        'normal': 'of the middle of its cell',
        'offset': 'of the middle of its cell',
    },
}

# result, arguments
FUNCTIONS = {
    'mote_status_name': (c_char_p, (c_int,)),
    'mote_type_size': (c_uint32, (c_int,)),
    'mote_type_name': (c_char_p, (c_int,)),
    'mote_type_is_float': (c_bool, (c_int,)),
    'mote_type_is_signed': (c_bool, (c_int,)),
    'mote_version': (c_char_p, ()),
    'mote_devices': (c_uint32, (c_void_p, c_uint32)),
    'mote_cpu_lacks': (c_char_p, ()),
    'mote_context_defaults': (mote_context_params, ()),
    'mote_context_create': (c_int, (c_void_p, c_void_p)),
    'mote_context_destroy': (None, (c_void_p,)),
    'mote_context_message': (c_char_p, (c_void_p,)),
    'mote_context_clear': (None, (c_void_p,)),
    'mote_context_wait': (c_int, (c_void_p,)),
    'mote_device_alloc': (c_void_p, (c_void_p, c_uint64)),
    'mote_device_free': (None, (c_void_p, c_void_p)),
    'mote_device_copy': (c_int, (c_void_p, c_void_p, c_void_p, c_uint64)),
    'mote_context_trim': (None, (c_void_p,)),
    'mote_context_memory_bytes': (c_uint64, (c_void_p,)),
    'mote_context_memory_peak_bytes': (c_uint64, (c_void_p,)),
    'mote_context_device_bytes': (c_uint64, (c_void_p,)),
    'mote_context_device_peak_bytes': (c_uint64, (c_void_p,)),
    'mote_context_uploaded_bytes': (c_uint64, (c_void_p,)),
    'mote_context_memory_peak_reset': (None, (c_void_p,)),
    'mote_context_usage': (c_uint32, (c_void_p, c_void_p, c_uint32)),
    'mote_context_threads': (c_int, (c_void_p,)),
    'mote_context_backend': (c_char_p, (c_void_p,)),
    'mote_cloud_create': (c_int, (c_void_p, c_uint64, c_void_p, c_uint32, c_void_p)),
    'mote_cloud_wrap': (c_int, (c_void_p, c_uint64, c_void_p, c_uint32, c_void_p)),
    'mote_cloud_wrap_device': (c_int, (c_void_p, c_uint64, c_void_p, c_uint32, c_void_p)),
    'mote_cloud_to_device': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_cloud_on_device': (c_bool, (c_void_p,)),
    'mote_cloud_check': (c_int, (c_void_p,)),
    'mote_cloud_destroy': (None, (c_void_p,)),
    'mote_cloud_keep_order': (None, (c_void_p, c_bool)),
    'mote_cloud_keep_uploads': (c_int, (c_void_p, c_bool)),
    'mote_cloud_count': (c_uint64, (c_void_p,)),
    'mote_cloud_column_count': (c_uint32, (c_void_p,)),
    'mote_cloud_column': (c_void_p, (c_void_p, c_uint32)),
    'mote_cloud_find': (c_void_p, (c_void_p, c_char_p)),
    'mote_standard_name': (c_char_p, (c_char_p,)),
    'mote_cloud_match': (c_void_p, (c_void_p, c_char_p)),
    'mote_cloud_column_data': (c_void_p, (c_void_p, c_char_p)),
    'mote_cloud_add_column': (c_int, (c_void_p, c_void_p)),
    'mote_cloud_put_column': (c_int, (c_void_p, c_void_p)),
    'mote_column_read': (None, (c_void_p, c_uint64, c_uint64, c_int, c_void_p)),
    'mote_column_value': (c_double, (c_void_p, c_uint64)),
    'mote_cloud_limits': (c_bool, (c_void_p, c_char_p, c_void_p)),
    'mote_cloud_set_limits': (c_int, (c_void_p, c_char_p, c_void_p)),
    'mote_cloud_read_known': (None, (c_void_p, c_void_p, c_uint64, c_uint64, c_void_p)),
    'mote_cloud_crs': (c_char_p, (c_void_p,)),
    'mote_cloud_set_crs': (c_int, (c_void_p, c_char_p)),
    'mote_cloud_grid': (c_bool, (c_void_p, c_void_p, c_void_p)),
    'mote_cloud_set_grid': (c_int, (c_void_p, c_uint64, c_uint64)),
    'mote_cloud_record_count': (c_uint32, (c_void_p,)),
    'mote_cloud_record': (c_void_p, (c_void_p, c_uint32)),
    'mote_cloud_select': (c_int, (c_void_p, c_void_p, c_void_p, c_uint64, c_void_p)),
    'mote_cloud_join': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p)),
    'mote_cloud_las_facts': (c_bool, (c_void_p, c_void_p)),
    'mote_cloud_bounds': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_cloud_strays': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_cloud_hash': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_crs_describe': (None, (c_char_p, c_void_p)),
    'mote_cloud_assign_crs': (c_int, (c_void_p, c_void_p, c_char_p)),
    'mote_transform_defaults': (mote_transform_params, ()),
    'mote_cloud_transform': (c_int, (c_void_p, c_void_p, c_char_p, c_void_p)),
    'mote_e57_scans': (c_int, (c_void_p, c_char_p, c_void_p, c_uint32, c_void_p)),
    'mote_gen_defaults': (mote_gen_params, (c_char_p,)),
    'mote_generate': (c_int, (c_void_p, c_char_p, c_uint64, c_void_p, c_void_p)),
    'mote_read_sample_defaults': (mote_read_sample, ()),
    'mote_read_defaults': (mote_read_params, ()),
    'mote_cloud_read': (c_int, (c_void_p, c_char_p, c_void_p, c_void_p)),
    'mote_cloud_read_many': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p)),
    'mote_inputs_each': (c_int, (c_void_p, c_void_p, c_uint32, mote_input_fn, c_void_p)),
    'mote_inputs_attributes': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p)),
    'mote_cloud_units': (None, (c_void_p, c_void_p)),
    'mote_reader_open': (c_int, (c_void_p, c_char_p, c_void_p, c_void_p)),
    'mote_reader_count': (c_uint64, (c_void_p,)),
    'mote_reader_next': (c_int, (c_void_p, c_void_p)),
    'mote_reader_rewind': (None, (c_void_p,)),
    'mote_reader_close': (None, (c_void_p,)),
    'mote_write_defaults': (mote_write_params, ()),
    'mote_cloud_write': (c_int, (c_void_p, c_void_p, c_char_p, c_void_p)),
    'mote_writer_open': (c_int, (c_void_p, c_void_p, c_uint64, c_char_p, c_void_p, c_void_p)),
    'mote_writer_add': (c_int, (c_void_p,)),
    'mote_writer_close': (c_int, (c_void_p, c_int)),
    'mote_reader_write': (c_int, (c_void_p, c_char_p, c_void_p, c_void_p)),
    'mote_output_create': (c_int, (c_void_p, c_char_p, c_bool, c_void_p)),
    'mote_output_write': (c_int, (c_void_p, c_void_p, c_void_p, c_uint64)),
    'mote_output_write_at': (c_int, (c_void_p, c_void_p, c_void_p, c_uint64, c_uint64)),
    'mote_output_finish': (c_int, (c_void_p, c_void_p, c_int)),
    'mote_outputs_hold': (c_int, (c_void_p,)),
    'mote_outputs_release': (c_int, (c_void_p, c_int)),
    'mote_outputs_note_input': (c_int, (c_void_p, c_char_p)),
    'mote_outputs_check': (c_int, (c_void_p, c_char_p)),
    'mote_file_format': (c_char_p, (c_void_p, c_char_p)),
    'mote_text_encoding': (c_char_p, (c_void_p, c_uint64)),
    'mote_ending_format': (c_char_p, (c_char_p,)),
    'mote_knn_defaults': (mote_knn_params, ()),
    'mote_knn_build': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_knn_rebuild': (c_int, (c_void_p,)),
    'mote_knn_destroy': (None, (c_void_p,)),
    'mote_knn_search': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_knn_within': (c_int, (c_void_p, c_void_p, c_double, c_bool, c_void_p, c_void_p)),
    'mote_knn_free_lists': (None, (c_void_p, c_void_p)),
    'mote_knn': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_morton_code': (c_uint64, (c_uint32, c_uint32, c_uint32)),
    'mote_morton_coordinates': (None, (c_uint64, c_void_p)),
    'mote_order_lattice': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_order_coordinates': (None, (c_void_p, c_void_p, c_void_p, c_uint64, c_void_p)),
    'mote_order_codes': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_order_sort': (c_int, (c_void_p, c_void_p, c_void_p, c_uint64)),
    'mote_order_range': (None, (c_void_p, c_uint64, c_uint64, c_uint32, c_void_p, c_void_p)),
    'mote_order_permute': (c_int, (c_void_p, c_void_p, c_uint32, c_uint32, c_void_p, c_uint64, c_void_p)),
    'mote_order_cloud': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_lod_defaults': (mote_lod_params, ()),
    'mote_lod_device_point_bytes': (c_uint32, (c_void_p,)),
    'mote_lod_build': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_lod_destroy': (None, (c_void_p,)),
    'mote_lod_parameters': (c_void_p, (c_void_p,)),
    'mote_lod_lattice': (c_void_p, (c_void_p,)),
    'mote_lod_skipped': (c_uint64, (c_void_p,)),
    'mote_lod_node_count': (c_uint32, (c_void_p,)),
    'mote_lod_nodes': (c_void_p, (c_void_p,)),
    'mote_lod_node_name': (None, (c_void_p, c_uint32, c_char_p)),
    'mote_lod_node_points': (None, (c_void_p, c_uint32, c_void_p, c_void_p)),
    'mote_lod_fetch': (c_int, (c_void_p, c_void_p)),
    'mote_lod_device_arrays': (c_bool, (c_void_p, c_void_p)),
    'mote_potree_begin': (c_int, (c_void_p, c_char_p, c_uint64, c_void_p)),
    'mote_potree_abandon': (None, (c_void_p, c_void_p)),
    'mote_potree_defaults': (mote_potree_params, ()),
    'mote_potree_write': (c_int, (c_void_p, c_void_p, c_char_p, c_void_p, c_void_p)),
    'mote_potree_records': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_copc_defaults': (mote_copc_params, ()),
    'mote_copc_write': (c_int, (c_void_p, c_void_p, c_char_p, c_void_p, c_void_p)),
    'mote_copc_levels': (c_int, (c_void_p, c_char_p, c_void_p, c_uint32, c_void_p)),
    'mote_potree_levels': (c_int, (c_void_p, c_char_p, c_void_p, c_uint32, c_void_p)),
    'mote_shapes_read': (c_int, (c_void_p, c_char_p, c_void_p)),
    'mote_geopackage_to_geojson': (c_int, (c_void_p, c_char_p, c_char_p)),
    'mote_shapes_destroy': (None, (c_void_p,)),
    'mote_shapes_count': (c_uint32, (c_void_p,)),
    'mote_shapes_at': (c_void_p, (c_void_p, c_uint32)),
    'mote_shapes_crs': (c_char_p, (c_void_p,)),
    'mote_region_create': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p)),
    'mote_region_destroy': (None, (c_void_p,)),
    'mote_region_contains': (c_bool, (c_void_p, c_double, c_double)),
    'mote_region_bounds': (None, (c_void_p, c_void_p, c_void_p)),
    'mote_volume_defaults': (mote_volume_params, ()),
    'mote_volume_measure': (c_int, (c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p)),
    'mote_area_measure': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p)),
    'mote_profile_measure': (c_int, (c_void_p, c_void_p, c_void_p, c_double, c_void_p, c_void_p)),
    'mote_profile_destroy': (None, (c_void_p, c_void_p)),
    'mote_profile_bounds': (c_int, (c_void_p, c_void_p, c_double, c_void_p, c_void_p)),
    'mote_measure_unit': (c_char_p, (c_void_p,)),
    'mote_normals_defaults': (mote_normals_params, ()),
    'mote_normals_estimate': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_normals': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_density': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p)),
    'mote_outliers_defaults': (mote_outliers_params, ()),
    'mote_outliers_find': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_outliers': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_parts_defaults': (mote_parts_params, ()),
    'mote_lod_parts_refusal': (c_char_p, (c_void_p, c_void_p)),
    'mote_lod_whole_bytes': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p)),
    'mote_copc_whole_bytes': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p)),
    'mote_search_whole_bytes': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_uint32, c_void_p)),
    'mote_order_whole_bytes': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p)),
    'mote_lod_write_parts': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_char_p, c_void_p, c_void_p, c_void_p)),
    'mote_copc_write_parts': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_char_p, c_void_p, c_void_p, c_void_p)),
    'mote_normals_write_parts': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_bool, c_char_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_outliers_write_parts': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_bool, c_bool, c_char_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_order_write_parts': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_char_p, c_void_p, c_void_p, c_void_p)),
    'mote_knn_find_parts': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_bool, c_char_p, c_void_p, c_void_p, c_void_p)),
    'mote_knn_rows_count': (c_uint64, (c_void_p,)),
    'mote_knn_rows_read': (c_int, (c_void_p, c_uint64, c_uint64, c_void_p)),
    'mote_knn_rows_close': (None, (c_void_p,)),
    'mote_lod_update': (c_int, (c_void_p, c_char_p, c_void_p, c_void_p, c_void_p)),
    'mote_lod_parts_plan': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_char_p, c_void_p, c_void_p, c_char_p, c_void_p)),
    'mote_copc_parts_plan': (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_char_p, c_void_p, c_void_p, c_char_p, c_void_p)),
    'mote_lod_parts_make': (c_int, (c_void_p, c_char_p, c_uint32, c_uint32, c_void_p)),
    'mote_lod_parts_merge': (c_int, (c_void_p, c_char_p, c_bool, c_void_p)),
    'mote_lod_parts_output': (c_int, (c_void_p, c_char_p, c_char_p, c_uint64)),
    'mote_lod_parts_clear': (c_int, (c_void_p, c_char_p)),
    'mote_lod_parts_clear_resumed': (c_int, (c_void_p, c_char_p)),
    'mote_camera_defaults': (mote_camera, ()),
    'mote_camera_fit': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32)),
    'mote_camera_project': (c_bool, (c_void_p, c_uint32, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_camera_unproject': (None, (c_void_p, c_uint32, c_uint32, c_double, c_double, c_double, c_void_p)),
    'mote_camera_on_path': (mote_camera, (c_void_p, c_uint32, c_bool, c_double)),
    'mote_render_defaults': (mote_render_params, ()),
    'mote_render_create': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_render_update': (c_int, (c_void_p,)),
    'mote_render_destroy': (None, (c_void_p,)),
    'mote_render_set_colors': (c_int, (c_void_p, c_void_p, c_bool)),
    'mote_render_find_exposure': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_render_set_exposure': (c_int, (c_void_p, c_double)),
    'mote_render_set_normals': (c_int, (c_void_p, c_void_p, c_void_p, c_bool)),
    'mote_render_bounds': (mote_box, (c_void_p,)),
    'mote_render_fit': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_render_draw': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_render': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_render_find_neighbors': (c_int, (c_void_p, c_void_p, c_void_p, c_uint32, c_void_p)),
    'mote_render_free_neighbors': (None, (c_void_p, c_void_p)),
    'mote_scene_create': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_scene_builtin': (c_int, (c_void_p, c_char_p, c_void_p)),
    'mote_scene_is_file': (c_bool, (c_char_p,)),
    'mote_scene_read': (c_int, (c_void_p, c_char_p, c_void_p, c_void_p)),
    'mote_scene_add_default_light': (c_int, (c_void_p, c_void_p)),
    'mote_scene_name': (c_char_p, (c_uint32,)),
    'mote_scene_destroy': (None, (c_void_p,)),
    'mote_scene_camera': (mote_camera, (c_void_p,)),
    'mote_scene_bounds': (mote_box, (c_void_p,)),
    'mote_photon_emission_defaults': (mote_photon_emission, ()),
    'mote_photon_emit': (c_int, (c_void_p, c_void_p, c_void_p)),
    'mote_photon_destroy': (None, (c_void_p,)),
    'mote_photon_map_facts': (mote_photon_facts, (c_void_p,)),
    'mote_photon_cloud': (c_void_p, (c_void_p,)),
    'mote_photon_gathering_defaults': (mote_photon_gathering, ()),
    'mote_photon_gather': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_photon_defaults': (mote_photon_params, ()),
    'mote_photon_render': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_photon_render_progressive': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p)),
    'mote_planes_defaults': (mote_planes_params, ()),
    'mote_planes_find': (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_planes_destroy': (None, (c_void_p,)),
    'mote_planes_count': (c_uint32, (c_void_p,)),
    'mote_planes_at': (c_void_p, (c_void_p, c_uint32)),
    'mote_planes_hull': (c_void_p, (c_void_p, c_uint32, c_void_p)),
    'mote_planes_refused_count': (c_uint32, (c_void_p,)),
    'mote_planes_refused_at': (c_void_p, (c_void_p, c_uint32)),
    'mote_planes_get_facts': (mote_planes_facts, (c_void_p,)),
    'mote_planes_vote': (c_int, (c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p)),
    'mote_strays_search_open': (c_int, (c_void_p, c_uint64, c_void_p)),
    'mote_strays_search_add': (c_int, (c_void_p, c_void_p)),
    'mote_strays_search_again': (c_bool, (c_void_p,)),
    'mote_strays_search_tell': (None, (c_void_p, c_void_p, c_void_p, c_void_p)),
    'mote_strays_search_close': (None, (c_void_p,)),
    'mote_cloud_where': (c_int, (c_void_p, c_void_p, c_char_p, c_void_p, c_void_p)),
    'mote_cloud_assign': (c_int, (c_void_p, c_void_p, c_char_p, c_char_p, c_void_p)),
}
