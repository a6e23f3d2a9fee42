# Made of include/mote/ by python/declarations.py, and not by hand: the keywords of each function.
from typing import Iterable, Literal, Mapping, TypedDict

class ContextParams(TypedDict, total=False):
    device: Literal['auto', 'cpu', 'cuda']
    device_index: int
    threads: int
    memory_limit_bytes: int
    allocator: Mapping[str, object]
    device_stages: bool
    gpus: int
    device_memory_limit_bytes: int

class TransformParams(TypedDict, total=False):
    ballpark: bool

class GenParams(TypedDict, total=False):
    seed: int
    noise_m: float
    outlier_ratio: float

class ReadParams(TypedDict, total=False):
    level: int
    columns: str | Iterable[str] | None
    separator: str
    select: str | Iterable[str] | None
    resolution: float
    prepare_order: bool
    to_device: bool
    salvage: bool
    keep_poses: bool
    device_point_bytes: int
    where: str | Iterable[str] | None
    set: str | Iterable[str] | None
    crs: str | Iterable[str] | None
    to_crs: str | Iterable[str] | None
    crs_ballpark: bool
    bounds_in_to_crs: bool
    where_in_to_crs: bool

class WriteParams(TypedDict, total=False):
    columns: str | Iterable[str] | None
    text: bool
    big_endian: bool
    las_version_minor: int
    las_format: int
    compress: bool
    by_source: bool
    format: str | Iterable[str] | None
    fewer: bool

class KnnParams(TypedDict, total=False):
    method: Literal['grid', 'shifted', 'brute']
    k: int
    radius: float
    exclude_self: bool
    approximate: bool
    compression: float
    lambda_: int
    buckets: bool

class LodParams(TypedDict, total=False):
    scheme: Literal['additive', 'replacing']
    sampling: Literal['random', 'first', 'poisson']
    filter: Literal['none', 'cell', 'neighbors', 'gaussian']
    grid: int
    merge_points: int
    max_node_points: int
    seed: int
    on_device: bool

class PotreeParams(TypedDict, total=False):
    encoding: Literal['default', 'brotli']
    brotli_quality: int
    name: str | Iterable[str] | None
    description: str | Iterable[str] | None
    dry_run: bool
    whole_points: int

class CopcParams(TypedDict, total=False):
    columns: str | Iterable[str] | None
    dry_run: bool

class VolumeParams(TypedDict, total=False):
    base: Literal['plane', 'lowest', 'level']
    level: float
    units: Mapping[str, object]

class NormalsParams(TypedDict, total=False):
    k: int
    radius: float
    orient: Literal['up', 'viewpoint', 'propagate', 'none']
    viewpoint: Iterable[float]
    graph_k: int

class OutliersParams(TypedDict, total=False):
    method: Literal['statistical', 'radius']
    k: int
    sigmas: float
    radius: float
    min_neighbors: int

class PartsParams(TypedDict, total=False):
    memory_bytes: int
    part_points: int
    part_count: int
    resumes: bool
    workers: int

class Camera(TypedDict, total=False):
    projection: Literal['perspective', 'orthographic']
    eye: Iterable[float]
    target: Iterable[float]
    up: Iterable[float]
    angle_rad: float
    height: float
    near_depth: float
    far_depth: float

class RenderParams(TypedDict, total=False):
    mode: Literal['points', 'average', 'surface']
    width: int
    height: int
    part_x: int
    part_y: int
    part_width: int
    part_height: int
    samples: int
    background: Iterable[float]
    close_pixels: int
    edl_strength: float
    edl_radius: float
    light_count: int
    lights: Iterable[Mapping[str, object]]
    ambient: float
    specular: float
    tolerance: float
    normals: Literal['screen', 'given']
    k: int
    share: float
    layers: int
    max_radius: float
    max_pixels: float
    show: Literal['color', 'normals', 'depth', 'radius', 'iterations', 'normal_error']
    show_min: float
    show_max: float
    point_size: float

class SceneParams(TypedDict, total=False):
    position_count: int
    triangle_count: int
    sphere_count: int
    material_count: int
    light_count: int
    camera: Mapping[str, object]
    texture_count: int

class PhotonEmission(TypedDict, total=False):
    photons: int
    seed: int

class PhotonGathering(TypedDict, total=False):
    k: int
    compression: float
    radius: float
    filter: Literal['none', 'cone', 'epanechnikov']
    on_device: bool
    area: Literal['surface', 'disc']

class PhotonParams(TypedDict, total=False):
    method: Literal['full', 'map', 'direct', 'shadow', 'path']
    width: int
    height: int
    samples: int
    gather_rays: int
    shadow_rays: int
    seed: int
    gathering: Mapping[str, object]

class PlanesParams(TypedDict, total=False):
    directions: Literal['ball', 'grid']
    resolution_deg: float
    votes: Literal['all', 'normals']
    cone_deg: float
    bin: float
    tolerance: float
    normal_deg: float
    min_points: int
    sample: int
    suppress_deg: float
    suppress_bins: int
    max_planes: int
    greedy: bool
    whole: bool
    components: bool
    explain: bool
