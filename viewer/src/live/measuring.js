// Tools and marks over live pictures: those of the page, except what needs all points here.
import { Marks } from '../measure/marks.js';
import { Survey } from '../measure/survey.js';
import { MarksFiles } from '../ui/marks_files.js';
import { MarksPanel } from '../ui/marks_panel.js';
import { Overlay } from '../ui/overlay.js';
import { Tools, TOOLS } from '../ui/tools.js';
import { isMeasurable } from './measurable.js';

const $ = (id) => document.getElementById(id);
const NO_VIEWS = { list: [], merge: () => 0 }; // nothing is saved of a live picture but its address
const WITHOUT = new Set(['volume', 'profile', 'clip']);

export const LIVE_TOOLS = TOOLS.filter(([kind]) => !WITHOUT.has(kind));

// status { say(text), unsay(text), error(text) }; tell(message): shows the attributes of a point as the server told them. Returns the tools.
export function startMeasuring(view, status, tell) {
    const marks = (view.marks = new Marks());
    view.survey = new Survey(view); // areas; no mark needs its points
    const tools = new Tools(view, marks, status);
    for (const kind of WITHOUT) tools.buttons.get(kind).remove();
    const overlay = new Overlay($('overlay'), view, marks, () => tools.draft());
    tools.redraw = () => overlay.later();
    const show = async (mark, hit) => {
        const at = view.onScreen(mark.points[0]);
        const found = hit ?? (at && (await view.find(...at)));
        if (found) tell(found.told);
    };
    const panel = new MarksPanel(view, marks, overlay, status, { open: (mark) => (mark.kind === 'plane' ? tools.measureOver(mark) : show(mark, null)) });
    new MarksFiles(view, marks, overlay, NO_VIEWS, status).tell = () => {}; // addresses of live pictures have no marks
    tools.made = (mark, hit) => {
        if (mark.kind === 'point') show(mark, hit);
        if (mark.kind === 'note') panel.rows.get(mark.id)?.text.focus();
    };
    view.addEventListener('scene', () => {
        const { meta } = view.dataset ?? {};
        $('tools').hidden = $('marks-section').hidden = !meta || !isMeasurable(meta);
    });
    return { marks, tools };
}
