import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, itemsAt, type JsonObject } from '../../../kubernetes/index.ts';
import type { HookAnswer, HookCall } from '../../../topology/index.ts';
import { causeText, groupText, planRecorded, problemText, verdictText } from '../../plan/index.ts';
import { describe, isSuccess, reviewOf } from '../outcome.ts';
import type { PatchProblem } from '../patch-review.ts';
import { type Check, ofHook, type ReportProblem, type Trial } from '../trial.ts';
import { variableProblems } from '../variables.ts';

const noPatches = 'there are no patches: pass a request that needs some with --request FILE';

/** Reports one kind of problem with the patches in all first responses. */
const ofKind =
  (kind: PatchProblem) =>
  async ({ handlers }: Trial, report: ReportProblem): Promise<string | undefined> => {
    let patches = 0;
    for (const handler of handlers) {
      const outcome = await handler.first();
      if (kind === 'inapplicable' && outcome.error?.step === 'decode' && outcome.error.message.includes('base64')) {
        patches++;
        report(outcome.error.message, handler);
      }
      const review = isSuccess(outcome) ? reviewOf(outcome) : undefined;
      patches += review?.count ?? 0;
      for (const { message } of review?.problems.filter((problem) => problem.kind === kind) ?? []) {
        report(message, handler);
      }
    }
    return patches === 0 ? noPatches : undefined;
  };

/** A GeneratePatches request as in the next reconcile: with other uids, in another order. */
function asNextTime(request: JsonObject): JsonObject {
  const items = itemsAt(request, 'items');
  return {
    ...request,
    items: items.map((item) => (isJsonObject(item) ? { ...item, uid: randomUUID() } : item)).reverse(),
  };
}

/** The extension's answer to a call of a recording; undefined if it has no such handler. */
function answerOf({ handlers, extension }: Trial, { hook, handler, request }: HookCall) {
  const [name] = handler.split('.');
  const checked = handlers.find((one) => one.hook.name === hook && (one.name === name || handler === ''));
  if (checked === undefined) {
    return undefined;
  }
  const { apiVersion, kind } = checked.request;
  const { settings } = extension;
  const body = { apiVersion, kind, ...(settings !== undefined && { settings }), ...request } as typeof request;
  return checked.call({ body }).then((outcome): HookAnswer => {
    if (isSuccess(outcome)) {
      return { is: 'answered', response: outcome.response, handler };
    }
    return { is: 'failed', error: `${name} ${describe(outcome)}` };
  });
}

/** How often GeneratePatches is called as in the next reconcile. */
const reconciles = 3;

/** The checks of patches of templates and machines, of the variables that patches get, and against an earlier release. */
export const patchChecks: readonly Check[] = [
  {
    id: 'patches-apply',
    level: 'must',
    requirement:
      'Patches are JSONPatch or JSONMergePatch in standard base64, name the uid of an item of the request, and apply to it.',
    reason:
      "A patch that does not apply stops the topology reconcile of every Cluster of the class. The book's examples show plain JSON, but on the wire it is base64.",
    remedy: 'compute patches from the object in the request, copy its uid, and add parents before their fields',
    run: ofKind('inapplicable'),
  },
  {
    id: 'patches-valid',
    level: 'must',
    requirement: 'Patched objects match the CustomResourceDefinitions of their providers.',
    reason: 'The API server refuses them, which stops the topology reconcile of every Cluster of the class.',
    remedy: 'write values of the types that the definition has, no null, and only its fields',
    run: (trial, report) =>
      trial.schemaOf === undefined
        ? Promise.resolve('there are no CustomResourceDefinitions: pass those of the providers with --crds FILE')
        : ofKind('invalid')(trial, report),
  },
  {
    id: 'patches-deterministic',
    level: 'must',
    requirement: 'The same templates become the same objects, whatever their uids and their order in the request.',
    reason: 'Other objects are new templates: Cluster API replaces the machines of a Cluster again and again.',
    remedy: 'sort the lists that come from maps, and use no times, random numbers, counters or uids',
    async run(trial, report) {
      let patches = 0;
      const skipped = await ofHook('GeneratePatches', async (handler, reportOf) => {
        const outcome = await handler.first();
        const first = isSuccess(outcome) ? reviewOf(outcome) : undefined;
        patches += first?.count ?? 0;
        for (let reconcile = 0; first !== undefined && reconcile < reconciles; reconcile++) {
          const again = await handler.call({ body: asNextTime(handler.request) });
          const review = isSuccess(again) ? reviewOf(again) : undefined;
          patches += review?.count ?? 0;
          if (!isDeepStrictEqual(first.results, review?.results)) {
            const how = isSuccess(again) ? 'in another order, the patched objects differ' : `it ${describe(again)}`;
            reportOf(`with other uids, ${how}`);
            return;
          }
        }
      })(trial, report);
      return skipped ?? (patches === 0 ? noPatches : undefined);
    },
  },
  {
    id: 'patches-taken',
    level: 'should',
    requirement:
      'Patches change only what Cluster API uses: the spec and, in templates, the labels and annotations of the objects created from them.',
    reason: 'All other changes are silently ignored or undone.',
    remedy:
      'do not change status, names or fields that Cluster API sets itself (version, replicas, machine template references)',
    run: ofKind('ignored'),
  },
  {
    id: 'variables-valid',
    level: 'must',
    requirement: 'Variables have unique names, and schemas that Cluster API accepts.',
    reason: 'An invalid one keeps every Cluster of the class from being reconciled (VariablesReady False).',
    remedy:
      'correct names and schemas: types, RE2 patterns, CEL rules, and defaults, examples and enums that satisfy them',
    run: ofHook('DiscoverVariables', async (handler, report) => {
      const outcome = await handler.first();
      for (const { message, isWarning } of isSuccess(outcome) ? variableProblems(outcome.response) : []) {
        report(message, isWarning);
      }
    }),
  },
  {
    id: 'patches-as-recorded',
    level: 'must',
    requirement: 'Recorded Clusters become the same objects as with the release that was recorded.',
    reason:
      'Other objects are new templates: an upgrade of the extension replaces the Machines of Clusters that exist.',
    remedy:
      'make the change depend on a new variable or version, or announce that Machines are replaced, and record again',
    async run(trial, report) {
      const { recorded, known, signal } = trial;
      if (recorded === undefined) {
        return 'there is no record: "plan --record DIR" makes one for --recorded DIR';
      }
      const options = { clusterApiVersion: known.release, now: new Date(), signal };
      const { clusters } = await planRecorded(recorded, (call) => answerOf(trial, call), options);
      for (const { cluster, groups, problems } of clusters) {
        for (const problem of problems) {
          report(`${cluster}: ${problemText(problem)}`);
        }
        for (const group of groups.filter(({ verdict }) => verdict !== 'unchanged')) {
          const [cause] = group.causes;
          report(
            `${cluster}: ${groupText(group)} ${verdictText(group)}${cause === undefined ? '' : `: ${causeText(cause)}`}`,
          );
        }
      }
      return undefined;
    },
  },
];
