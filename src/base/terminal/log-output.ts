import type { Writable } from 'node:stream';
import { printableJsonText } from './printable.ts';

export type LogStream = NodeJS.WritableStream & { isTTY?: boolean; fd?: number };

interface LogOutput {
  write(line: string): void;
  flush(onDone: () => void): void;
  /** Number of lines that were not written: their reader was too slow, or the stream could not be written. */
  readonly lostLines: number;
}

/** Maximum number of characters that wait for a slow reader: neither memory nor a request may wait for it. */
const maxWaiting = 4 * 1024 * 1024;
/** How long lines for the process's own streams are collected, in milliseconds, since each write is a system call. */
const batchMs = 20;

/** Writes lines without blocking; what cannot be written is counted, where pino's own destination would hang at the exit. */
export function createLogOutput(stream: LogStream, render = printableJsonText): LogOutput {
  const ownStream = typeof stream.fd === 'number';
  let lines: string[] = [];
  let length = 0;
  let lostLines = 0;
  let timer: NodeJS.Timeout | undefined;
  function send(onDone?: () => void): void {
    clearTimeout(timer);
    timer = undefined;
    const count = lines.length;
    // All at once, which takes far less time than each line of its own.
    const text = render(lines.join(''));
    lines = [];
    length = 0;
    stream.write(text, (error) => {
      lostLines += error ? count : 0;
      onDone?.();
    });
  }
  // Each write learns of its own error. The program, which ends when its output cannot be written, does without its log.
  stream.removeAllListeners('error');
  stream.on('error', () => {});
  if (ownStream) {
    process.on('exit', () => send());
  }
  return {
    write(line) {
      if (length + (stream as unknown as Writable).writableLength + line.length > maxWaiting) {
        lostLines++;
        return;
      }
      lines.push(line);
      length += line.length;
      if (ownStream) {
        timer ??= setTimeout(send, batchMs);
      } else {
        send();
      }
    },
    flush: send,
    get lostLines() {
      return lostLines;
    },
  };
}

/** Options of pino that the lines of all logs have in common: an ISO timestamp and the name of the level. */
export const logLineOptions = (level: string) => ({
  level,
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (label: string) => ({ level: label }) },
});
