// The nodes as three.js objects: made when a node arrives, shown when the selection says so.
import { BufferAttribute, BufferGeometry, Group, Points, Sphere } from 'three';
import { pointMaterial, Sizing, Source, visibleEntry, visibleTexture } from './point_material.js';

const MAX_RATIO = 8; // of a data set that is one node

// A leaf holds what is left, often fewer points than its level promises: how far apart they really are, as a
// multiple of the nominal spacing, if they lie on a surface. (A few strays may be all that a leaf holds: hence the bound.)
// Inner nodes are sampled as promised.
function realSpacingRatio(node) {
    if (node.children || !node.payload) return 1;
    if (node.spacingRatio === undefined) {
        const { min, max } = node.payload.box;
        const [a, b] = max.map((m, i) => m - min[i]).sort((x, y) => y - x);
        const real = Math.sqrt((a * Math.max(b, node.spacing)) / node.numPoints);
        node.spacingRatio = Math.max(0.5, Math.min(node.parent ? 2.5 : MAX_RATIO, real / node.spacing || 1));
    }
    return node.spacingRatio;
}

// Puts an array on a geometry under a name, or takes away what is there where there is no array.
function setAttribute(geometry, name, values) {
    const present = geometry.getAttribute(name);
    if (!values) {
        if (present) geometry.deleteAttribute(name);
    } else if (present?.array !== values) {
        geometry.setAttribute(name, new BufferAttribute(values, 1));
    }
}

const MAX_NODES = 1e7; // of a frame
const SCALARS = ['scalar', 'scalarY', 'scalarZ'];

export class PointScene {
    constructor() {
        this.group = new Group();
        this.group.matrixAutoUpdate = false;
        this.material = pointMaterial();
        this.objects = new Map(); // node -> Points
        this.drawn = [];
        this.source = Source.PLAIN;
        this.channels = []; // one, or the three of a normal
        this.filter = null; // a PointFilter
        this.spacing = null; // between the points drawn, where cells of the octree do not say it
    }

    get uniforms() {
        return this.material.uniforms;
    }

    // Calls render() while there is one point, outside the picture: for what is to be made before the first node arrives.
    withPoint(render) {
        const geometry = new BufferGeometry();
        geometry.setAttribute('position', new BufferAttribute(new Float32Array([0, 0, 1e9]), 3));
        const point = new Points(geometry, this.material);
        point.frustumCulled = false;
        this.group.add(point);
        render();
        this.group.remove(point);
        geometry.dispose();
    }

    addNode(node) {
        let points = this.objects.get(node);
        if (!points) this.objects.set(node, (points = this.createObject(node)));
        this.attachChannel(points);
    }

    createObject(node) {
        const geometry = new BufferGeometry();
        const { position, rgb } = node.payload;
        geometry.setAttribute('position', new BufferAttribute(position, 3));
        geometry.boundingSphere = new Sphere(); // three.js would look through all points for an order that renderOrder gives
        if (rgb) geometry.setAttribute('rgb', new BufferAttribute(rgb, 4, true));
        const points = new Points(geometry, this.material);
        points.frustumCulled = false; // the traversal has done it
        points.matrixAutoUpdate = false;
        points.matrix.makeTranslation(...node.min);
        points.matrixWorld.copy(points.matrix);
        points.visible = false;
        points.userData = { node, index: -1 };
        points.onBeforeRender = () => this.setNodeUniforms(points);
        this.group.add(points);
        return points;
    }

    removeNode(node) {
        const points = this.objects.get(node);
        if (!points) return;
        points.geometry.dispose();
        this.group.remove(points);
        this.objects.delete(node);
    }

    // Gives a node the array of the present channel; the previous one leaves the graphics card.
    attachChannel(points) {
        const { scalars } = points.userData.node.payload;
        SCALARS.forEach((name, i) => setAttribute(points.geometry, name, this.channels[i] && scalars.get(this.channels[i].key)?.values));
    }

    // The flags of hidden points are on the graphics card only while there are such.
    attachMask(points) {
        const mask = this.filter?.maskOf(points.userData.node);
        setAttribute(points.geometry, 'hidden', mask && mask.shown < mask.flags.length ? mask.flags : null);
    }

    // source: one of Source; channels: for Source.SCALAR and Source.NORMAL.
    setSource(source, channels) {
        this.source = source;
        this.channels = channels;
        if (source === Source.NORMAL) this.uniforms.uNormalBase.value.set(...channels.map(({ base }) => base));
        for (const points of this.objects.values()) this.attachChannel(points);
    }

    setNodeUniforms(points) {
        const { node, index } = points.userData;
        const u = this.uniforms;
        const lacksChannel = this.channels.some((_, i) => !points.geometry.getAttribute(SCALARS[i]));
        u.uSource.value = lacksChannel ? Source.PLAIN : this.source;
        u.uNodeBase.value = 0;
        if (this.source === Source.HEIGHT) u.uNodeBase.value = u.uUp.value.dot({ x: node.min[0], y: node.min[1], z: node.min[2] });
        if (this.source === Source.LEVEL) u.uNodeBase.value = node.level;
        u.uFilter.value = Boolean(points.geometry.getAttribute('hidden'));
        u.uSpacing.value = this.spacing ?? (index < 0 ? node.spacing * realSpacingRatio(node) : node.spacing);
        u.uNodeSize.value.set(...node.size);
        u.uNodeIndex.value = index;
        this.material.uniformsNeedUpdate = true;
    }

    // Shows exactly these nodes. order: of the cloud among others; spacing: between all points drawn, or null where each node's own is right.
    show(nodes, { additive, spacing = null, order = 0 }) {
        this.spacing = spacing;
        for (const points of this.drawn) points.visible = false;
        this.drawn = nodes.map((node) => this.objects.get(node)).filter(Boolean);
        this.drawn.forEach((points, i) => {
            points.visible = true;
            points.renderOrder = order * MAX_NODES + i; // of points at the same depth the last one is seen: the same one for the same view
            points.userData.index = -1;
            this.attachMask(points);
        });
        if (additive && spacing === null && this.uniforms.uSizing.value === Sizing.adaptive) this.indexVisible();
    }

    countDrawn() {
        return this.drawn.reduce((sum, points) => sum + points.userData.node.numPoints, 0);
    }

    // Fills uVisible. A node counts as drawn for the point size if it or something below it is drawn.
    indexVisible() {
        const drawn = new Map(this.drawn.map((points) => [points.userData.node, points]));
        const needed = new Set();
        for (const node of drawn.keys()) {
            for (let n = node; n && !needed.has(n); n = n.parent) needed.add(n);
        }
        const order = [...needed].filter((node) => !node.parent);
        const entries = [];
        for (let i = 0; i < order.length; i++) {
            const node = order[i];
            const firstChild = order.length;
            let mask = 0;
            for (let c = 0; c < 8 && node.children; c++) {
                if (!needed.has(node.children[c])) continue;
                mask |= 1 << c;
                order.push(node.children[c]);
            }
            entries.push(visibleEntry(firstChild, mask, mask === 0 ? realSpacingRatio(node) : 1));
            const points = drawn.get(node);
            if (points) points.userData.index = i;
        }
        this.uploadVisible(entries);
    }

    uploadVisible(entries) {
        let texture = this.uniforms.uVisible.value;
        const { width } = texture.image;
        const rows = Math.max(1, Math.ceil(entries.length / width));
        if (texture.image.height < rows) {
            texture.dispose();
            texture = visibleTexture(2 * rows);
            this.uniforms.uVisible.value = texture;
        }
        texture.image.data.set(entries);
        texture.needsUpdate = true;
    }
}
