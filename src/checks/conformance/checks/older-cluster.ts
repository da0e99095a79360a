import type { Check } from '../check.ts';
import { describe, isSuccess } from '../heard.ts';
import { olderCluster } from '../sample-objects.ts';

export const check: Check = {
  id: 'older-cluster',
  group: 'Calls',
  level: 'should',
  asks: 'A v1beta1 Cluster, which releases up to 1.12 send, is accepted or refused with a Failure.',
  why: 'The hook version is the same in both cases: an extension for several releases of Cluster API gets both.',
  remedy: 'check apiVersion before decoding the spec, and read both versions',
  async run({ answering, second, call }, report) {
    const handlers = (await answering()).filter(({ request }) => request.cluster !== undefined);
    if (handlers.length === 0) {
      return { because: 'no handler that is called gets a Cluster' };
    }
    for (const handler of handlers) {
      const heard = await call(handler, { body: { ...handler.request, cluster: olderCluster } });
      if (heard.kind !== 'answer') {
        report({ handler: handler.name, message: `given a Cluster of v1beta1 it ${describe(heard)}` });
      } else if (isSuccess(await second(handler)) && !isSuccess(heard)) {
        report({
          handler: handler.name,
          message: 'refuses a Cluster of v1beta1: it works with Cluster API 1.13 and newer',
        });
      }
    }
    return undefined;
  },
};
