import { basename } from 'node:path';
import { bugText, exitCode, run } from './cli/index.ts';

const stop = new AbortController();
// A second Ctrl-C ends the program at once; a second SIGTERM only repeats the first.
process.once('SIGINT', () => stop.abort('SIGINT'));
process.on('SIGTERM', () => stop.abort('SIGTERM'));
// A terminal that is closed, or a supervisor that says so. nohup has the signal ignored, which Node undoes at its start; a
// shell that ran nohup says so in `_`.
const isNohup = process.env._?.split('/').at(-1) === 'nohup';
process.on('SIGHUP', () => {
  if (!isNohup) {
    stop.abort('SIGHUP');
  }
});
// The process that started this one with a newer Node.js (bin/launch.js) was killed. Waiting for that keeps nothing running.
process.once('disconnect', () => stop.abort('SIGHUP'));
process.channel?.unref();
// A reader that has seen enough (`… | head`) ends the program without a message, as SIGPIPE would, and so does a terminal
// that was closed. Not with 0: under `set -o pipefail`, that would hide findings that nobody read.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') {
    process.exit(error.code === 'EPIPE' ? exitCode.outputClosed : exitCode.interrupted);
  }
  process.stderr.write(`extensionconfig-webhook: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});

// Of a callback that nothing catches, and of a rejection that nobody handles.
process.on('uncaughtException', (error) => {
  process.stderr.write(`extensionconfig-webhook: ${bugText(error)}\n`);
  process.exit(exitCode.findings);
});

const io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
};
const args = process.argv.slice(2);
// The name of the link that was called, not of its target.
switch (basename(process.argv[1] ?? '')) {
  // kubectl asks a plugin's companion for completions: `kubectl_complete-NAME WORD…`.
  case 'kubectl_complete-extensionconfig':
    process.exitCode = await run(['__complete', '--', ...args], io, 'kubectl extensionconfig');
    break;
  case 'kubectl-extensionconfig':
    process.exitCode = await run(args, io, 'kubectl extensionconfig');
    break;
  default:
    process.exitCode = await run(args, io);
}
// Whatever still waits, such as lines of a log that nobody reads, does not keep a program that was told to stop.
if (stop.signal.aborted) {
  process.exit();
}
