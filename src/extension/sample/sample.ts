import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { BlockingAnswers } from '../sdk/handlers/answer.ts';
import type { Handler } from '../sdk/handlers/handler.ts';
import { createHostedExtension, type ExtensionServer, type HostedExtensionOptions } from '../sdk/server.ts';
import type { Behaviours } from './behaviour.ts';
import { handlers } from './work.ts';

interface SampleOptions extends Omit<HostedExtensionOptions, 'handlers'> {
  behaviours?: Behaviours;
}

/** The Clusters that were called last are remembered. */
const remembered = { maxSize: 10_000, sizeCalculation: () => 1 };

function behaving(handler: Handler, behaviours: Behaviours): Handler {
  const behaviour = behaviours.get(handler.name);
  if (behaviour === undefined) {
    return handler;
  }
  const { hang, delaySeconds, fail, block } = behaviour;
  const [failures, blocks] = [new LRUCache<string, number>(remembered), new LRUCache<string, number>(remembered)];
  const hasTurn = (counts: typeof failures, cluster: string, times: number | undefined) => {
    if (times === undefined) {
      return true;
    }
    const count = (counts.get(cluster) ?? 0) + 1;
    counts.set(cluster, count);
    return count <= times;
  };
  return {
    ...handler,
    async handle(request, context) {
      const { answer, signal, cluster = '' } = context;
      if (hang === true) {
        return new Promise(() => {});
      }
      if (delaySeconds !== undefined) {
        await sleep(delaySeconds * 1000, undefined, { signal });
      }
      if (fail !== undefined && hasTurn(failures, cluster, fail.times)) {
        return answer.fail(fail.message);
      }
      if (block !== undefined && 'retry' in answer && hasTurn(blocks, cluster, block.times)) {
        return (answer as BlockingAnswers<unknown>).retry(block.retryAfterSeconds, block.message);
      }
      return handler.handle(request, context);
    },
  };
}

/** Creates the sample extension: a handler for each hook, which behaves as configured. */
export function createSampleExtension({ behaviours = new Map(), ...options }: SampleOptions = {}): ExtensionServer {
  return createHostedExtension({ ...options, handlers: handlers.map((handler) => behaving(handler, behaviours)) });
}
