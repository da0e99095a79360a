import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, itemsAt, type JsonObject } from '../../../kubernetes/index.ts';
import type { Check } from '../check.ts';
import { describe, isSuccess } from '../heard.ts';
import { patchesByPlace } from '../patches.ts';

/** The request as in the next reconcile: with other uids, and another order of workers and of fields in variables. */
function asNextTime(request: JsonObject): JsonObject {
  const items = itemsAt(request, 'items');
  return {
    ...request,
    items: items.map((item) => (isJsonObject(item) ? { ...item, uid: randomUUID() } : item)).reverse(),
  };
}

export const check: Check = {
  id: 'patches-deterministic',
  group: 'Patches',
  level: 'must',
  asks: 'The same templates get the same patches, whatever their uids and their order in the request.',
  why: 'Different patches create new templates: Cluster API replaces the machines of a Cluster again and again.',
  remedy: 'sort everything that comes from maps, and use no times, random numbers, counters or uids',
  async run({ answering, first, call }, report) {
    const handlers = (await answering()).filter(({ hook }) => hook.name === 'GeneratePatches');
    if (handlers.length === 0) {
      return { because: 'no handler of GeneratePatches answers' };
    }
    for (const handler of handlers) {
      const heard = await first(handler);
      if (!isSuccess(heard)) {
        continue;
      }
      const expected = patchesByPlace(handler.request, heard.response);
      for (let round = 0; round < 3; round++) {
        const request = asNextTime(handler.request);
        const again = await call(handler, { body: request });
        if (!isSuccess(again)) {
          report({ handler: handler.name, message: `with other uids it ${describe(again)}` });
          break;
        }
        if (!isDeepStrictEqual(patchesByPlace(request, again.response), expected)) {
          report({ handler: handler.name, message: 'with other uids, in another order, the patches differ' });
          break;
        }
      }
    }
    return undefined;
  },
};
