import { FileError, printable, readRegularFileSync } from '../../base/index.ts';
import { UsageError } from './program.ts';

/** Reads a small text file that a flag names. @throws {UsageError} with the flag and the file, if it is not one. */
export function readLimitedFile(flag: string, file: string, maxMebibytes = 1): string {
  const where = `${flag}: ${printable(file)}`;
  let bytes: Buffer;
  try {
    bytes = readRegularFileSync(file, maxMebibytes * 1024 * 1024);
  } catch (error) {
    if (error instanceof FileError) {
      throw new UsageError(`${where}: ${error.code === 'ENOENT' ? 'no such file' : error.problem}`);
    }
    throw error;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${where}: is not valid UTF-8`);
  }
}
