import { responseIn } from '../handlers/answer.ts';
import { type Handler, handler } from '../handlers/handler.ts';
import { defineInPlaceChanges, type InPlaceChanges, type KnownFields, type UpdatableFields } from './in-place.ts';
import { answerUpdate, type MachineUpdater } from './update-machine.ts';

/** One of the ways in which an extension updates Machines. */
export interface InPlaceUpdater extends MachineUpdater {
  /** The same in all releases of the extension: nodes remember updates by it. */
  readonly name: string;
  /** The fields whose changes it can make, as for `defineInPlaceChanges`. */
  readonly covers: UpdatableFields;
  /**
   * Whether a Machine is unavailable meanwhile. If no updater that a change needs makes it so, Cluster API makes no other
   * Machine first. Default: true, as in older releases, which do not ask.
   */
  readonly affectsAvailability?: boolean | undefined;
}

/** Options of `machines.inPlace`. */
export interface InPlaceOptions {
  /** The fields of providers' kinds, which `template-types` writes: paths that they do not have are refused. */
  knownFields?: KnownFields | undefined;
  /** After how many seconds Cluster API asks again while a Machine is updated. Default: 10. */
  retryAfterSeconds?: number | undefined;
}

/** All that updaters cover together. */
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
 * The three handlers of updates in place, `can-update-machine`, `can-update-machine-set` and `update-machine`, of several
 * updaters: Cluster API takes one handler of each hook. What they cover together is computed from their fields; a Machine
 * is updated by one after the other, in their order, each of which finds out from the node whether its part is done.
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
  const { knownFields, retryAfterSeconds } = options;
  const names = updaters.map(({ name }) => name);
  if (names.length === 0 || names.some((name, index) => !name || names.indexOf(name) !== index)) {
    throw new TypeError(`updaters: each needs a name of its own, and these are [${names.join(', ')}]`);
  }
  const all = defineInPlaceChanges(allCovered(updaters) as object, knownFields);
  const parts = updaters.map((updater) => ({
    updater,
    changes: defineInPlaceChanges(updater.covers as object, knownFields),
  }));
  /** What a change needs, by the function that makes patches. */
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
      async handle(request, context) {
        for (const { updater, changes } of parts) {
          const state = [updater.name, ...changes.desiredValues(request.desired)];
          const answer = await answerUpdate(request, context, updater, retryAfterSeconds, state);
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

/** What extensions do with Machines. */
export const machines = { inPlace };
