// A map of square pictures (z/x/y in Web Mercator) as a floor below the points.
import { BufferGeometry, Float32BufferAttribute, GLSL3, LinearFilter, Mesh, RawShaderMaterial, Texture } from 'three';

const MAX_TILES = 40;
const MAX_ZOOM = 19;
const MAX_LATITUDE = 85.05; // where the square of the map ends
const STEPS = 8; // parts of a tile's side: its edges are curves in other systems

const vertexShader = `
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
in vec3 position;
in vec2 uv;
out vec2 vUv;
void main() { vUv = uv; gl_Position = projectionMatrix * (modelViewMatrix * vec4(position, 1.0)); }`;
const fragmentShader = `
precision highp float;
uniform sampler2D uMap;
in vec2 vUv;
out vec4 fragColour;
void main() { fragColour = texture(uMap, vUv); }`;

const toTile = ([lon, lat], zoom) => {
    const phi = (Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat)) * Math.PI) / 180;
    return [((lon + 180) / 360) * 2 ** zoom, ((1 - Math.asinh(Math.tan(phi)) / Math.PI) / 2) * 2 ** zoom];
};
const fromTile = ([x, y], zoom) => [(x / 2 ** zoom) * 360 - 180, (Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / 2 ** zoom))) * 180) / Math.PI];

// The tiles that cover places [lon, lat], as finely as a few of them can: [{ zoom, x, y }].
export function tilesOver(places) {
    for (let zoom = MAX_ZOOM; zoom >= 0; zoom--) {
        const corners = places.map((p) => toTile(p, zoom).map(Math.floor));
        const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((k) => Math.max(0, Math.min(2 ** zoom - 1, f(...corners.map((c) => c[k]))))));
        const count = (high[0] - low[0] + 1) * (high[1] - low[1] + 1);
        if (count > MAX_TILES) continue;
        return Array.from({ length: count }, (_, i) => ({ zoom, x: low[0] + (i % (high[0] - low[0] + 1)), y: low[1] + Math.floor(i / (high[0] - low[0] + 1)) }));
    }
    return [];
}

// toDrawn([lon, lat]): where that is in the picture.
export function tileMesh({ zoom, x, y }, image, toDrawn) {
    const [positions, uvs, index] = [[], [], []];
    for (let j = 0; j <= STEPS; j++) {
        for (let i = 0; i <= STEPS; i++) {
            positions.push(...toDrawn(fromTile([x + i / STEPS, y + j / STEPS], zoom)));
            uvs.push(i / STEPS, j / STEPS);
            const at = j * (STEPS + 1) + i;
            if (i < STEPS && j < STEPS) index.push(at, at + 1, at + STEPS + 1, at + 1, at + STEPS + 2, at + STEPS + 1);
        }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
    geometry.setAttribute('uv', new Float32BufferAttribute(uvs, 2));
    geometry.setIndex(index);
    const map = new Texture(image);
    Object.assign(map, { flipY: false, generateMipmaps: false, minFilter: LinearFilter, needsUpdate: true });
    const mesh = new Mesh(geometry, new RawShaderMaterial({ glslVersion: GLSL3, vertexShader, fragmentShader, uniforms: { uMap: { value: map } }, side: 2 }));
    mesh.frustumCulled = false;
    return mesh;
}

export function disposeTile(mesh) {
    mesh.geometry.dispose();
    mesh.material.uniforms.uMap.value.dispose();
    mesh.material.dispose();
}
