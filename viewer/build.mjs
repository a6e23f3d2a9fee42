// Builds viewer/dist: node build.mjs [--watch] [--out DIR]
import { execFileSync } from 'node:child_process';
import { build, context } from 'esbuild';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import en from './src/texts/en.js';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const argument = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : null);
const out = resolve(argument('--out') ?? join(here, 'dist'));

const common = {
    absWorkingDir: here,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    charset: 'utf8', // as modules are read in any case; letters beyond ASCII would take twice the bytes
    legalComments: 'linked', // the licences of bundled code stand beside it
    outdir: out,
    logLevel: 'warning',
};
// The worker is split, so that the WebAssembly glue is only loaded by browsers that have no brotli of their own.
// three.js from its sources, so that what is not used is left out; of its own shaders nothing is used, all are the page's.
// Its renderer asks for these by itself: there are neither goggles, lights, shadows, materials but the page's own nor pictures that
// things mirror.
const LIGHTS = ['sun', 'directional', 'point', 'spot', 'spotLightMap', 'rectArea', 'hemi', 'sunShadowMap', 'directionalShadowMap', 'pointShadowMap', 'spotShadowMap'];
const LEFT_OUT = {
    WebGLLights: `export function WebGLLights() {
        return { setup() {}, setupView() {}, state: { version: 0, ${LIGHTS.map((name) => `${name}: [], `).join('')}numSpotLightShadowsWithMaps: 0, numLightProbes: 0 } };
    }`,
    WebGLMaterials: 'export function WebGLMaterials() { return { refreshMaterialUniforms(_, material) { material.uniformsNeedUpdate = false; } }; }',
    WebGLOutput: 'export class WebGLOutput {}',
    WebXRManager: `import { EventDispatcher } from '../../core/EventDispatcher.js';
        export class WebXRManager extends EventDispatcher { enabled = false; isPresenting = false; setAnimationLoop() {} getEnvironmentBlendMode() {} dispose() {} }`,
    WebGLShadowMap: 'export class WebGLShadowMap { enabled = false; render() {} }',
    WebGLEnvironments: 'export class WebGLEnvironments { get() { return null; } dispose() {} }',
};
const three = {
    name: 'three',
    setup(build) {
        const source = join(here, 'node_modules/three/src');
        build.onResolve({ filter: /^three$/ }, () => ({ path: join(source, 'Three.js'), sideEffects: false }));
        build.onLoad({ filter: /three.src.renderers.shaders.Shader(Chunk|Lib).[^/]*\.glsl\.js$/ }, async ({ path }) => ({
            contents: (await readFile(path, 'utf8')).replace(/`[^`]*`/g, '``'),
        }));
        build.onLoad({ filter: /three.src.renderers.web(xr|gl).(WebXRManager|WebGL(Lights|Materials|Output|ShadowMap|Environments))\.js$/ }, ({ path }) => ({
            contents: LEFT_OUT[/(\w+)\.js$/.exec(path)[1]], resolveDir: dirname(path),
        }));
        // Scenes are neither written nor read as JSON.
        build.onLoad({ filter: /three.src.(cameras|core|materials|objects|scenes|textures).\w+\.js$/ }, async ({ path }) => ({
            contents: (await readFile(path, 'utf8')).replace(/\n\t(to|from)JSON\([^)]*\) \{\n[^]*?\n\t\}\n/g, '\n'),
        }));
        // Its warnings tell whoever writes a page of what is out of date; errors stay.
        build.onLoad({ filter: /three.src.utils\.js$/ }, async ({ path }) => ({
            contents: (await readFile(path, 'utf8')).replace(/\nfunction (log|warn|warnOnce)\([^)]*\) \{\n[^]*?\n\}\n/g, '\nfunction $1() {}\n'),
        }));
        build.onLoad({ filter: /three.src.renderers.shaders.DFGLUTData\.js$/ }, () => ({ contents: 'export const getDFGLUT = () => null; export class DFGLUTData {}' }));
    },
};
// Of the other languages the texts alone, in the order of the English ones, whose keys they share.
const languages = {
    name: 'languages',
    setup(build) {
        build.onLoad({ filter: /src.texts.[a-z]{2}\.js$/ }, async ({ path }) => {
            if (/en\.js$/.test(path)) return null;
            const { default: own } = await import(pathToFileURL(path).href);
            return { contents: `export default ${JSON.stringify(Object.keys(en).map((key) => own[key] ?? 0))};` };
        });
    },
};
const pages = { name: 'pages', setup: (build) => build.onEnd(({ metafile }) => metafile && writePages(metafile)) };
const page = { ...common, plugins: [three, languages, pages], splitting: true, chunkNames: 'chunk-[name]-[hash]', metafile: true, entryPoints: { boot: 'src/boot.js', app: 'src/main.js', live: 'src/live/main.js', projections: 'src/projections.js' } };
const worker = { ...common, entryPoints: { worker: 'src/worker.js' }, splitting: true, chunkNames: 'chunk-[name]' };
const style = { ...common, entryPoints: { app: 'src/app.css' } };

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const head = await readFile(join(here, 'src/head.html'), 'utf8'); // what both pages begin with
const index = await readFile(join(here, 'src/index.html'), 'utf8');
const [marks] = /  <section id="marks-section"[^]*?<\/section>\n/.exec(index); // what both pages have of their panels
// Elements name their texts; the English ones are there before any script is.
const escaped = (key) => en[key].replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const inEnglish = (html) => html.replace(/<[^>]* data-t="([^"]+)"[^>]*>/g, (all, key) => all + escaped(key));
// What the scripts of a page import is asked for with them, not when they have arrived. made: what esbuild says of its outputs.
const importsOf = (name, made) => made[name].imports.filter(({ kind }) => kind === 'import-statement').flatMap(({ path }) => [path, ...importsOf(path, made)]);
function preloads(text, { outputs }) {
    const made = Object.fromEntries(Object.entries(outputs).map(([path, output]) => [basename(path), { imports: output.imports.map((i) => ({ ...i, path: basename(i.path) })) }]));
    const scripts = [...text.matchAll(/<script type="module" src="([^"]+)">/g)].map(([, name]) => name);
    return [...new Set(scripts.flatMap((name) => importsOf(name, made)))].map((name) => `<link rel="modulepreload" href="${name}">\n`).join('');
}
async function writePages(metafile) {
    for (const page of ['index.html', 'live.html']) {
        const text = await readFile(join(here, 'src', page), 'utf8');
        const parts = { 'head.html': head + preloads(text, metafile), 'marks of index.html': marks };
        const whole = inEnglish(text.replace(/ *<!-- ([a-z. ]+) -->\n/g, (_, name) => parts[name]));
        await writeFile(join(out, page), whole.replace(/\n\s+/g, '\n'));
    }
}
const wasm = createRequire(import.meta.url).resolve('brotli-dec-wasm/web/bg.wasm');
await copyFile(wasm, join(out, 'brotli.wasm'));
await copyFile(join(here, 'node_modules/brotli-dec-wasm/LICENSE-MIT.txt'), join(out, 'brotli.wasm.LICENSE.txt'));

await copyFile(join(here, 'node_modules/proj4/LICENSE.md'), join(out, 'projections.LICENSE.txt'));

// C of the library and of the command. Freestanding: there is no C library, and what would need one is left out when linking.
// As one piece, which leaves more out. SMALL: what is asked once a data set. EVEN: as fast as -O2, by volumes and profiles of
// 500,000 points, and 8 KB less.
const [SMALL, EVEN] = ['-Oz', '-Os'].map((level) => [level, '-flto']);
function buildWasm(name, folder, files, optimize = ['-O2']) {
    const flags = ['--target=wasm32', ...optimize, '-std=c17', '-ffp-contract=off', '-mbulk-memory', '-ffreestanding', '-nostdlib', '-ffunction-sections', '-fdata-sections'];
    const includes = ['wasm/include', '../src', '../include', '../cli'].map((path) => `-I${join(here, path)}`);
    const linking = ['--no-entry', '--gc-sections', '--strip-all', '--allow-undefined'].map((flag) => `-Wl,${flag}`);
    const sources = [join(here, `wasm/page_${name}.c`), ...files.map((file) => join(here, '..', folder, file))];
    execFileSync('clang', [...flags, ...includes, ...linking, '-o', join(out, `${name}.wasm`), ...sources], { stdio: ['ignore', 'inherit', 'pipe'] });
}
try {
    buildWasm('laz', 'src/io/laz', ['layered', 'layers', 'model', 'schema'].map((part) => `laz_${part}.c`)); // the decoder
    buildWasm('measure', 'src', ['shapes/shape_list.c', 'shapes/region.c', ...['area', 'polygon_grid', 'profile_line', 'volume_grid', 'volume_surface'].map((part) => `measure/${part}.c`)], EVEN);
    buildWasm('up', 'cli/render', ['up_rule.c'], SMALL);
    buildWasm('units', 'src/io', [...['cloud_units', 'code_units', 'crs_codes', 'geo_units', 'unit_table', 'wkt', 'wkt_units'].map((part) => `crs/${part}.c`), 'las/las_crs.c', 'las/las_format.c'], SMALL);
} catch (error) {
    console.warn(`without COPC, volumes, profiles and units of files that mote did not write, and with z up in all clouds: laz.wasm, measure.wasm, up.wasm and units.wasm need clang and wasm-ld (Debian: clang lld). ${error.stderr ?? error.message}`);
}

if (process.argv.includes('--watch')) {
    for (const options of [page, worker, style]) await (await context(options)).watch();
} else {
    await Promise.all([page, worker, style].map((options) => build(options)));
    console.log(`built ${out}`);
}
