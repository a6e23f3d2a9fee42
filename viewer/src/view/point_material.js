// The one material of all points. What differs from node to node is set just before the node is drawn.
import {
    DataTexture, GLSL3, NearestFilter, RawShaderMaterial, RedIntegerFormat, UnsignedIntType, Vector2, Vector3,
} from 'three';
import { TONE_GLSL } from './tone.js';

export const Source = Object.freeze({ RGB: 0, HEIGHT: 1, SCALAR: 2, LEVEL: 3, PLAIN: 4, NORMAL: 5 });
export const Sizing = Object.freeze({ fixed: 0, distance: 1, adaptive: 2 });
// The passes of a frame in which close points are averaged: see average.js.
export const Pass = Object.freeze({ PLAIN: 0, DEPTH: 1, SUM: 2 });

const VISIBLE_WIDTH = 256;
const RATIO_STEPS = 32; // per octave
const SQUARE_PIXELS = '3.5'; // so small, discs would leave the pixels at their corners open

// The entry of one node; see localSpacing() below.
export function visibleEntry(firstChild, mask, spacingRatio) {
    const code = Math.max(0, Math.min(255, Math.round(128 + RATIO_STEPS * Math.log2(spacingRatio))));
    return ((firstChild & 0xffff) * 65536 + code * 256 + mask) >>> 0;
}


const vertexShader = /* glsl */ `
precision highp float;
precision highp int;
precision highp usampler2D;
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
uniform int uSource;
uniform vec2 uMap;          // value -> palette coordinate: v * x + y
uniform float uNodeBase;    // added to height or scalar; the level itself
uniform vec3 uUp;           // height = dot(position, uUp) + uNodeBase
uniform bool uLabels;       // values are names: the palette starts again after its end, and below 0 there is no thing
uniform bool uFilter;       // whether points of the node are hidden: those whose flag is 1
uniform float uSpacing;     // of the node, in world units
uniform vec3 uNodeSize;
uniform int uNodeIndex;     // in uVisible, or -1
uniform usampler2D uVisible;
uniform int uSizing;
uniform float uPixelSize;   // fixed: pixels; by distance: units of length; adaptive: times the spacing
uniform int uPass;
uniform float uPixelsPerRadian; // where rays are parallel: per unit of length
uniform bool uParallel;
uniform vec2 uSizeLimits;
uniform sampler2D uPalette;
in vec3 position;
in vec4 rgb;
in float scalar;
in float scalarY;           // with scalar and scalarZ a normal
in float scalarZ;
uniform vec3 uNormalBase;
in float hidden;
out vec3 vColour;
out float vDiameter;

int bitsBelow(uint mask, int octant) {
    uint m = mask & ((1u << octant) - 1u);
    m = m - ((m >> 1) & 0x55u);
    m = (m & 0x33u) + ((m >> 2) & 0x33u);
    return int((m + (m >> 4)) & 0x0fu);
}

// The spacing of the finest drawn node around this point: coarse points shrink where finer levels add to them.
// An entry holds the index of the first drawn child (16 bits), the logarithm of the ratio between the node's
// real and nominal spacing (8 bits) and the mask of drawn children (8 bits).
float localSpacing() {
    if (uNodeIndex < 0) return uSpacing;
    float spacing = uSpacing;
    int index = uNodeIndex;
    uint entry = 0u;
    vec3 corner = vec3(0.0);
    vec3 size = uNodeSize * 0.5;
    for (int i = 0; i < 24; i++) {
        entry = texelFetch(uVisible, ivec2(index % ${VISIBLE_WIDTH}, index / ${VISIBLE_WIDTH}), 0).r;
        uint mask = entry & 255u;
        bvec3 upper = greaterThanEqual(position, corner + size);
        int octant = (upper.x ? 4 : 0) + (upper.y ? 2 : 0) + (upper.z ? 1 : 0);
        if ((mask & (1u << octant)) == 0u) break;
        index = int(entry >> 16) + bitsBelow(mask, octant);
        corner += vec3(upper) * size;
        size *= 0.5;
        spacing *= 0.5;
    }
    return spacing * exp2((float((entry >> 8) & 255u) - 128.0) / ${RATIO_STEPS}.0);
}

const vec3 PLAIN = vec3(0.55, 0.6, 0.66);

${TONE_GLSL}

vec3 colour() {
    if (uSource == ${Source.RGB}) return tone(rgb.rgb);
    if (uSource == ${Source.NORMAL}) {
        vec3 n = vec3(scalar, scalarY, scalarZ) + uNormalBase;
        return dot(n, n) > 0.0 && scalar < 3.3e38 ? 0.5 + 0.5 * normalize(n) : PLAIN;
    }
    if (uSource == ${Source.PLAIN}) return PLAIN;
    if (uSource == ${Source.SCALAR} && scalar > 3.3e38) return PLAIN; // NO_VALUE
    float value = uNodeBase;
    if (uSource == ${Source.HEIGHT}) value += dot(position, uUp);
    if (uSource == ${Source.SCALAR}) value += scalar;
    float at = value * uMap.x + uMap.y;
    if (uLabels && at < 0.0) return PLAIN;
    return texture(uPalette, vec2(uLabels ? fract(at) : clamp(at, 0.001, 0.999), 0.5)).rgb;
}

void main() {
    vec4 eye = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * eye;
    vColour = colour();
    float size = uPixelSize;
    float pixelsPerUnit = uPixelsPerRadian / (uParallel ? 1.0 : max(-eye.z, 1e-6));
    if (uSizing == ${Sizing.adaptive}) size *= localSpacing();
    if (uSizing != ${Sizing.fixed}) size *= pixelsPerUnit;
    if (uSizing == ${Sizing.adaptive} && size < ${SQUARE_PIXELS}) size = ceil(size); // less than whole pixels leave pinholes
    gl_PointSize = vDiameter = clamp(size, uSizeLimits.x, uSizeLimits.y);
    if (uPass == ${Pass.SUM}) { // as much nearer as the point is large: it counts where the foremost one is not farther before it
        float nearer = vDiameter / pixelsPerUnit;
        vec3 moved = uParallel ? eye.xyz + vec3(0.0, 0.0, nearer) : eye.xyz * (1.0 - min(0.5, nearer / max(-eye.z, 1e-6)));
        gl_Position = projectionMatrix * vec4(moved, 1.0);
        gl_Position.z = max(gl_Position.z, -gl_Position.w); // not before the near plane, which lies close to the points
    }
    if (uFilter && hidden > 0.5) gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // outside the clip volume
}`;

const fragmentShader = /* glsl */ `
precision highp float;
precision highp int;
in vec3 vColour;
in float vDiameter;
uniform int uPass;
out vec4 fragColour;
void main() {
    float weight = 1.0;
    if (vDiameter > ${SQUARE_PIXELS}) {
        vec2 p = gl_PointCoord - 0.5;
        if (dot(p, p) > 0.25) discard;
        weight = 1.02 - 4.0 * dot(p, p);
    }
    fragColour = uPass == ${Pass.SUM} ? vec4(vColour * weight, weight) : vec4(vColour, 1.0);
}`;

export function paletteTexture() {
    const texture = new DataTexture(new Uint8Array(256 * 4), 256, 1);
    texture.magFilter = texture.minFilter = NearestFilter;
    texture.needsUpdate = true;
    return texture;
}

// One entry for each drawn node, in breadth-first order.
export function visibleTexture(rows) {
    const texture = new DataTexture(new Uint32Array(VISIBLE_WIDTH * rows), VISIBLE_WIDTH, rows, RedIntegerFormat, UnsignedIntType);
    texture.internalFormat = 'R32UI';
    texture.unpackAlignment = 4;
    texture.needsUpdate = true; // a texture that was never filled would not match its sampler
    return texture;
}

export function pointMaterial() {
    const uniform = (value) => ({ value });
    return new RawShaderMaterial({
        glslVersion: GLSL3,
        vertexShader,
        fragmentShader,
        uniforms: {
            uSource: uniform(Source.PLAIN),
            uMap: uniform(new Vector2(1, 0)),
            uNodeBase: uniform(0),
            uUp: uniform(new Vector3(0, 0, 1)),
            uLabels: uniform(false),
            uFilter: uniform(false),
            uSpacing: uniform(1),
            uNodeSize: uniform(new Vector3(1, 1, 1)),
            uNodeIndex: uniform(-1),
            uVisible: uniform(visibleTexture(1)),
            uSizing: uniform(Sizing.adaptive),
            uPass: uniform(Pass.PLAIN),
            uTone: uniform(new Vector3(0, 0, 1)),
            uNormalBase: uniform(new Vector3()),
            uPixelSize: uniform(1),
            uPixelsPerRadian: uniform(1),
            uParallel: uniform(false),
            uSizeLimits: uniform(new Vector2(1, 64)),
            uPalette: uniform(paletteTexture()),
        },
    });
}
