import { didYouMean } from '../../base/index.ts';
import { exampleReports, type Rule, rules, warningText } from '../../policy/index.ts';
import { defineCommand } from '../framework/command.ts';
import { outputFlag } from '../framework/flags.ts';
import { indentedYaml, jsonText, table } from '../framework/layout.ts';
import { UsageError } from '../framework/program.ts';

function describe({ id, severity, upstream, subjects = ['object'], summary }: Rule) {
  return { id, severity, profile: upstream ? 'upstream' : 'strict', subjects, summary };
}

function explain(rule: Rule) {
  const findings = exampleReports(rule, rule.example.bad)
    .filter((report) => report.rule === rule)
    .map(warningText);
  const { context, old, bad, good } = rule.example;
  return { ...describe(rule), ...(context && { context }), ...(old && { old }), bad, findings, good };
}

function explanationText(rule: Rule): string {
  const { id, severity, profile, summary, context, old, bad, findings, good } = explain(rule);
  return [
    `${id} (${severity}, profile ${profile})\n`,
    `${summary}\n`,
    ...(context === undefined ? [] : [`In the cluster (known with --cluster-facts):\n\n${indentedYaml(context)}`]),
    ...(old === undefined ? [] : [`Before the update:\n\n${indentedYaml(old)}`]),
    `Bad:\n\n${indentedYaml(bad)}`,
    `What it says:\n\n${findings.map((finding) => `  ${finding}\n`).join('')}`,
    `Good:\n\n${indentedYaml(good)}`,
  ].join('\n');
}

export const command = defineCommand({
  description: 'Lists the rules, or explains one with a bad and a good example.',
  args: [['[id]', 'rule to explain', rules.map((rule) => rule.id)]],
  flags: { output: outputFlag(['text', 'json']) },
  help: `
The profile "upstream" has the rules of Cluster API itself, "strict" has all
rules. --rules-config of lint and serve configures individual rules.`,
  run({ flags: { output }, io }, id: string | undefined) {
    if (id === undefined) {
      const rows = rules.map(describe);
      io.stdout.write(
        output === 'json'
          ? jsonText(rows)
          : table([
              ['RULE', 'SEVERITY', 'PROFILE', 'WHAT IT CHECKS'],
              ...rows.map((row) => [row.id, row.severity, row.profile, row.summary]),
            ]),
      );
      return;
    }
    const rule = rules.find((candidate) => candidate.id === id);
    if (rule === undefined) {
      const ids = rules.map((candidate) => candidate.id);
      const hint = didYouMean(id, ids, '"rules" without an id lists them');
      throw new UsageError(`rules: there is no rule ${JSON.stringify(id)}; ${hint}`);
    }
    io.stdout.write(output === 'json' ? jsonText(explain(rule)) : explanationText(rule));
  },
});
