import { createHash } from 'node:crypto';
import type { UpdateMachineRequest, UpdateMachineResponse } from '../../../runtimehooks/index.ts';
import { type Answer, responseIn } from '../handlers/answer.ts';
import { type Handler, type HandlerContext, handler } from '../handlers/handler.ts';
import { defineInPlaceChanges, type InPlaceChanges, type KnownFields, type UpdatableFields } from './in-place.ts';

export interface MachineUpdate {
  /** The same for the same machine and the same desired state: at most 63 lower-case letters, digits and hyphens. */
  key: string;
  desired: UpdateMachineRequest['desired'];
}

/** A node's report of an update. */
export type MachineUpdateState =
  /** Nobody has begun it. */
  | { state: 'none' }
  | { state: 'running' }
  /** Users read the message: a stable text without secrets. */
  | { state: 'failed'; message: string }
  | { state: 'done' };

/** One of the ways in which an extension updates Machines. The signal of its functions is aborted at the end of a call. */
export interface InPlaceUpdater {
  /** The same in all releases of the extension: nodes remember updates by it. */
  readonly name: string;
  /** The fields whose changes it can make, as for `defineInPlaceChanges`. */
  readonly covers: UpdatableFields;
  /** Whether a Machine is unavailable meanwhile; if not, Cluster API makes no other Machine first. Default: true. */
  readonly affectsAvailability?: boolean | undefined;
  /** Asks the node, which remembers: the extension may have been restarted, or another replica may have begun. */
  look(update: MachineUpdate, signal: AbortSignal): Promise<MachineUpdateState>;
  /** Makes the node begin the work, which goes on without the extension. May be called again for the same key. */
  begin(update: MachineUpdate, signal: AbortSignal): Promise<void>;
  /** The kubelet's version as the Node reports it; undefined while not known. Without it, `look` decides alone. */
  kubeletVersion?(update: MachineUpdate, signal: AbortSignal): Promise<string | undefined>;
}

/** Options of `machines.inPlace`. */
export interface InPlaceOptions {
  /** The fields of providers' kinds, which `template-types` writes: paths that they do not have are refused. */
  knownFields?: KnownFields | undefined;
  /** After how many seconds Cluster API asks again while a Machine is updated. Default: 10. */
  retryAfterSeconds?: number | undefined;
}

const maxNameLength = 40;

function keyOf({ machine }: UpdateMachineRequest['desired'], state: readonly unknown[]): string {
  const { namespace, name = '' } = machine.metadata ?? {};
  const hash = createHash('sha256')
    .update(JSON.stringify([namespace, name, ...state]))
    .digest('hex')
    .slice(0, 16);
  return `${name.slice(0, maxNameLength).replaceAll(/[^a-z0-9-]/g, '-')}-${hash}`;
}

/** Begins the work if nobody has, and blocks until the kubelet has the version. Work that failed is a Failure, and begins anew. */
async function answerUpdate(
  update: MachineUpdate,
  { answer, log, signal }: HandlerContext<UpdateMachineResponse>,
  updater: InPlaceUpdater,
  retryAfterSeconds: number,
): Promise<Answer<UpdateMachineResponse>> {
  const progress = await updater.look(update, signal);
  if (progress.state === 'none' || progress.state === 'failed') {
    log.info({ update: update.key }, 'update begins');
    await updater.begin(update, signal);
  }
  if (progress.state === 'failed') {
    return answer.fail(progress.message);
  }
  if (progress.state === 'none' || progress.state === 'running') {
    return answer.retry(retryAfterSeconds, 'the machine is being updated');
  }
  if (progress.state !== 'done') {
    // It may come from an agent: to wait for it would be forever.
    const state = JSON.stringify((progress as { state?: unknown }).state);
    throw new TypeError(`look returned the state ${state}: it must be none, running, failed or done`);
  }
  const { version } = update.desired.machine.spec;
  const isDone = version === undefined || updater.kubeletVersion === undefined;
  return isDone || version === (await updater.kubeletVersion?.(update, signal))
    ? answer.done()
    : answer.retry(retryAfterSeconds, `the kubelet does not report ${version} yet`);
}

function allCovered(updaters: readonly InPlaceUpdater[]): UpdatableFields {
  const byKind = (name: 'infrastructureMachine' | 'bootstrapConfig') => {
    const paths = updaters.flatMap(({ covers }) => Object.entries(covers[name] ?? {}));
    const kinds = Map.groupBy(paths, ([kind]) => kind);
    return Object.fromEntries([...kinds].map(([kind, lists]) => [kind, lists.flatMap(([, list]) => list)]));
  };
  return {
    machine: updaters.flatMap(({ covers }) => covers.machine ?? []),
    infrastructureMachine: byKind('infrastructureMachine'),
    bootstrapConfig: byKind('bootstrapConfig'),
  };
}

/**
 * The handlers of updates in place, `can-update-machine`, `can-update-machine-set` and `update-machine`, of several updaters,
 * which update a Machine one after the other: Cluster API takes one handler of each hook.
 *
 * ```ts
 * createExtensionServer({ handlers: [...machines.inPlace([files, kubelet]), …] })
 * ```
 *
 * @throws {TypeError} for fields as `defineInPlaceChanges`, and for updaters without a name of their own.
 */
function inPlace(
  updaters: readonly InPlaceUpdater[],
  options: InPlaceOptions = {},
): [Handler<'CanUpdateMachine'>, Handler<'CanUpdateMachineSet'>, Handler<'UpdateMachine'>] {
  const { knownFields, retryAfterSeconds = 10 } = options;
  const names = updaters.map(({ name }) => name);
  if (names.length === 0 || names.some((name, index) => !name || names.indexOf(name) !== index)) {
    throw new TypeError(`updaters: each needs a name of its own, and these are [${names.join(', ')}]`);
  }
  const all = defineInPlaceChanges(allCovered(updaters), knownFields);
  const parts = updaters.map((updater) => ({ updater, changes: defineInPlaceChanges(updater.covers, knownFields) }));
  function answerOf<Patches extends object>(patchesOf: (changes: InPlaceChanges) => Patches) {
    const needed = parts.filter(({ changes }) => Object.keys(patchesOf(changes)).length > 0);
    const isHarmless = needed.length > 0 && needed.every(({ updater }) => updater.affectsAvailability === false);
    return { ...patchesOf(all), ...(isHarmless && { affectsAvailability: false }) };
  }
  return [
    handler('CanUpdateMachine', {
      name: 'can-update-machine',
      handle: (request, { answer }) => answer.done(answerOf((changes) => changes.machinePatches(request))),
    }),
    handler('CanUpdateMachineSet', {
      name: 'can-update-machine-set',
      handle: (request, { answer }) => answer.done(answerOf((changes) => changes.machineSetPatches(request))),
    }),
    handler('UpdateMachine', {
      name: 'update-machine',
      async handle({ desired }, context) {
        for (const { updater, changes } of parts) {
          const key = keyOf(desired, [updater.name, ...changes.desiredValues(desired)]);
          const answer = await answerUpdate({ key, desired }, context, updater, retryAfterSeconds);
          const { status, retryAfterSeconds: seconds } = responseIn(answer) ?? {};
          if (status !== 'Success' || seconds !== 0) {
            return answer;
          }
        }
        return context.answer.done();
      },
    }),
  ];
}

/** Helpers for the hooks about Machines. */
export const machines = { inPlace };
