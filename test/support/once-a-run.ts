import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, vi } from 'vitest';

/**
 * Makes something that several test files need and that takes long, once per run: in the file that asks first, in a
 * folder of its own, while the others wait. The folder is read-only: copy it to change it.
 *
 * @returns what `make` returned, as JSON preserves it.
 * @throws {Error} the error of `make`, in each file that asks.
 */
export async function onceARun<T>(name: string, make: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(inject('runFolder'), name);
  const made = `${folder}.json`;
  try {
    mkdirSync(folder);
  } catch {
    await vi.waitUntil(() => existsSync(made), { timeout: 290_000, interval: 50 });
    const { value, error } = JSON.parse(readFileSync(made, 'utf8')) as { value: T; error?: string };
    if (error !== undefined) {
      throw new Error(`${name}, in another test file: ${error}`);
    }
    return value;
  }
  const save = (result: object) => {
    writeFileSync(`${made}.part`, JSON.stringify(result));
    renameSync(`${made}.part`, made);
  };
  try {
    const value = await make(folder);
    save({ value });
    return value;
  } catch (error) {
    save({ error: String(error) });
    throw error;
  }
}
