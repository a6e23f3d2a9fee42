// All attributes of one point, as the file has them.
import { className } from '../view/palettes.js';
import { element } from './element.js';
import { channelText, crsName, namedCoordinates } from './format.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);

const LINE_MAX = 20; // characters that stand beside a name; longer values have a line of their own

// Rows of a list of names and values.
export const lines = (list) => list.flatMap(([name, text]) => [element('dt', { textContent: name }), element('dd', { textContent: text, className: text.length > LINE_MAX ? 'wide' : '' })]);

// A number without the digits that float32 columns add.
const exact = ({ type }, v) => (type === 'float' ? String(Number(Math.fround(v).toPrecision(8))) : String(Number(v.toPrecision(15))));

export class PointCard {
    constructor() {
        this.shown = 0;
        $('card-close').addEventListener('click', () => this.hide());
    }

    hide() {
        $('card').hidden = true;
    }

    async show({ node, index, point }) {
        const { cloud } = node;
        const { meta } = cloud.dataset;
        const turn = ++this.shown; // a later point overtakes an earlier one that is still being read
        const place = [
            ...namedCoordinates(cloud.toSource(point), meta, cloud.settings.coordinates).map((c, i) => ['xyz'[i], c]),
            [t('card.system'), crsName(meta.projection)],
        ];
        $('card').hidden = false;
        $('card-list').replaceChildren(...lines(place));
        let attributes = [];
        try {
            attributes = (await cloud.attributesOf(node, index)).map(({ key, channel, value }) => [key, this.text(channel, value)]);
        } catch (error) {
            attributes = [[t('card.attributes'), error.message]];
        }
        if (turn === this.shown) $('card-list').replaceChildren(...lines([...place, ...attributes, [t('card.level'), String(node.level)]]));
    }

    text(channel, value) {
        if (channel.isClass) return `${value} ${className(value)}`;
        if (channel.noData !== null && Number.isNaN(value)) return t('card.none');
        const text = Number.isFinite(value) ? exact(channel, value) : String(value);
        if (channel.time) return `${text} (${channelText(channel, value, 1)})`;
        return `${text}${channel.unit ?? ''}`;
    }
}
