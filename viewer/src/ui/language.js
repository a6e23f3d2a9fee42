// The switch between languages. The page is loaded anew: what is seen is in its address, marks are kept.
import { language, LANGUAGES } from '../texts/texts.js';
import { keep } from './kept.js';

export class LanguageSwitch {
    constructor() {
        const select = document.getElementById('language');
        select.append(...Object.entries(LANGUAGES).map(([code, [name]]) => new Option(name, code)));
        select.value = language;
        select.addEventListener('change', () => {
            keep('language', select.value);
            location.reload();
        });
    }
}
