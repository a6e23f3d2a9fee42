// window.mote: the viewer for tests and for pages that embed it. See docs/viewer_reference.md.
import { limited } from './view/settings.js';
import { UP_AXES } from './view/up_axis.js';
import { figuresOf } from './measure/figures.js';
import { drawnMetres, SHOWN_UNITS, unitName } from './measure/units.js';

function choose(words, word) {
    if (!Object.hasOwn(words, word)) throw new Error(`no unit "${word}"; there are ${Object.keys(words).join(', ')}`);
    return word;
}

// A profile is measured while its plot is open.
function figuresFor(viewer, mark) {
    const entry = mark.kind === 'volume' ? viewer.survey.of(mark) : viewer.survey.entries.get(mark.id);
    const { state = 'done', done, total, error, result } = entry ?? {};
    const figures = mark.kind === 'volume' ? result : { ...figuresOf(viewer, mark), ...(result ? { points: result.points } : {}) };
    return { id: mark.id, kind: mark.kind, state, done, total, error, figures: structuredClone(figures), unit: unitName(drawnMetres(viewer.space, viewer.settings.coordinates)) };
}

export function createApi(viewer, ready, { address, tour }) {
    return {
        ready,
        stats: () => viewer.stats(),
        metadata: () => {
            const { name, points, scheme, encoding, projection, box, flags, isLonLat } = viewer.dataset.meta;
            return { name, points, scheme, encoding, projection, flags, isLonLat, isSample: viewer.dataset.making !== null, box: structuredClone(box) };
        },
        idle: () => viewer.idle(),
        fit: () => viewer.fit(true),
        // The address of what is seen now.
        link: () => address.link(),
        // The tour through the saved views as a .zip file of pictures: so many from each view to the next.
        saveTour: (frames) => tour.save(frames),
        get colorModes() {
            return viewer.modes.map((mode) => mode.name);
        },
        get colorMode() {
            return viewer.mode?.name ?? null;
        },
        setColorMode: (name) => viewer.setMode(name),
        setRange: (range) => viewer.setRange(range),
        setPointBudget: (budget) => viewer.configure({ budget: limited('budget', budget) }),
        setMaxError: (maxError) => viewer.configure({ maxError: limited('maxError', maxError) }),
        // sizing: 'adaptive' (or true), 'distance' or 'fixed' (or false).
        setPointSize: (pointSize, sizing = viewer.settings.sizing) =>
            viewer.configure({ pointSize: limited('pointSize', pointSize), sizing: { true: 'adaptive', false: 'fixed' }[sizing] ?? sizing }),
        setAveraged: (averaged) => viewer.configure({ averaged: Boolean(averaged) }),
        setEyeDome: (strength) => viewer.configure({ eyeDome: limited('eyeDome', strength) }),
        setBoundingBox: (on) => viewer.configure({ boundingBox: Boolean(on) }),
        // 'z', 'y', '-y', 'x', '-x' or '-z': the axis of the data that points up.
        setUp: (up) => {
            if (!UP_AXES.includes(up)) throw new Error(`no axis "${up}"; there are ${UP_AXES.join(', ')}`);
            viewer.configure({ up });
        },
        // Codes of the classes that are neither drawn nor picked nor counted.
        get hiddenClasses() {
            return [...viewer.filter.hidden];
        },
        hideClasses: (codes) => viewer.hideClasses(codes),
        // { name of a colour mode: [low, high] }: only points in all these ranges are shown.
        get filters() {
            return Object.fromEntries([...viewer.filter.ranges].map(([name, { range }]) => [name, [...range]]));
        },
        setFilter: (name, range) => viewer.setFilter(name, range),
        // 'first', 'last', 'only', 'between' or null.
        setReturns: (returns) => viewer.setReturns(returns),
        get clouds() {
            return viewer.clouds.map((cloud) => ({
                name: cloud.dataset.meta.name, points: cloud.dataset.meta.sourcePoints, shown: cloud.isShown, active: cloud === viewer.active, colorMode: cloud.mode.name,
            }));
        },
        addCloud: async (url) => void (await viewer.add(new URL(url, location.href).href)),
        showCloud: (index, shown) => viewer.showCloud(viewer.clouds[index], Boolean(shown)),
        activateCloud: (index) => viewer.activate(viewer.clouds[index]),
        // 'additive' or 'replacing': how the levels are combined, whatever metadata.json says.
        setScheme: (scheme) => {
            if (scheme !== 'additive' && scheme !== 'replacing') throw new Error(`no scheme "${scheme}"`);
            viewer.active.scheme = scheme;
            viewer.invalidate();
        },
        // { target: [x, y, z] in world coordinates, yaw, pitch: radians, distance }
        get camera() {
            const state = viewer.camera.get();
            return { ...state, target: viewer.toWorld(state.target) };
        },
        set camera(state) {
            viewer.camera.set({ ...state, target: state.target && viewer.toLocal(state.target) });
            viewer.invalidate();
        },
        // Where a point of the data set is in the picture, in CSS pixels of the canvas; null behind the eye.
        project: (point) => viewer.onScreen(viewer.toLocal(point)),
        // What was measured and noted, as it is written in an address.
        get marks() {
            return structuredClone(viewer.marks.list);
        },
        // Figures of the marks, as they are: [{ id, kind, state: 'done' once all points are read, done, total, figures, unit }].
        get figures() {
            return viewer.marks.list.map((mark) => figuresFor(viewer, mark));
        },
        // 'file', 'm', 'ft' or 'us-ft': what figures are shown in.
        setUnits: (units) => viewer.configure({ units: choose(SHOWN_UNITS, units) }),
        // The same words: what the coordinates count in, where the file does not say it.
        setCoordinates: (coordinates) => viewer.configure({ coordinates: choose(SHOWN_UNITS, coordinates) }),
        on: (type, listener) => viewer.addEventListener(type, (event) => listener(event.detail)),
    };
}
