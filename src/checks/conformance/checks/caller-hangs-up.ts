import { isCallError, targetOf } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';
import { describe } from '../heard.ts';
import { hangUpWithinRequest } from '../wire.ts';

/** Number of callers that disconnect within their request, and of those that disconnect before the answer. */
const times = 5;

export const check: Check = {
  id: 'caller-hangs-up',
  group: 'Calls',
  level: 'must',
  asks: 'A caller that hangs up, during its request or before the response, does not affect the next one.',
  why: 'Cluster API hangs up when a call times out or its controller stops: a server that does not survive that is often down.',
  remedy: 'handle errors on closed requests and responses',
  async run({ extension, target, resolve, signal, discovery, discover, answering, call }, report) {
    const [handler] = await answering();
    if (isCallError(target) || discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    const { group, version, name } = handler?.hook ?? {
      group: 'hooks.runtime.cluster.x-k8s.io',
      version: 'v1alpha1',
      name: 'Discovery',
    };
    const called = targetOf(extension.clientConfig, {
      ...{ group, version, hook: name, timeoutSeconds: 10 },
      ...(handler && { handler: handler.name }),
    });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    for (let count = 0; count < times; count++) {
      if (!isCallError(called)) {
        await hangUpWithinRequest(target, called.path, resolve, limit);
      }
      await (handler === undefined ? discover({ hangUpAfterMs: 1 }) : call(handler, { hangUpAfterMs: 1 }));
    }
    const { heard } = await discover();
    if (heard.kind !== 'answer') {
      report({ message: `after ${2 * times} callers hung up, Discovery ${describe(heard)}` });
    }
    const after = handler && (await call(handler));
    if (handler !== undefined && after !== undefined && after.kind !== 'answer') {
      report({ handler: handler.name, message: `after ${2 * times} callers hung up, it ${describe(after)}` });
    }
    return undefined;
  },
};
