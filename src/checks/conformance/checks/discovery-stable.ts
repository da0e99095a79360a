import { isDeepStrictEqual } from 'node:util';
import type { Check } from '../check.ts';
import { describe, isSuccess } from '../heard.ts';
import type { Discovered } from '../trial.ts';
import { eachOf } from '../trial.ts';

/** Number of additional, concurrent calls. */
const times = 10;

/** Handlers in a fixed order: Cluster API's own server has a random one, though the same until it restarts. */
const inOrder = ({ handlers }: Discovered) => handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));

export const check: Check = {
  id: 'discovery-stable',
  group: 'Discovery',
  level: 'must',
  asks: 'Discovery returns the same handlers every time, even when called several times at once.',
  why: 'Each discovery replaces the registered handlers: if one is missing once, all calls to it fail until the next discovery.',
  remedy: 'offer the same handlers in all replicas and at all times, even while the server starts',
  async run({ discovery, discover }, report) {
    if (!isSuccess(discovery.heard)) {
      return { because: 'Discovery gave no answer to compare with' };
    }
    const others = await eachOf(Array.from({ length: times }), times, () => discover());
    const failed = others.find(({ heard }) => !isSuccess(heard));
    if (failed !== undefined) {
      report({ message: `asked ${times} times at once, Discovery ${describe(failed.heard)}` });
    } else if (others.some((other) => !isDeepStrictEqual(inOrder(other), inOrder(discovery)))) {
      report({ message: 'the handlers are not the same each time' });
    }
    return undefined;
  },
};
