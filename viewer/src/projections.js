// Proj4js with the projections that scans come in, as a file of its own: it is fetched when coordinates are first to be
// turned into longitude and latitude.
import proj4 from './../node_modules/proj4/lib/core.js';
import Proj from './../node_modules/proj4/lib/Proj.js';
import aea from './../node_modules/proj4/lib/projections/aea.js';
import cass from './../node_modules/proj4/lib/projections/cass.js';
import etmerc from './../node_modules/proj4/lib/projections/etmerc.js';
import krovak from './../node_modules/proj4/lib/projections/krovak.js';
import laea from './../node_modules/proj4/lib/projections/laea.js';
import lcc from './../node_modules/proj4/lib/projections/lcc.js';
import nzmg from './../node_modules/proj4/lib/projections/nzmg.js';
import omerc from './../node_modules/proj4/lib/projections/omerc.js';
import somerc from './../node_modules/proj4/lib/projections/somerc.js';
import stere from './../node_modules/proj4/lib/projections/stere.js';
import sterea from './../node_modules/proj4/lib/projections/sterea.js';
import tmerc from './../node_modules/proj4/lib/projections/tmerc.js';
import utm from './../node_modules/proj4/lib/projections/utm.js';

for (const projection of [aea, cass, etmerc, krovak, laea, lcc, nzmg, omerc, somerc, stere, sterea, tmerc, utm]) Proj.projections.add(projection);

export { proj4, Proj };
