import { basename } from 'node:path';
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

const io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
};
const args = process.argv.slice(2);
// The name of the link that was called, not of the file behind it.
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
