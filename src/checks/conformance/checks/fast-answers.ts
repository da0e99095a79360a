import type { Check } from '../check.ts';

/** How quickly patches and variables should be answered, in ms: the Runtime SDK's recommendation. */
const advisedMs = 200;
/** Latency of Discovery above which there is a warning, in ms. */
const slowDiscoveryMs = 1000;

export const check: Check = {
  id: 'fast-answers',
  group: 'Calls',
  level: 'should',
  asks: 'Patches, validations and variables are answered within 200 ms, Discovery within a second.',
  why: 'They are called in every reconcile of every Cluster, one after the other.',
  remedy: 'keep expensive work out of these handlers; note that a port-forward adds some time',
  async run({ answering, first, second, discovery, discover }, report) {
    if (discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    const asked = (await answering()).filter(({ hook }) => hook.tags.includes('Topology Mutation Hook'));
    for (const handler of asked) {
      const ms = Math.min((await first(handler)).ms, (await second(handler)).ms);
      if (ms > advisedMs) {
        report({ handler: handler.name, message: `takes ${Math.round(ms)} ms` });
      }
    }
    const ms = Math.min(discovery.heard.ms, (await discover()).heard.ms);
    if (ms > slowDiscoveryMs) {
      report({ message: `Discovery takes ${Math.round(ms)} ms` });
    }
    return undefined;
  },
};
