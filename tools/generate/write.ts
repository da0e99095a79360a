// Writes what is generated; with --check, writes nothing and names the files that differ.
import { fileURLToPath } from 'node:url';
import { definitionFile, definitionText } from './definition.ts';
import { messageSchemasFile, messageSchemasText } from './message-schemas.ts';
import { type Stage, staleFiles, writeStages } from './stages.ts';

/** What the program itself reads, which everything else that is generated imports. */
const data: Stage = async () => [
  { file: messageSchemasFile, text: messageSchemasText() },
  { file: definitionFile, text: definitionText },
];
/** From the definition. */
const compiled: Stage = async () => (await import('./validators.ts')).validators();
/** From the rules, which the compiled checks serve; the command line imports them. */
const examples: Stage = async () => (await import('./rule-examples.ts')).ruleExamples();
const sources: Stage = async () => (await import('./generated.ts')).generated();
/** From the sources. The compiler takes as long as all the rest: a test of its own checks these. */
const reports: Stage = async () => (await import('./generated.ts')).declarationReports();

if (process.argv.includes('--check')) {
  const stale = await staleFiles([data, compiled, examples, sources]);
  for (const file of stale) {
    process.stderr.write(`${fileURLToPath(file)} is not what would be generated: npm run generate\n`);
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  await writeStages([data, compiled, examples, sources, reports]);
}
