import type { PlacedHandler } from '../fields/handlers.ts';
import type { Finding, Rule, RuleOptions } from '../rule.ts';

interface HandlerRule extends Pick<Rule, 'id' | 'summary' | 'severity'> {
  field: readonly string[];
  findingOf(handler: PlacedHandler, options: RuleOptions): Omit<Finding, 'path'> | undefined;
}

export function handlerRule({ field, findingOf, ...rule }: HandlerRule): Rule {
  return {
    ...rule,
    subjects: ['object', 'status'],
    about: 'handlers',
    check({ handlers }, report, options) {
      for (const handler of handlers) {
        const finding = findingOf(handler, options);
        if (finding !== undefined) {
          report({ path: [...handler.path, ...field], ...finding });
        }
      }
    },
  };
}
