import { didYouMean, paragraph } from '../../base/index.ts';
import { type Rule, rules } from '../../policy/index.ts';
import { defineCommand } from '../framework/command.ts';
import { outputFlag } from '../framework/flags.ts';
import { indentedYaml, table, writeReport } from '../framework/layout.ts';
import { UsageError } from '../framework/program.ts';
import examples from './rule-examples.generated.json' with { type: 'json' };

function describe({ id, severity, upstream, subjects = ['object'], summary }: Rule) {
  return { id, severity, profile: upstream ? 'upstream' : 'strict', subjects, summary };
}

/** An object with a finding of each rule, the finding, and a merge patch that fixes the object. */
const exampleOf: Readonly<Record<string, { bad: object; finding: string; fix: object }>> = examples;

function explanationText(rule: Rule): string {
  const { id, severity, profile, summary } = describe(rule);
  const { bad = {}, finding = '', fix = {} } = exampleOf[id] ?? {};
  return `${id} (${severity}, profile ${profile})\n\n${summary}\n\nBad:\n\n${indentedYaml(bad)}\n${paragraph('', finding, '').join('\n')}\n\nGood, with:\n\n${indentedYaml(fix)}`;
}

export const command = defineCommand({
  description: 'Lists the rules, or explains one: what it checks, what it reports, and how to fix it.',
  args: [['[id]', 'rule']],
  flags: { output: outputFlag(['text', 'json']) },
  help: `
The profile "upstream" has the rules of Cluster API itself, "strict" has all
rules. --rules-config of lint and serve configures individual rules.`,
  run({ flags: { output }, io }, id: string | undefined) {
    if (id === undefined) {
      const rows = rules.map(describe);
      return writeReport(io, output, rows, () =>
        table([
          ['RULE', 'SEVERITY', 'PROFILE', 'WHAT IT CHECKS'],
          ...rows.map((row) => [row.id, row.severity, row.profile, row.summary]),
        ]),
      );
    }
    const rule = rules.find((candidate) => candidate.id === id);
    if (rule === undefined) {
      const ids = rules.map((candidate) => candidate.id);
      const hint = didYouMean(id, ids, '"rules" without an id lists them');
      throw new UsageError(`rules: there is no rule ${JSON.stringify(id)}; ${hint}`);
    }
    return writeReport(io, output, { ...describe(rule), example: exampleOf[id] }, () => explanationText(rule));
  },
});
