import { type Json, type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import type { Release } from '../../runtimehooks/index.ts';
import {
  type CallHook,
  type HookAnswer,
  type HookCall,
  isMade,
  NotKnown,
  type Plan,
  plan,
  World,
} from '../../topology/index.ts';
import type { Hiding } from './hidden.ts';

interface RecordedAnswer {
  hook: string;
  handler: string;
  /** `default/f1`: the Cluster or ClusterClass. */
  object: string;
  /** Where the items of a request of GeneratePatches are held; their uids change from call to call. */
  items: { uid: string; holder: string }[];
  response: JsonObject;
}

export interface Recording {
  objects: JsonObject[];
  answers: RecordedAnswer[];
}

const holderOf = (item: JsonObject): string =>
  JSON.stringify(['kind', 'namespace', 'name', 'fieldPath'].map((field) => textAt(item, 'holderReference', field)));

const itemsIn = (request: JsonObject) =>
  objectsAt(request, 'items').map((item) => ({ uid: textAt(item, 'uid'), holder: holderOf(item) }));

const objectOf = ({ object }: HookCall) => `${object.namespace}/${object.name}`;

/** What users wrote, for a recording: Secrets, and what runs on machines, are replaced before extensions see them. */
export const recordedObjects = (objects: readonly JsonObject[], hiding: Hiding): JsonObject[] =>
  objects
    .filter((object) => !isMade(object) && object.kind !== 'Secret')
    .map(({ status: _status, ...object }) => hiding.object(object));

export function recordingCalls(call: CallHook): { call: CallHook; readonly answers: RecordedAnswer[] } {
  const answers = new Map<string, RecordedAnswer>();
  return {
    async call(one) {
      const answer = await call(one);
      if (answer.is === 'answered') {
        const { hook, handler, request } = one;
        const recorded = { hook, handler, object: objectOf(one), items: itemsIn(request), response: answer.response };
        answers.set(JSON.stringify([hook, handler, recorded.object]), recorded);
      }
      return answer;
    },
    get answers() {
      return [...answers.values()];
    },
  };
}

/** Answers calls with what was recorded. `ask` asks the new release after the change; undefined for a handler that it lacks. */
export function recordedCalls(
  answers: readonly RecordedAnswer[],
  ask: (call: HookCall) => Promise<HookAnswer> | undefined,
): CallHook {
  const byCall = new Map(answers.map((one) => [JSON.stringify([one.hook, one.handler, one.object]), one]));
  return async (call): Promise<HookAnswer> => {
    const asked = call.state === 'after' ? ask(call) : undefined;
    if (asked !== undefined) {
      return asked;
    }
    const recorded = byCall.get(JSON.stringify([call.hook, call.handler, objectOf(call)]));
    if (recorded === undefined) {
      throw new NotKnown(`the record has no answer of ${call.handler || call.hook} for ${objectOf(call)}`, {
        remedy: 'record it again with --record',
      });
    }
    const uids = new Map(itemsIn(call.request).map(({ uid, holder }) => [holder, uid]));
    const holders = new Map(recorded.items.map(({ uid, holder }) => [uid, holder]));
    const items = objectsAt(recorded.response, 'items').map(
      (item): Json => ({ ...item, uid: uids.get(holders.get(textAt(item, 'uid')) ?? '') ?? textAt(item, 'uid') }),
    );
    const response = recorded.items.length === 0 ? recorded.response : { ...recorded.response, items };
    return { is: 'answered', response, handler: call.handler };
  };
}

/** The plan of another release of an extension for a recording. `call`: as `ask` of `recordedCalls`. */
export function planRecorded(
  { objects, answers }: Recording,
  call: (call: HookCall) => Promise<HookAnswer> | undefined,
  options: { clusterApiVersion?: Release | undefined; now: Date; signal: AbortSignal },
): Promise<Plan> {
  const state = new World(objects, { call: recordedCalls(answers, call) });
  return plan(state, state, options);
}
