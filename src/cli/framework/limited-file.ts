import { FileError, printable, readRegularFileSync } from '../../base/index.ts';
import { UsageError } from './program.ts';

const mebibyte = 1024 * 1024;

/**
 * Reads a small text file that a flag names.
 *
 * @param maxMebibytes the limit; default 1, which no configuration exceeds.
 * @throws {UsageError} when it cannot be read, is not a regular file, is larger, or is not UTF-8. The message names the
 *   flag and the file.
 */
export function readLimitedFile(flag: string, file: string, maxMebibytes = 1): string {
  const where = `${flag}: ${printable(file)}`;
  let bytes: Buffer;
  try {
    bytes = readRegularFileSync(file, maxMebibytes * mebibyte);
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
