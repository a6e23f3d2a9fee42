// A bare page around npm's potree-core, a reader that others wrote: does it draw what mote writes?
import { Box3, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from 'three';
import { PointColorType, PointSizeType, Potree } from 'potree-core';

const STABLE_MS = 400; // nothing new for this long: loaded
const MOST_MS = 40000; // points count as visible before they are decoded: look until they show, or so long

// rest: where nearly all points are, if a few others stretch the box.
window.show = async (url, hasRgb, minLit, rest) => {
    const enough = (points) => Math.min(minLit, points / 4);
    const renderer = new WebGLRenderer({ canvas: document.querySelector('canvas'), preserveDrawingBuffer: true });
    renderer.setSize(800, 600);
    renderer.setClearColor(0x4080c0); // clouds without rgb are drawn black
    const scene = new Scene();
    const potree = new Potree();
    potree.pointBudget = 5e6;
    const cloud = await potree.loadPointCloud('metadata.json', url);
    const { material } = cloud;
    material.inputColorEncoding = material.outputColorEncoding = 1; // else colours pass through a gamma twice
    material.pointSizeType = PointSizeType.FIXED;
    material.size = 2;
    material.pointColorType = hasRgb ? PointColorType.RGB : PointColorType.LOD;
    cloud.minNodePixelSize = 1;
    scene.add(cloud);
    scene.updateMatrixWorld(true);
    const own = (cloud.pcoGeometry.tightBoundingBox ?? cloud.pcoGeometry.boundingBox).clone().applyMatrix4(cloud.matrixWorld);
    const box = rest ? new Box3(new Vector3(...rest.min), new Vector3(...rest.max)) : own;
    const centre = box.min.clone().add(box.max).multiplyScalar(0.5);
    const size = Math.max(box.max.distanceTo(box.min), 1);
    const camera = new PerspectiveCamera(50, 800 / 600, size / 1000, size * 10);
    camera.up.set(0, 0, 1);
    camera.position.set(centre.x - size * 0.5, centre.y - size * 0.9, centre.z + size * 0.7);
    camera.lookAt(centre);
    camera.updateMatrixWorld(true);
    const start = performance.now();
    let last = -1;
    let since = start;
    for (;;) {
        potree.updatePointClouds([cloud], camera, renderer);
        renderer.render(scene, camera);
        const now = performance.now();
        if (cloud.numVisiblePoints !== last) since = now;
        last = cloud.numVisiblePoints;
        if (last > 0 && now - since >= STABLE_MS) {
            const lit = countLit(renderer.getContext());
            if (lit >= enough(last) || now - start > MOST_MS) return { points: last, lit };
            since = now;
        }
        await new Promise((next) => setTimeout(next, 30));
    }
};

function countLit(gl) {
    const pixels = new Uint8Array(800 * 600 * 4);
    gl.readPixels(0, 0, 800, 600, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    // The corner shows what the clear colour came out as.
    const isClear = (i) => [0, 1, 2].every((c) => Math.abs(pixels[i + c] - pixels[c]) <= 1);
    let lit = 0;
    for (let i = 0; i < pixels.length; i += 4) lit += !isClear(i);
    return lit;
}
