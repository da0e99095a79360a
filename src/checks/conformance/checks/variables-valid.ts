import type { Check } from '../check.ts';
import { isSuccess } from '../heard.ts';
import { variableProblems } from '../variables.ts';

export const check: Check = {
  id: 'variables-valid',
  group: 'Variables',
  level: 'must',
  asks: 'Variables have unique names, and schemas that Cluster API accepts.',
  why: 'An invalid one keeps every Cluster of the class from being reconciled (VariablesReady False).',
  remedy:
    'correct names and schemas: types, RE2 patterns, CEL rules, and defaults, examples and enums that satisfy them',
  async run({ answering, first }, report) {
    const handlers = (await answering()).filter(({ hook }) => hook.name === 'DiscoverVariables');
    if (handlers.length === 0) {
      return { because: 'no handler of DiscoverVariables answers' };
    }
    for (const handler of handlers) {
      const heard = await first(handler);
      if (isSuccess(heard)) {
        for (const problem of variableProblems(heard.response.variables)) {
          report({ handler: handler.name, ...problem });
        }
      }
    }
    return undefined;
  },
};
