import type { HookAnswer, HookCall } from '../../../topology/index.ts';
import { causeText, groupText, planRecorded, problemText, verdictText } from '../../plan/index.ts';
import type { Check, ReportProblem, Skipped } from '../define-check.ts';
import { describe, isSuccess } from '../outcome.ts';
import type { Trial } from '../trial.ts';

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

/** The checks against what an earlier release of the extension answered. */
export const recordedChecks: readonly Check[] = [
  {
    id: 'patches-as-recorded',
    level: 'must',
    requirement: 'Recorded Clusters become the same objects as with the release that was recorded.',
    reason:
      'Other objects are new templates: an upgrade of the extension replaces the Machines of Clusters that exist.',
    remedy:
      'make the change depend on a new variable or version, or announce that Machines are replaced, and record again',
    async run(trial: Trial, report: ReportProblem): Promise<Skipped> {
      const { recorded, known, signal, now } = trial;
      if (recorded === undefined) {
        return 'there is no record: "plan --record DIR" makes one for --recorded DIR';
      }
      const options = { clusterApiVersion: known.release, now: now(), signal };
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
