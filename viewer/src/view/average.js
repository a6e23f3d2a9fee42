// Close points averaged (Botsch et al. 2005, "High-quality surface splatting on today's GPUs"): a pixel gets the weighted mean
// of all points that lie near the foremost one. Three passes: the depth of the foremost points; the sum of the colours of
// those at most their own diameter behind it; the sum divided by its weight.
import { BufferGeometry, CustomBlending, DepthTexture, Float32BufferAttribute, GLSL3, HalfFloatType, Mesh, NearestFilter, NoBlending, OneFactor, OrthographicCamera, RawShaderMaterial, WebGLRenderTarget } from 'three';
import { Pass } from './point_material.js';

const vertexShader = /* glsl */ `
in vec3 position;
void main() { gl_Position = vec4(position, 1.0); }`;

const fragmentShader = /* glsl */ `
precision highp float;
uniform sampler2D uSum;
uniform sampler2D uDepth;
out vec4 fragColour;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 sum = texelFetch(uSum, at, 0);
    gl_FragDepth = texelFetch(uDepth, at, 0).r;
    fragColour = sum.a > 0.0 ? vec4(sum.rgb / sum.a, 1.0) : vec4(0.0);
}`;

export class Average {
    constructor() {
        this.target = new WebGLRenderTarget(1, 1, { minFilter: NearestFilter, magFilter: NearestFilter, type: HalfFloatType });
        this.target.depthTexture = new DepthTexture(1, 1);
        const triangle = new BufferGeometry();
        triangle.setAttribute('position', new Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3));
        this.material = new RawShaderMaterial({
            glslVersion: GLSL3, vertexShader, fragmentShader, depthTest: true, transparent: false, blending: NoBlending,
            uniforms: { uSum: { value: this.target.texture }, uDepth: { value: this.target.depthTexture } },
        });
        this.mesh = new Mesh(triangle, this.material);
        this.mesh.frustumCulled = false;
        this.camera = new OrthographicCamera();
    }

    // Whether this graphics card can add up colours.
    static isPossible(gl) {
        return Boolean(gl.getExtension('EXT_color_buffer_half_float') || gl.getExtension('EXT_color_buffer_float'));
    }

    setSize(width, height) {
        this.target.setSize(width, height);
    }

    // materials: of the points; draw(): renders them. The picture and its depth are in the present target afterwards.
    render(renderer, materials, draw) {
        const target = renderer.getRenderTarget();
        renderer.setRenderTarget(this.target);
        renderer.clear();
        const pass = (kind, changes) => {
            for (const material of materials) {
                material.uniforms.uPass.value = kind;
                Object.assign(material, changes);
            }
            draw();
        };
        pass(Pass.DEPTH, { colorWrite: false });
        pass(Pass.SUM, { colorWrite: true, depthWrite: false, blending: CustomBlending, blendSrc: OneFactor, blendDst: OneFactor, blendSrcAlpha: OneFactor, blendDstAlpha: OneFactor });
        for (const material of materials) {
            material.uniforms.uPass.value = Pass.PLAIN;
            Object.assign(material, { depthWrite: true, blending: NoBlending });
        }
        renderer.setRenderTarget(target);
        renderer.clear();
        renderer.render(this.mesh, this.camera);
    }
}
