import { rules, warningText } from '../../src/policy/index.ts';
import { exampleOf, exampleReports } from '../../test/policy/rules/example-reports.ts';
import { ruleCases } from '../../test/policy/rules/rule-cases.ts';
import type { Generated } from './stages.ts';

/** The file with the examples that `rules ID` prints. */
const ruleExamplesFile = new URL('../../src/cli/commands/rule-examples.generated.json', import.meta.url);

/** Longest text of an example that is printed, in characters: certificates are longer. */
const maxText = 80;

/** The examples by rule: the first bad object of its tests, the finding in it, and the patch that fixes it. */
export function ruleExamples(): Generated[] {
  const lines = rules.map(({ id }) => {
    const { bad } = exampleOf(id);
    const finding = exampleReports(id, bad).find(({ rule }) => rule.id === id);
    if (finding === undefined) {
      throw new Error(`the example of ${id} has no finding`);
    }
    const example = { bad, finding: warningText(finding), fix: ruleCases[id]?.fix };
    return `${JSON.stringify(id)}:${JSON.stringify(example, (_, value) =>
      typeof value === 'string' && value.length > maxText && value !== example.finding
        ? `${value.slice(0, maxText)}…`
        : value,
    )}`;
  });
  return [{ file: ruleExamplesFile, text: `{\n${lines.join(',\n')}\n}\n` }];
}
