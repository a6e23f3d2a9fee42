// Lines and dots of a map over the points, as wide on the screen wherever they are. They lie on what they are draped over, so
// nothing hides them.
import { BufferGeometry, Float32BufferAttribute, GLSL3, Mesh, RawShaderMaterial, Vector2, Vector3 } from 'three';

const WIDTH = 2.5; // pixels of CSS
const DOT = 7;
const CORNERS = [[0, -1], [1, -1], [1, 1], [0, -1], [1, 1], [0, 1]]; // of two triangles: which end, which side

const vertexShader = `
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
uniform vec2 uPixels;
uniform vec2 uWidth; // of a line, of a dot
in vec3 position;
in vec3 other;
in vec2 corner;
void main() {
    mat4 m = projectionMatrix * modelViewMatrix;
    vec4 a = m * vec4(position, 1.0);
    vec4 b = m * vec4(other, 1.0);
    float near = 1e-4; // what lies behind the eye is cut off
    if (a.w < near && b.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
    if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
    if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
    vec2 along = (b.xy / b.w - a.xy / a.w) * uPixels;
    bool isDot = position == other;
    float half_ = 0.5 * (isDot ? uWidth.y : uWidth.x);
    vec2 d = isDot || dot(along, along) == 0.0 ? vec2(1.0, 0.0) : normalize(along);
    vec2 shift = vec2(-d.y, d.x) * corner.y + (isDot ? d * (2.0 * corner.x - 1.0) : vec2(0.0));
    vec4 end = corner.x < 0.5 ? a : b;
    gl_Position = vec4(end.xy + shift * half_ * 2.0 / uPixels * end.w, end.zw);
}`;
const fragmentShader = `
precision highp float;
uniform vec3 uColour;
out vec4 fragColour;
void main() { fragColour = vec4(uColour, 1.0); }`;

export class VectorScene {
    constructor(parent) {
        this.parent = parent;
        this.meshes = [];
    }

    // layers: [{ segments: [x, y, z, x, y, z, …] as drawn, two ends each, colour: [r, g, b] of 255 }]
    set(layers) {
        for (const mesh of this.meshes) {
            mesh.geometry.dispose();
            mesh.material.dispose();
            this.parent.remove(mesh);
        }
        this.meshes = layers.map(({ segments, colour }) => {
            const [from, to, corner] = [[], [], []];
            for (let i = 0; i < segments.length; i += 6) {
                for (const c of CORNERS) {
                    from.push(segments[i], segments[i + 1], segments[i + 2]);
                    to.push(segments[i + 3], segments[i + 4], segments[i + 5]);
                    corner.push(...c);
                }
            }
            const geometry = new BufferGeometry();
            geometry.setAttribute('position', new Float32BufferAttribute(from, 3));
            geometry.setAttribute('other', new Float32BufferAttribute(to, 3));
            geometry.setAttribute('corner', new Float32BufferAttribute(corner, 2));
            const uniforms = { uColour: { value: new Vector3(...colour.map((c) => c / 255)) }, uPixels: { value: new Vector2(1, 1) }, uWidth: { value: new Vector2(WIDTH, DOT) } };
            const mesh = new Mesh(geometry, new RawShaderMaterial({ glslVersion: GLSL3, vertexShader, fragmentShader, uniforms, depthTest: false, depthWrite: false, side: 2 }));
            mesh.frustumCulled = false;
            mesh.renderOrder = 1;
            this.parent.add(mesh);
            return mesh;
        });
    }

    // width, height: of the picture in pixels; ratio: of these to those of CSS.
    resize(width, height, ratio) {
        for (const { material: { uniforms } } of this.meshes) {
            uniforms.uPixels.value.set(width, height);
            uniforms.uWidth.value.set(WIDTH * ratio, DOT * ratio);
        }
    }
}
