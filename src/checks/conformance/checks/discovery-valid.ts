import type { Check } from '../check.ts';
import { discoveryProblem } from '../heard.ts';

export const check: Check = {
  id: 'discovery-valid',
  group: 'Discovery',
  level: 'must',
  asks: 'Discovery returns only handlers that Cluster API accepts.',
  why: 'A single invalid handler makes Cluster API refuse the whole extension.',
  remedy:
    'if nothing answers, start the server (from outside the cluster, use a port-forward and --resolve); if handlers are invalid, correct them: "discover" explains each problem',
  async run({ discovery: { heard, problems } }, report) {
    const problem = discoveryProblem(heard);
    if (problem !== undefined) {
      report({ message: problem });
    }
    for (const { handler, message } of problems) {
      report({ ...(handler === '' ? {} : { handler }), message });
    }
    return undefined;
  },
};
