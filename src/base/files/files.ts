import { Buffer } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { FailureError } from '../errors.ts';
import { printable } from '../terminal/printable.ts';

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'too many symbolic links',
  EISDIR: 'is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENAMETOOLONG: 'the name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Why the system refused an operation, without the path. */
export function systemProblem(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return problems[code] ?? (code || message);
}

/** Why a file was not read. `message` contains the path and the reason, in one line. */
export class FileError extends FailureError {
  readonly path: string;
  /** The system's code (ENOENT, …), ENOTREG for what is not a regular file, EFBIG for what is too large. */
  readonly code: string;
  /** The message without the path: `does not exist`. */
  readonly problem: string;
  constructor(path: string, code: string, problem: string) {
    super(`${printable(path)} ${problem}`);
    this.path = path;
    this.code = code;
    this.problem = problem;
  }
}

/** Opening a FIFO without O_NONBLOCK waits for a writer, and a terminal without O_NOCTTY becomes that of the process. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

function kindOf(stats: Stats): string {
  return stats.isDirectory() ? 'a folder' : stats.isFIFO() ? 'a FIFO' : stats.isSocket() ? 'a socket' : 'a device';
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}

function tooLarge(path: string, maxBytes: number): FileError {
  return new FileError(path, 'EFBIG', `is larger than ${sizeText(maxBytes)}`);
}

function check(path: string, stats: Stats, maxBytes: number): void {
  if (!stats.isFile()) {
    throw new FileError(path, 'ENOTREG', `is ${kindOf(stats)}, not a regular file`);
  }
  if (stats.size > maxBytes) {
    throw tooLarge(path, maxBytes);
  }
}

function explained(path: string, error: unknown): FileError {
  if (error instanceof FileError) {
    return error;
  }
  const { code = 'EIO' } = error as NodeJS.ErrnoException;
  return new FileError(path, code, code === 'ENOENT' ? 'does not exist' : `cannot be read: ${systemProblem(error)}`);
}

/** Reads a small regular file, also through links. @throws {FileError} for any other file, without blocking. */
export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  try {
    // Also checked before opening, which alone can wake the writer of a FIFO, or start some devices.
    check(path, statSync(path), maxBytes);
    const descriptor = openSync(path, flags);
    try {
      check(path, fstatSync(descriptor), maxBytes);
      // Of a file in /proc, which reports a size of 0, all that it has.
      const bytes = readFileSync(descriptor);
      if (bytes.length > maxBytes) {
        throw tooLarge(path, maxBytes);
      }
      return bytes;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw explained(path, error);
  }
}

/** Initial size of the buffer of a stream, in bytes: larger than most bodies. */
const firstRoom = 16 * 1024;

/** A whole stream in one buffer (a list of single bytes takes 30 times the room); undefined and destroyed if it is longer. */
export async function readLimited(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  let room = Buffer.allocUnsafeSlow(Math.min(firstRoom, maxBytes));
  let length = 0;
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const needed = length + bytes.length;
    if (needed > maxBytes) {
      return undefined;
    }
    if (needed > room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * room.length, needed), maxBytes));
      room.copy(larger, 0, 0, length);
      room = larger;
    }
    room.set(bytes, length);
    length = needed;
  }
  return room.subarray(0, length);
}

/** Removes a temporary file, if it was created at all. */
export function discardFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It was not, or cannot be: its name is too long, or a part of the path is a file.
  }
}
