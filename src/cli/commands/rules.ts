import { didYouMean } from '../../base/index.ts';
import { type Rule, rules } from '../../policy/index.ts';
import { defineCommand } from '../framework/command.ts';
import { outputFlag } from '../framework/flags.ts';
import { inFormat, jsonText, table } from '../framework/layout.ts';
import { UsageError } from '../framework/program.ts';

function describe({ id, severity, upstream, subjects = ['object'], summary }: Rule) {
  return { id, severity, profile: upstream ? 'upstream' : 'strict', subjects, summary };
}

function explanationText(rule: Rule): string {
  const { id, severity, profile, summary } = describe(rule);
  return `${id} (${severity}, profile ${profile})\n\n${summary}\n`;
}

export const command = defineCommand({
  description: 'Lists the rules, or says what one checks.',
  args: [['[id]', 'rule']],
  flags: { output: outputFlag(['text', 'json']) },
  help: `
The profile "upstream" has the rules of Cluster API itself, "strict" has all
rules. --rules-config of lint and serve configures individual rules. What each\nsays about an example is in docs/rules.md.`,
  run({ flags: { output }, io }, id: string | undefined) {
    if (id === undefined) {
      const rows = rules.map(describe);
      io.stdout.write(
        inFormat(output, {
          text: () =>
            table([
              ['RULE', 'SEVERITY', 'PROFILE', 'WHAT IT CHECKS'],
              ...rows.map((row) => [row.id, row.severity, row.profile, row.summary]),
            ]),
          json: () => jsonText(rows),
        }),
      );
      return;
    }
    const rule = rules.find((candidate) => candidate.id === id);
    if (rule === undefined) {
      const ids = rules.map((candidate) => candidate.id);
      const hint = didYouMean(id, ids, '"rules" without an id lists them');
      throw new UsageError(`rules: there is no rule ${JSON.stringify(id)}; ${hint}`);
    }
    io.stdout.write(inFormat(output, { text: () => explanationText(rule), json: () => jsonText(describe(rule)) }));
  },
});
