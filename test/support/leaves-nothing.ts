import { globalAgent as http } from 'node:http';
import { globalAgent as https } from 'node:https';
import { afterAll, expect, vi } from 'vitest';

/**
 * Checks after the test file that is loaded next that it left nothing behind, and closes its idle connections. Test files
 * run one after the other in the same processes, which saves each a start and its imports, but anything that one leaves
 * behind affects the next.
 */
export function expectNothingLeft(): void {
  const folder = process.cwd();
  const environment = { ...process.env };
  const globals = Object.getOwnPropertyNames(globalThis);
  afterAll(() => {
    expect(vi.isFakeTimers(), 'vi.useRealTimers() at the end of the test').toBe(false);
    expect(process.cwd(), 'process.chdir() back at the end of the test').toBe(folder);
    expect(process.env, 'vi.unstubAllEnvs() at the end of the test').toEqual(environment);
    expect(Object.getOwnPropertyNames(globalThis), 'vi.unstubAllGlobals() at the end of the test').toEqual(globals);
    http.destroy();
    https.destroy();
  });
}
