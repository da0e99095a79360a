import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('a review enters at most twelve files, rules left out', () => {
  const program = fileURLToPath(new URL('entered.ts', import.meta.url));
  const files = JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' })) as Record<string, string[]>;
  expect(Object.keys(files)).toContain('policy/admission/admission.ts');
  expect(Object.keys(files).length, JSON.stringify(files, null, 2)).toBeLessThanOrEqual(12);
});
