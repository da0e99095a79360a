import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type JsonObject, objectsAt, textAt } from '../../src/kubernetes/index.ts';
import { type CallHook, type HookAnswer, layered, NotKnown, type Plan, plan, World } from '../../src/topology/index.ts';

/** A change of a real Cluster API. */
export interface RecordedChange {
  name: string;
  before: JsonObject[];
  after: JsonObject[];
  /** By group: verdict and counts. */
  expected: Record<string, { verdict: string; machines: { before: number; after: number; replaced: number } }>;
  /** `TopologyReconciled`'s message: empty if it is True. */
  condition: string;
  exchanges: { hook: string; request: JsonObject; response: JsonObject }[];
}

const folder = new URL('../support/fixtures/plan/', import.meta.url);

/** The recorded changes, by name; each is read when it is used. */
export const recordedChanges: readonly RecordedChange[] = readdirSync(folder)
  .filter((file) => file.endsWith('.json.gz'))
  .sort()
  .map((file) => {
    type Recorded = RecordedChange & { result: { TopologyReconciled: string } };
    let read: Recorded | undefined;
    const recorded = () => {
      read ??= JSON.parse(gunzipSync(readFileSync(new URL(file, folder))).toString()) as Recorded;
      return read;
    };
    return {
      name: file.replace('.json.gz', ''),
      get before() {
        return recorded().before;
      },
      get after() {
        return recorded().after;
      },
      // Recorded as unchanged is also what Cluster API did not come to, because it stopped.
      get expected() {
        const { expected, result } = recorded();
        return result.TopologyReconciled === ''
          ? expected
          : Object.fromEntries(
              Object.entries(expected).map(([group, plan]) => [
                group,
                plan.verdict === 'unchanged' ? { ...plan, verdict: 'stopped' } : plan,
              ]),
            );
      },
      get condition() {
        return recorded().result.TopologyReconciled;
      },
      get exchanges() {
        return recorded().exchanges ?? [];
      },
    };
  });

/** What identifies an item of GeneratePatches in every request. */
const holderOf = (item: JsonObject) =>
  `${textAt(item, 'holderReference', 'kind')} ${textAt(item, 'holderReference', 'name')} ${textAt(item, 'holderReference', 'fieldPath')}`;

/** Answers with what the extension answered last, with the uids of the request. */
export function answerFrom({ exchanges }: RecordedChange): CallHook {
  return async ({ hook, handler, request }): Promise<HookAnswer> => {
    const recorded = exchanges.filter((exchange) => exchange.hook === hook.toLowerCase());
    const last = recorded.at(-1);
    if (last === undefined) {
      throw new NotKnown(`${hook} was not recorded`, { remedy: 'record it' });
    }
    if (hook === 'GeneratePatches') {
      if (last.response.status === 'Failure') {
        const error = `failed to call extension handler ${JSON.stringify(handler)}: got failure response, please check controller logs for errors`;
        return { is: 'failed', error };
      }
      const holders = new Map(objectsAt(last.request, 'items').map((item) => [item.uid, holderOf(item)]));
      const uids = new Map(objectsAt(request, 'items').map((item) => [holderOf(item), item.uid]));
      const items = objectsAt(last.response, 'items').flatMap((item) => {
        const uid = uids.get(holders.get(item.uid) ?? '');
        return uid === undefined ? [] : [{ ...item, uid }];
      });
      return { is: 'answered', handler, response: { ...last.response, items } };
    }
    const nameOf = (message: JsonObject) =>
      textAt(message, 'current', 'machine', 'metadata', 'name') ||
      textAt(message, 'current', 'machineSet', 'metadata', 'name');
    const same = recorded.findLast((exchange) => nameOf(exchange.request) === nameOf(request)) ?? last;
    return { is: 'answered', handler: 'updater', response: same.response };
  };
}

/** The plan of a recorded change, from its objects before and what a user wrote. */
export function planOf(change: RecordedChange): Promise<Plan> {
  const { before, after, exchanges, name } = change;
  const parts = exchanges.length > 0 ? { call: answerFrom(change) } : {};
  return plan(new World(before, parts), new World(layered(before, after), parts), {
    clusterApiVersion: { major: 1, minor: 13 },
    now: new Date('2026-11-24T12:00:00Z'),
    updatesInPlace: name.startsWith('I'),
  });
}

/** The groups of a plan as recordings have them. */
export const groupsOf = ({ clusters }: Plan): RecordedChange['expected'] =>
  Object.fromEntries(
    clusters.flatMap(({ groups }) =>
      groups.map(({ group, verdict, machines }) => {
        const { before, after, replaced } = machines;
        return [group, { verdict, machines: { before, after, replaced } }] as const;
      }),
    ),
  );
