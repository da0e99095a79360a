import type { Check } from '../check.ts';
import { compareVariation } from '../compare.ts';

/** Size of the padding, in bytes: a ClusterClass with many templates comes to some MiB. */
const ballastBytes = 2 * 1024 * 1024;
/** Maximum number of handlers that get a large request: a server usually has one limit for all. */
const mostHandlers = 4;

export const check: Check = {
  id: 'large-request',
  group: 'Calls',
  level: 'must',
  asks: 'A request of 2 MiB gets the same answer as a small one.',
  why: 'GeneratePatches requests contain all templates of a class, up to 20 MiB; many frameworks refuse bodies over 100 KiB.',
  remedy: "raise the limit of the body parser to 20 MiB (in Express: express.json({ limit: '20mb' }))",
  run: (trial, report) =>
    compareVariation(
      trial,
      report,
      'given 2 MiB',
      // The padding is put into the text: writing it as JSON would take most of the time of the call.
      ({ request }) => `${JSON.stringify(request).slice(0, -1)},"conformanceBallast":"${'x'.repeat(ballastBytes)}"}`,
      mostHandlers,
    ),
};
