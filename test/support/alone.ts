// npm run test:alone -- [FILE…]: runs each test of these files (by default, of all) without the others, in one process,
// and prints which fail: those that depend on another test.
import { relative } from 'node:path';
import { createVitest, type TestCase } from 'vitest/node';

const vitest = await createVitest('test', { watch: false, includeTaskLocation: true, reporters: [] });

/** The tests to run alone. Rows of a table share their code: only the first and the last of each table. */
function toRun(tests: readonly TestCase[]): string[] {
  const tables = Map.groupBy(tests, ({ location }) => `${location?.line}:${location?.column}`);
  const rows = [...tables.values()].flatMap((table) => [...new Set([table[0], table.at(-1)])]);
  return rows.flatMap((test) => (test === undefined ? [] : [test.fullName]));
}

const collected = await vitest.collectTests(await vitest.globTestSpecifications(process.argv.slice(2)));
const queues = collected.testModules.map((testModule) => ({
  path: relative(process.cwd(), testModule.moduleId),
  testModule,
  names: toRun([...testModule.children.allTests()].filter(({ options }) => options.mode === 'run')),
}));
const total = queues.reduce((sum, { names }) => sum + names.length, 0);
process.stdout.write(`${total} tests of ${queues.length} files, each alone\n`);

let [done, failures] = [0, 0];
// A round runs the next test of every file: the workers start once for as many tests as there are files.
for (let round = 0; done < total; round++) {
  const next = new Map(
    queues.flatMap(({ path, testModule: { project, moduleId }, names }) => {
      const name = names[round];
      return name === undefined
        ? []
        : [[moduleId, { path, name, specification: project.createSpecification(moduleId, { testNames: [name] }) }]];
    }),
  );
  const { testModules } = await vitest.runTestSpecifications([...next.values()].map((one) => one.specification));
  for (const testModule of testModules) {
    const asked = next.get(testModule.moduleId);
    if (asked === undefined) {
      continue;
    }
    const ran = [...testModule.children.allTests()].filter((test) => test.result().state !== 'skipped');
    if (testModule.ok() && ran.length > 0) {
      continue;
    }
    failures += 1;
    const errors = [...testModule.errors(), ...ran.flatMap((test) => test.result().errors ?? [])];
    const messages = ran.length === 0 ? ['did not run'] : errors.map(({ message }) => message);
    process.stdout.write(`failed: ${asked.path} > ${asked.name}\n${messages.map((text) => `  ${text}\n`).join('')}`);
  }
  done += next.size;
  process.stdout.write(`${done} of ${total}, ${failures} failed\n`);
}
await vitest.close();
process.exitCode = failures === 0 ? 0 : 1;
