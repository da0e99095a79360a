#!/usr/bin/env node
import { run } from './commands/index.ts';

const stop = new AbortController();
// A second Ctrl-C ends the program at once; a second SIGTERM only repeats the first.
process.once('SIGINT', () => stop.abort('SIGINT'));
process.on('SIGTERM', () => stop.abort('SIGTERM'));
// A terminal that is closed. Started with nohup there is none, and the signal stays ignored.
if (process.stdout.isTTY) {
  process.once('SIGHUP', () => stop.abort('SIGHUP'));
}
// A reader that has seen enough (`… | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') {
    process.exit();
  }
  throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
});
