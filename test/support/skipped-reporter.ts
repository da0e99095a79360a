import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';
import type {} from './needs.ts';

function needOf(test: TestCase): string | undefined {
  for (let at: TestCase | TestSuite | TestModule = test; at.type !== 'module'; at = at.parent) {
    const { needs } = at.meta();
    if (needs !== undefined) {
      return needs;
    }
  }
  return undefined;
}

/**
 * The lines about skipped tests: how many for lack of what, and those without a reason. Tests excluded by name (`vitest
 * -t`) are not among them.
 */
export function skippedLines(testModules: readonly TestModule[]): string[] {
  const counts = new Map<string, number>();
  const others: string[] = [];
  for (const testModule of testModules) {
    const { testNamePattern } = testModule.project.config;
    for (const test of testModule.children.allTests('skipped')) {
      const need = needOf(test);
      if (testNamePattern !== undefined && !testNamePattern.test(test.fullName.replaceAll(' > ', ' '))) {
        continue;
      }
      if (need === undefined) {
        others.push(`skipped: ${testModule.relativeModuleId} > ${test.fullName}`);
      } else {
        counts.set(need, (counts.get(need) ?? 0) + 1);
      }
    }
  }
  const lacking = [...counts].map(
    ([need, count]) => `skipped for lack of ${need}: ${count} ${count === 1 ? 'test' : 'tests'}`,
  );
  return [...lacking, ...others];
}

/** Reports at the end of a run what was not tested, so that silence is never taken for success. */
export class SkippedReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[]): void {
    const lines = skippedLines(testModules);
    process.stdout.write(`\n${lines.length === 0 ? 'no test was skipped' : lines.join('\n')}\n`);
  }
}
