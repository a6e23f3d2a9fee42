// Files of vectors as text of GeoJSON: that itself, or a GeoPackage, which a server that can do so makes GeoJSON of.
import { serverTools } from './strip.js';
import { t } from '../texts/texts.js';

const GEOPACKAGE = 'SQLite format 3';

export async function vectorsText(file) {
    if ((await file.slice(0, GEOPACKAGE.length).text()) !== GEOPACKAGE) return file.text();
    if (!(await serverTools()).includes('vectors')) throw new Error(t('maps.gpkg'));
    const answer = await fetch('vectors', { method: 'POST', body: file });
    if (answer.status === 503) throw new Error(t('save.busy'));
    if (answer.status === 413) throw new Error(t('file.large'));
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.text();
}
