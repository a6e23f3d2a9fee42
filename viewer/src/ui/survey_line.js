// How far a figure is that needs all points: "estimate, 1 234 of 56 789 points", with a button that stops it or goes on.
import { element } from './element.js';
import { integer } from './format.js';
import { t } from '../texts/texts.js';

function textOf({ state, done, total, error }) {
    if (state === 'failed') return t('survey.failed', { error });
    if (state === 'done') return '';
    return total > 0 ? t('survey.estimate', { done: integer(done), total: integer(total) }) : t('survey.looking');
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
            button.textContent = entry.state === 'running' ? t('page.cancel') : entry.state === 'stopped' ? t('survey.on') : t('survey.again');
        },
    };
}
