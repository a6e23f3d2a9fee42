// three.js around the points: the canvas, the camera's matrices, boxes and one frame.
import {
    BufferGeometry, Color, Float32BufferAttribute, GLSL3, LineSegments, PerspectiveCamera, RawShaderMaterial, Scene, Vector3, WebGLRenderer,
} from 'three';
import { PointScene } from './point_scene.js';
import { Average } from './average.js';
import { EyeDome } from './eye_dome.js';
import { VectorScene } from './vector_scene.js';

const MAX_PIXEL_RATIO = 2;
const MAX_SIDE = 8192; // of a picture as a file: 256 MB, and as much again for its depth
const MAX_FRAME_MS = 2000; // after this the fence is not waited for any more

const lineMaterial = (colour) => new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: `
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
in vec3 position;
void main() { gl_Position = projectionMatrix * (modelViewMatrix * vec4(position, 1.0)); }`,
    fragmentShader: `
precision highp float;
uniform vec3 uColour;
out vec4 fragColour;
void main() { fragColour = vec4(uColour, 1.0); }`,
    uniforms: { uColour: { value: new Vector3(...colour) } },
});

// The 12 edges of a box as pairs of corners.
function boxEdges(min, max) {
    const corner = (i) => [i & 1 ? max[0] : min[0], i & 2 ? max[1] : min[1], i & 4 ? max[2] : min[2]];
    const out = [];
    for (let i = 0; i < 8; i++) {
        for (const bit of [1, 2, 4]) if (!(i & bit)) out.push(...corner(i), ...corner(i | bit));
    }
    return out;
}

export class Renderer {
    constructor(canvas) {
        [canvas.width, canvas.height] = [canvas.clientWidth, canvas.clientHeight].map((length) => Math.floor(length * this.pixelRatio())); // not twice
        this.gl = new WebGLRenderer({ canvas, alpha: true, antialias: false, powerPreference: 'high-performance' });
        this.gl.autoClear = false;
        this.gl.setClearColor(new Color(0), 0);
        this.camera = new PerspectiveCamera();
        this.camera.matrixAutoUpdate = false;
        this.clouds = []; // a PointScene of each
        this.scene = new Scene();
        this.overlay = new Scene();
        this.eyeDome = null; // made at first use
        this.eyeDomeStrength = 0;
        this.average = null; // made at first use as well
        this.isAveraged = false;
        this.boxes = new LineSegments(new BufferGeometry(), lineMaterial([0x6f / 255, 0xb3 / 255, 1]));
        this.boxes.frustumCulled = false;
        this.boxes.visible = false;
        this.overlay.add(this.boxes);
        this.vectors = new VectorScene(this.overlay);
        this.floor = []; // tiles of a map
        this.width = 1;
        this.height = 1;
        this.fence = null;
        this.frameStart = 0;
        this.framePoints = 0; // drawn in the last finished frame
        this.frameMs = 0; // from the first command of a frame until the graphics card is through with it
    }

    // The ratio of the screen that the page is on now.
    pixelRatio() {
        return Math.min(window.devicePixelRatio || 1, MAX_PIXEL_RATIO);
    }

    // The longest side of a picture.
    get maxSide() {
        const gl = this.gl.getContext();
        return Math.min(gl.getParameter(gl.MAX_RENDERBUFFER_SIZE), MAX_SIDE, ...gl.getParameter(gl.MAX_VIEWPORT_DIMS));
    }

    // width and height are in CSS pixels.
    resize(width, height, ratio = this.pixelRatio()) {
        this.gl.setPixelRatio(ratio);
        this.gl.setSize(width, height, false);
        this.width = width;
        this.height = height;
        this.eyeDome?.setSize(...this.bufferSize());
        this.average?.setSize(...this.bufferSize());
    }

    bufferSize() {
        const ratio = this.gl.getPixelRatio();
        return [Math.floor(this.width * ratio), Math.floor(this.height * ratio)];
    }

    setBoxes(boxes) {
        const lines = boxes.flatMap((box) => boxEdges(box.min, box.max));
        this.boxes.geometry.dispose();
        this.boxes.geometry = new BufferGeometry();
        this.boxes.geometry.setAttribute('position', new Float32BufferAttribute(lines, 3));
        this.boxes.visible = lines.length > 0;
    }

    // tiles: meshes that lie below the points.
    setFloor(tiles) {
        this.overlay.remove(...this.floor);
        this.floor = tiles;
        if (tiles.length > 0) this.overlay.add(...tiles);
    }

    placeCamera(view, box) {
        const { right, up, forward } = view.axes();
        const eye = view.position();
        const { near, far } = view.depthRange(box);
        const camera = this.camera;
        camera.fov = (view.fovY * 180) / Math.PI;
        camera.aspect = view.aspect;
        camera.near = near;
        camera.far = far;
        camera.updateProjectionMatrix();
        if (view.isOrthographic) {
            const [x, y] = [view.halfHeight * view.aspect, view.halfHeight];
            camera.projectionMatrix.makeOrthographic(-x, x, y, -y, near, far);
            camera.projectionMatrixInverse.copy(camera.projectionMatrix).invert();
        }
        camera.matrix.set(
            right[0], up[0], -forward[0], eye[0],
            right[1], up[1], -forward[1], eye[1],
            right[2], up[2], -forward[2], eye[2],
            0, 0, 0, 1);
        camera.matrixWorld.copy(camera.matrix);
        camera.matrixWorldInverse.copy(camera.matrixWorld).invert();
    }

    newPoints() {
        const points = new PointScene();
        this.clouds.push(points);
        this.scene.add(points.group);
        return points;
    }

    removePoints(points) {
        this.scene.remove(points.group);
        this.clouds = this.clouds.filter((p) => p !== points);
        points.material.dispose();
    }

    // The graphics card begins to compile the shaders of the points, for which nothing waits yet.
    compile() {
        this.clouds[0].withPoint(() => this.gl.compile(this.scene, this.camera));
        if (this.eyeDomeStrength > 0) this.withEyeDome().compile(this.gl);
    }

    // Draws one point outside the picture, so that the first node finds all of the graphics card's work done but its own. What is
    // asked of a program waits for all that was drawn before: both are asked first.
    warmUp() {
        for (const material of [this.clouds[0].material, this.eyeDome?.material]) if (material) this.gl.properties.get(material).currentProgram?.getUniforms();
        this.clouds[0].withPoint(() => this.drawShaded(0));
    }

    // Whether the graphics card has finished the last frame.
    isDone() {
        if (!this.fence) return true;
        const gl = this.gl.getContext();
        const late = performance.now() - this.frameStart > MAX_FRAME_MS;
        if (!late && !gl.isContextLost() && gl.getSyncParameter(this.fence, gl.SYNC_STATUS) !== gl.SIGNALED) return false;
        gl.deleteSync(this.fence);
        this.fence = null;
        this.frameMs = performance.now() - this.frameStart;
        this.framePoints = this.clouds.reduce((sum, points) => sum + points.countDrawn(), 0);
        return true;
    }

    setFence() {
        const gl = this.gl.getContext();
        if (this.fence) gl.deleteSync(this.fence);
        this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        gl.flush();
    }

    // Into the present target.
    drawPoints() {
        const render = () => this.gl.render(this.scene, this.camera);
        if (!this.isAveraged || !Average.isPossible(this.gl.getContext())) {
            this.gl.clear();
            return render();
        }
        if (!this.average) {
            this.average = new Average();
            this.average.setSize(...this.bufferSize());
        }
        this.average.render(this.gl, this.clouds.map(({ material }) => material), render);
    }

    withEyeDome() {
        if (!this.eyeDome) {
            this.eyeDome = new EyeDome();
            this.eyeDome.setSize(...this.bufferSize());
        }
        return this.eyeDome;
    }

    // parallel: the distance of the target where rays are parallel, else 0.
    drawShaded(parallel) {
        const drawPoints = () => this.drawPoints();
        if (this.eyeDomeStrength > 0) {
            this.withEyeDome().render(this.gl, this.camera, this.eyeDomeStrength, parallel, drawPoints);
        } else {
            this.gl.setRenderTarget(null);
            drawPoints();
        }
    }

    // view: an OrbitCamera; box: what the depth range must hold.
    draw(view, box) {
        this.frameStart = performance.now();
        this.placeCamera(view, box);
        for (const { uniforms } of this.clouds) {
            uniforms.uParallel.value = view.isOrthographic;
            uniforms.uPixelsPerRadian.value = this.bufferSize()[1] / (2 * (view.isOrthographic ? view.halfHeight : Math.tan(view.fovY / 2)));
        }
        this.drawShaded(view.isOrthographic ? view.distance : 0);
        this.vectors.resize(...this.bufferSize(), this.gl.getPixelRatio());
        if (this.boxes.visible || this.floor.length > 0 || this.vectors.meshes.length > 0) this.gl.render(this.overlay, this.camera);
        this.setFence();
    }
}
