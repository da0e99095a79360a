import { isDeepStrictEqual } from 'node:util';
import type { Check } from '../check.ts';
import { describe, isSuccess } from '../heard.ts';
import type { Discovered } from '../trial.ts';
import { eachOf } from '../trial.ts';

/** Number of further, simultaneous calls. */
const times = 10;

/** Handlers in a fixed order: that of Cluster API's own server is random, though the same until it restarts. */
const inOrder = ({ handlers }: Discovered) => handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));

export const check: Check = {
  id: 'discovery-stable',
  group: 'Discovery',
  level: 'must',
  asks: 'Discovery answers the same handlers every time, also when asked several times at once.',
  why: 'Each discovery replaces the registered handlers: one that is missing once fails all calls until the next one.',
  remedy: 'offer the same handlers in all replicas and at all times, also while the server starts',
  async run({ discovery, discover }, report) {
    if (!isSuccess(discovery.heard)) {
      return { because: 'Discovery has no answer that could be compared' };
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
