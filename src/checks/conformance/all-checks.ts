import type { Check, CheckGroup, GroupedCheck } from './check.ts';
import { answerChecks } from './checks/answers.ts';
import { callChecks, loadChecks } from './checks/calls.ts';
import { discoveryChecks } from './checks/discovery.ts';
import { patchChecks } from './checks/patches.ts';
import { recordedChecks } from './checks/recorded.ts';
import { tlsChecks } from './checks/tls.ts';
import { variableChecks } from './checks/variables.ts';
import { variationChecks } from './checks/variations.ts';

const grouped = (group: CheckGroup, checks: readonly Check[]): GroupedCheck[] =>
  checks.map((check) => ({ ...check, group }));

/** All checks, in the order in which they run and are reported: those that may harm a weak server come last. */
export const checks: readonly GroupedCheck[] = [
  ...grouped('TLS', tlsChecks),
  ...grouped('Discovery', discoveryChecks),
  ...grouped('Calls', [...callChecks, ...variationChecks]),
  ...grouped('Answers', answerChecks),
  ...grouped('Patches', [...patchChecks, ...recordedChecks]),
  ...grouped('Variables', variableChecks),
  ...grouped('Load', loadChecks),
];
