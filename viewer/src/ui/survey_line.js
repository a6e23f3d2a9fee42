// How far a figure is that needs all points: "estimate, 1 234 of 56 789 points", with a button that stops it or goes on.
import { element } from './element.js';
import { integer } from './format.js';

function textOf({ state, done, total, error }) {
    if (state === 'failed') return `Not measured: ${error}`;
    if (state === 'done') return '';
    return total > 0 ? `estimate, ${integer(done)} of ${integer(total)} points` : 'estimate, looking for points';
}

// Returns { line, show(mark) }. id: of the mark
export function surveyLine(survey, id) {
    const text = element('span');
    const button = element('button');
    const line = element('p', { className: 'survey', hidden: true }, text, button);
    line.setAttribute('role', 'status');
    button.addEventListener('click', () => (survey.entries.get(id)?.state === 'running' ? survey.stop(id) : survey.again(id)));
    return {
        line,
        show(mark) {
            const entry = survey.of(mark);
            line.hidden = entry.state === 'done';
            text.textContent = textOf(entry);
            button.textContent = entry.state === 'running' ? 'Cancel' : entry.state === 'stopped' ? 'Go on' : 'Try again';
        },
    };
}
