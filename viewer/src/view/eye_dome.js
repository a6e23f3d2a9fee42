// Eye-dome lighting (Boucheny 2009): darkens a pixel by how far it lies behind its neighbours, so that shapes
// show without normals or light. One pass over the picture, from the depth buffer.
import {
    BufferGeometry, DepthTexture, Float32BufferAttribute, GLSL3, Mesh, NearestFilter, OrthographicCamera,
    RawShaderMaterial, Vector2, WebGLRenderTarget,
} from 'three';

const vertexShader = /* glsl */ `
in vec3 position;
void main() { gl_Position = vec4(position, 1.0); }`;

const fragmentShader = /* glsl */ `
precision highp float;
uniform sampler2D uColour;
uniform sampler2D uDepth;
uniform vec2 uPlanes; // near, far
uniform float uParallel; // where rays are parallel: the distance whose logarithm changes as depth does there; else 0
uniform float uStrength;
uniform int uRadius;
out vec4 fragColour;
float logDepth(float d) {
    if (uParallel > 0.0) return d * (uPlanes.y - uPlanes.x) / (uParallel * log(2.0));
    return log2(uPlanes.x * uPlanes.y / (uPlanes.y - d * (uPlanes.y - uPlanes.x)));
}
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    ivec2 last = textureSize(uDepth, 0) - 1;
    vec4 colour = texelFetch(uColour, at, 0);
    float raw = texelFetch(uDepth, at, 0).r;
    gl_FragDepth = raw; // of the background as well: what is drawn afterwards is tested against it
    if (colour.a == 0.0) { fragColour = vec4(0.0); return; }
    float depth = logDepth(raw);
    float sum = 0.0;
    for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++) {
        float other = texelFetch(uDepth, clamp(at + ivec2(x, y) * uRadius, ivec2(0), last), 0).r;
        if (other < 1.0) sum += max(0.0, depth - logDepth(other));
    }
    fragColour = vec4(colour.rgb * exp(-sum * uStrength), 1.0);
}`;

export class EyeDome {
    constructor() {
        this.target = new WebGLRenderTarget(1, 1, { minFilter: NearestFilter, magFilter: NearestFilter });
        this.target.depthTexture = new DepthTexture(1, 1);
        this.material = new RawShaderMaterial({
            glslVersion: GLSL3,
            vertexShader,
            fragmentShader,
            depthTest: true,
            transparent: false,
            uniforms: {
                uColour: { value: this.target.texture },
                uDepth: { value: this.target.depthTexture },
                uPlanes: { value: new Vector2(1, 2) },
                uParallel: { value: 0 },
                uStrength: { value: 1 },
                uRadius: { value: 1 },
            },
        });
        const triangle = new BufferGeometry();
        triangle.setAttribute('position', new Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3));
        this.mesh = new Mesh(triangle, this.material);
        this.mesh.frustumCulled = false;
        this.camera = new OrthographicCamera();
    }

    setSize(width, height) {
        this.target.setSize(width, height);
    }

    compile(renderer) {
        renderer.compile(this.mesh, this.camera);
    }

    // draw: renders the points; afterwards the shaded picture and its depth are on the screen.
    // parallel: the distance of the target where rays are parallel, else 0.
    render(renderer, camera, strength, parallel, draw) {
        renderer.setRenderTarget(this.target);
        draw();
        renderer.setRenderTarget(null);
        const u = this.material.uniforms;
        u.uPlanes.value.set(camera.near, camera.far);
        u.uStrength.value = strength;
        u.uParallel.value = parallel;
        u.uRadius.value = Math.max(1, Math.round(renderer.getPixelRatio()));
        renderer.clear();
        renderer.render(this.mesh, this.camera);
    }
}
