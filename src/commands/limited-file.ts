import { closeSync, openSync, readSync } from 'node:fs';
import { UsageError } from './program.ts';

/** Largest configuration file, in bytes (1 MiB): what is larger is some other file. */
const maxFileLength = 1024 * 1024;

/**
 * Reads a small text file that a flag names.
 *
 * @throws {UsageError} when it cannot be read, is larger than 1 MiB, or is no UTF-8; names flag and file.
 */
export function readLimitedFile(flag: string, file: string): string {
  let length = 0;
  const buffer = Buffer.alloc(maxFileLength + 1);
  try {
    const descriptor = openSync(file, 'r');
    try {
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(descriptor, buffer, length, buffer.length - length, null);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${flag}: ${file}: ${code === 'ENOENT' ? 'no such file' : message}`);
  }
  if (length > maxFileLength) {
    throw new UsageError(`${flag}: ${file}: is larger than 1 MiB`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length));
  } catch {
    throw new UsageError(`${flag}: ${file}: is not valid UTF-8`);
  }
}
