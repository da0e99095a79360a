import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, type TestOptions } from 'vitest';

/** Programs that some tests need and a machine may lack, with arguments that make them print their version. */
const probes = {
  bash: ['--version'],
  chromium: ['--version'],
  curl: ['--version'],
  fish: ['--version'],
  kubectl: ['version', '--client'],
  openssl: ['version'],
  promtool: ['--version'],
  script: ['--version'],
  zsh: ['--version'],
} as const satisfies Record<string, readonly string[]>;

/** A program that a test may need. */
export type Tool = keyof typeof probes;

/** How the end of a run names a port or another thing that only some machines have. */
export type Need =
  | Tool
  | `port ${number}`
  | 'root'
  | 'Linux'
  | 'a Node.js before 22'
  | 'a Node.js before 24'
  | 'Node.js 22'
  | 'TypeScript 5.9'
  | 'the Node.js of this test';

declare module 'vitest' {
  interface TaskMeta {
    /** What is missing where a test is skipped; the end of the run lists how many tests were skipped for it. */
    needs?: Need;
  }
}

const found = new Map<Tool, boolean>();

/** Whether a program can be run here. Checked once in a run, or by a few processes at the same time. */
export function hasTool(tool: Tool): boolean {
  let isThere = found.get(tool);
  if (isThere === undefined) {
    const file = join(inject('runFolder'), `has-${tool}`);
    isThere = answerIn(file);
    if (isThere === undefined) {
      isThere = spawnSync(tool, probes[tool], { stdio: 'ignore' }).status === 0;
      writeFileSync(file, isThere ? 'yes' : 'no');
    }
    found.set(tool, isThere);
  }
  return isThere;
}

/** The result of another process; undefined if there is none, or if it is being written. */
function answerIn(file: string): boolean | undefined {
  try {
    return { yes: true, no: false }[readFileSync(file, 'utf8')];
  } catch {
    return undefined;
  }
}

/**
 * Options of a test (or of a group of tests) that is skipped if something is missing: `test('…', needs('kubectl'), ()
 * => {…})`. Pass `isThere` for anything that is not a program.
 */
export function needs(tool: Tool): TestOptions;
export function needs(need: Need, isThere: boolean): TestOptions;
export function needs(need: Need, isThere = hasTool(need as Tool)): TestOptions {
  return isThere ? {} : { skip: true, meta: { needs: need } };
}
