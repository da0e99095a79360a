import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** A generated file, and the text that it should have. */
export interface Generated {
  file: URL;
  text: string;
}

/** Files that are generated from what earlier stages have written. */
export type Stage = () => Promise<readonly Generated[]>;

/** Writes the files of all stages, each before the next one is computed: once is enough. */
export async function writeStages(stages: readonly Stage[]): Promise<void> {
  for (const stage of stages) {
    for (const { file, text } of await stage()) {
      writeFileSync(file, text);
    }
  }
}

/** The files whose text differs from what would be generated, or that are not there. */
export async function staleFiles(stages: readonly Stage[]): Promise<URL[]> {
  const files = (await Promise.all(stages.map((stage) => stage()))).flat();
  return files
    .filter(({ file, text }) => !existsSync(file) || readFileSync(file, 'utf8') !== text)
    .map(({ file }) => file);
}
