import { Writable } from 'node:stream';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogOutput, logLineOptions } from '../../../src/base/index.ts';

/** A stream that keeps what is written to it; with `fd`, it is one of the process's own. */
function streamOf(options: { fd?: number; write?: (text: string, done: (error?: Error) => void) => void } = {}) {
  const writes: string[] = [];
  const stream = new Writable({
    autoDestroy: false,
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      (options.write ?? ((_text, end) => end()))(String(chunk), done);
    },
  });
  return { stream: Object.assign(stream, options.fd === undefined ? {} : { fd: options.fd }), writes };
}

test('each line is written at once, and everything in it is printable', () => {
  const { stream, writes } = streamOf();
  const listeners = process.listenerCount('exit');
  const output = createLogOutput(stream);
  output.write('{"a":"\u202e"}\n');
  output.write('{}\n');
  expect(writes).toEqual(['{"a":"\\u202e"}\n', '{}\n']);
  // Nothing waits for the process to exit.
  expect(process.listenerCount('exit')).toBe(listeners);
});

test('lines can be shown in another way', () => {
  const { stream, writes } = streamOf();
  createLogOutput(stream, (lines) => `<${lines}>`).write('a');
  expect(writes).toEqual(['<a>']);
});

const mebibyte = 1024 * 1024;

test('4 MiB wait for a slow reader, and what is more is lost and counted', () => {
  const { stream } = streamOf({ write: () => {} });
  const output = createLogOutput(stream);
  for (const size of [3 * mebibyte, mebibyte - 1, 1]) {
    output.write('x'.repeat(size));
  }
  expect(output.lostLines).toBe(0);
  output.write('x');
  output.write('x');
  expect(output.lostLines).toBe(2);
});

test('lines that cannot be written are counted, and nothing else happens', async () => {
  const { stream } = streamOf({ write: (_text, done) => done(new Error('ENOSPC')) });
  let isEnded = false;
  stream.on('error', () => {
    isEnded = true;
  });
  const output = createLogOutput(stream);
  output.write('a');
  await nextTurn();
  expect(output.lostLines).toBe(1);
  // Such listeners of the program end it.
  expect(isEnded).toBe(false);
});

/** A log on one of the process's own streams; the process does not write to it when it exits. */
function ownLog() {
  const known = new Set(process.listeners('exit'));
  const { stream, writes } = streamOf({ fd: 1 });
  const output = createLogOutput(stream);
  const [atExit] = process.listeners('exit').filter((listener) => !known.has(listener));
  expect(atExit).toBeDefined();
  onTestFinished(() => void process.removeListener('exit', atExit as () => void));
  return { output, writes, exit: () => (atExit as (code: number) => void)(0) };
}

test('lines for the own streams of the process are collected for a moment', async () => {
  const { output, writes } = ownLog();
  output.write('a');
  output.write('b');
  expect(writes).toEqual([]);
  await vi.waitUntil(() => writes.length > 0, { timeout: 30_000 });
  expect(writes).toEqual(['ab']);
  output.write('c');
  await vi.waitUntil(() => writes.length > 1, { timeout: 30_000 });
  expect(writes).toEqual(['ab', 'c']);
});

test('at most 4 MiB are collected', async () => {
  const { output, writes } = ownLog();
  output.write('x'.repeat(3 * mebibyte));
  output.write('y'.repeat(mebibyte));
  output.write('z');
  expect(output.lostLines).toBe(1);
  await vi.waitUntil(() => writes.length > 0, { timeout: 30_000 });
  expect(writes.map((text) => text.length)).toEqual([4 * mebibyte]);
  output.write('z');
  expect(output.lostLines).toBe(1);
});

test('what is collected is written when that is asked for, once, and when the process exits', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  onTestFinished(() => mock.timers.reset());
  const { output, writes, exit } = ownLog();
  output.write('a');
  await new Promise<void>((done) => output.flush(done));
  expect(writes).toEqual(['a']);
  output.write('b');
  exit();
  expect(writes).toEqual(['a', 'b']);
  mock.timers.tick(60_000);
  expect(writes).toEqual(['a', 'b']);
});

test('lines have the time, to the millisecond', () => {
  const before = Date.now();
  const [, time = ''] = /^,"time":"(\d{4}-\d\d-\d\dT[\d:.]+Z)"$/.exec(logLineOptions('info').timestamp()) ?? [];
  expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(time)).toBeLessThanOrEqual(Date.now());
});
