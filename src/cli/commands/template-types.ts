import { printableLines } from '../../base/index.ts';
import { templateTypes } from '../../extension/scaffold/index.ts';
import { defineCommand } from '../framework/command.ts';
import type { Io } from '../framework/program.ts';
import { manifestObjects } from './manifest-objects.ts';

/** Types of the kinds in CustomResourceDefinitions. @throws {UsageError} for files that cannot be read or used. */
export async function readTemplateTypes(paths: readonly string[], io: Io): Promise<string> {
  const objects = await manifestObjects(paths, io);
  return printableLines(await templateTypes(objects.map(({ object }) => object)));
}

export const command = defineCommand({
  description:
    'Generates TypeScript types from CustomResourceDefinitions: templates, for patches, and lists of fields, for updates in place.',
  args: [['<FILE...>', 'files or folders with CustomResourceDefinitions; "-" for standard input']],
  async run({ io }, paths: string[]) {
    io.stdout.write(await readTemplateTypes(paths, io));
  },
});
