import { existsSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that mostly wait, for timeouts, leases and connections that drain, and how many seconds they take. A file missing
 * from this list only costs time.
 */
const waiting: readonly [path: string, seconds: number][] = [
  ['test/cli/commands/unwritable-log.test.ts', 5],
  ['test/cli/commands/credential-plugins.test.ts', 9],
  ['test/cli/commands/controller.test.ts', 9],
  ['test/cli/commands/port-forward.test.ts', 8],
  ['test/controller/discovery.test.ts', 4],
  ['test/server/reload.test.ts', 4],
  ['test/sandbox/kinds/definitions.test.ts', 3],
  ['test/server/rotation.test.ts', 4],
  ['test/server/connections/connections.test.ts', 4],
  ['test/webhook/certs/serving-secret-watch.test.ts', 3],
  ['test/controller/election/leader-election.test.ts', 3],
  ['test/sandbox/reads/watches.test.ts', 2],
];

for (const [path] of waiting) {
  if (!existsSync(new URL(`../../${path}`, import.meta.url))) {
    throw new Error(`test/support/file-order.ts: ${path} does not exist: correct or remove it`);
  }
}

/** The part of a run by whose end the files above have begun. */
const spread = 0.55;

/** Spreads the files that mostly wait over the others, so that the processors are always busy. */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const total = waiting.reduce((sum, [, seconds]) => sum + seconds, 0);
    const places = new Map<string, number>();
    let before = 0;
    for (const [path, seconds] of waiting) {
      places.set(path, (spread * before) / total);
      before += seconds;
    }
    const placeOf = ({ moduleId }: TestSpecification) =>
      places.get([...places.keys()].find((path) => moduleId.endsWith(`/${path}`)) ?? '');
    const placed = (await super.sort(files)).map((file, index, { length }) => ({
      file,
      place: placeOf(file) ?? index / length,
    }));
    return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
  }
}
