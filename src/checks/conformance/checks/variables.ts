import { type Check, ofHook } from '../check.ts';
import { isSuccess } from '../outcome.ts';
import { variableProblems } from '../variables.ts';

/** The checks of definitions of variables. */
export const variableChecks: readonly Check[] = [
  {
    id: 'variables-valid',
    level: 'must',
    requirement: 'Variables have unique names, and schemas that Cluster API accepts.',
    reason: 'An invalid one keeps every Cluster of the class from being reconciled (VariablesReady False).',
    remedy:
      'correct names and schemas: types, RE2 patterns, CEL rules, and defaults, examples and enums that satisfy them',
    run: ofHook('DiscoverVariables', async (handler, report) => {
      const outcome = await handler.first();
      for (const { message, isWarning } of isSuccess(outcome) ? variableProblems(outcome.response.variables) : []) {
        report(message, isWarning);
      }
    }),
  },
];
